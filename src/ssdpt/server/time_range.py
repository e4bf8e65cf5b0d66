"""Spans of time in queries."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.exceptions import HTTPException

_LAST = 1e11  # seconds since 1970: further than any clock, near enough for all arithmetic
_LONGEST = 3660 * 86400.0
_USUAL = 3600.0

Moment = Annotated[
    float | None,
    Query(ge=0, lt=_LAST, allow_inf_nan=False, description="Seconds since 1970, UTC."),
]


@dataclass(frozen=True, slots=True)
class Times:
    """From `begin` up to `end`."""

    begin: float
    end: float


def _span(begin: Moment = None, end: Moment = None) -> Times:
    last = time.time() if end is None else end
    first = max(0.0, last - _USUAL) if begin is None else begin
    if not 0 < last - first <= _LONGEST:
        raise HTTPException(422, "begin lies before end, by at most ten years")
    return Times(first, last)


Span = Annotated[Times, Depends(_span)]
