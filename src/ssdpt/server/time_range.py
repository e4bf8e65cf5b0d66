"""Time ranges in queries."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.exceptions import HTTPException

from ssdpt.sentences import Sentence

_LATEST = 1e11  # seconds since 1970, the year 5138: larger numbers are mistakes
_LONGEST = 3660 * 86400.0
_DEFAULT = 3600.0

Timestamp = Annotated[
    float | None,
    Query(ge=0, lt=_LATEST, allow_inf_nan=False, description="Seconds since 1970, UTC."),
]


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `begin` up to `end`, in seconds since 1970."""

    begin: float
    end: float


async def _time_range(begin: Timestamp = None, end: Timestamp = None) -> TimeRange:
    last = time.time() if end is None else end
    first = max(0.0, last - _DEFAULT) if begin is None else begin
    if not 0 < last - first <= _LONGEST:
        raise HTTPException(422, Sentence("api.wrongTimes"))
    return TimeRange(first, last)


TimeRangeQuery = Annotated[TimeRange, Depends(_time_range)]
