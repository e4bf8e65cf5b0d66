"""Named arrays of a model file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Arrays = Mapping[str, np.ndarray]  # by name, as in a model file


def arrays_under(arrays: Arrays, prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with `prefix`, by the rest of their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }
