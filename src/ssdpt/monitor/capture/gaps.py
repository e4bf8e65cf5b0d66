"""Sound between gaps, which capture fills with silence."""

from __future__ import annotations

import numpy as np

from ssdpt.types import Floats

_GAP_SECONDS = 0.05  # of nothing but zeros
_LEAST_SECONDS = 1.0  # of a piece
_OF_LONGEST = 0.5  # pieces of very different length cannot be measured together


def without_gaps(samples: Floats, rate: int) -> list[Floats]:
    """The pieces of (samples,) between gaps that are long enough to measure."""
    silent = np.concatenate([[0], (samples == 0).astype(np.int8), [0]])
    edges = np.flatnonzero(np.diff(silent)).reshape(-1, 2)  # first and last + 1 of every silence
    gaps = edges[np.diff(edges, axis=1)[:, 0] >= _GAP_SECONDS * rate]
    begins = [0, *gaps[:, 1].tolist()]
    ends = [*gaps[:, 0].tolist(), len(samples)]
    pieces = [samples[begin:end] for begin, end in zip(begins, ends, strict=True)]
    least = max([_LEAST_SECONDS * rate, *(_OF_LONGEST * len(piece) for piece in pieces)])
    return [piece for piece in pieces if len(piece) >= least]
