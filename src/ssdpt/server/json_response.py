"""JSON as it leaves the server."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from starlette.responses import JSONResponse


class Json(JSONResponse):
    """JSON in which what is no number (a level of silence is −∞ dB) is null, as JSON wants it."""

    def render(self, content: Any) -> bytes:
        return to_json(content)


def to_json(content: Any) -> bytes:
    """UTF-8 JSON of plain values and arrays."""
    try:
        return _dump(content)
    except ValueError:  # some number is not finite; only then is the long way worth it
        return _dump(_finite(content))


def _dump(content: Any) -> bytes:
    text = json.dumps(
        content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
    )
    # A lone surrogate is no Unicode text and could not be sent.
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _finite(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
