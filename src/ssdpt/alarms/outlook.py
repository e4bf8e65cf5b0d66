"""When a machine will reach alarm, where its trend can tell.

A straight line through the last third of what was seen since the baseline, and a wide margin:
machines seldom keep their pace, so the rest of the way is given a third of it to three times as
much. Where there is no clear rise, or the line would have to be drawn further than it was seen,
nothing is said. Half of all bearings fail without any trend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

_FIRST_BUCKET = 60.0  # seconds; doubles whenever there are too many
_MOST_BUCKETS = 256
_FEWEST_BUCKETS = 12  # to draw a line through
_SHARE = 1 / 3  # of the buckets that the line goes through, the latest
_CLEAR = 4.0  # standard errors that the slope must have
_LEAST_WAY = 0.25  # of the way to alarm that must lie behind
_PACE = 3.0  # times faster or slower than the line: 80 % of the cases on bearings run to failure


class Outlook(BaseModel):
    """With a probability of about 80 %, the alarm threshold is reached between these times."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )

    earliest: float = Field(description="Seconds since 1970, UTC.")
    latest: float = Field(description="Seconds since 1970, UTC.")


@dataclass(slots=True)
class _Bucket:
    begin: float
    total: float = 0.0
    count: int = 0

    @property
    def mean(self) -> float:
        return self.total / self.count


class TrendOutlook:
    """Follows how far one machine has gone to its alarm threshold.

    >>> trend = TrendOutlook()
    >>> for minute in range(200):
    ...     trend.update(60.0 * minute, minute / 250)
    >>> outlook = trend.outlook(12000.0)
    >>> round(outlook.earliest, -3), round(outlook.latest, -3)
    (13000.0, 21000.0)
    """

    def __init__(self) -> None:
        self._length = _FIRST_BUCKET
        self._buckets: list[_Bucket] = []

    def update(self, time: float, way: float) -> None:
        """Add how far the machine has gone, by `severity.way_to_alarm`."""
        begin = time - time % self._length
        if not self._buckets or begin > self._buckets[-1].begin:
            self._buckets.append(_Bucket(begin))
        bucket = self._buckets[-1]  # a clock that was set back goes on in the last one
        bucket.total += way
        bucket.count += 1
        if len(self._buckets) > _MOST_BUCKETS:
            self._halve()

    def reset(self) -> None:
        """After a new baseline."""
        self._length, self._buckets = _FIRST_BUCKET, []

    def outlook(self, now: float) -> Outlook | None:
        """When the alarm threshold will be reached; None where the trend cannot tell."""
        complete = self._buckets[:-1]  # the last one is still filling
        if len(complete) < _FEWEST_BUCKETS:
            return None
        seen = complete[-max(_FEWEST_BUCKETS, round(_SHARE * len(complete))) :]
        times = np.array([bucket.begin + self._length / 2 for bucket in seen])
        ways = np.array([bucket.mean for bucket in seen])
        slope, error, at_end = _line(times - now, ways)
        if slope <= _CLEAR * error or not _LEAST_WAY <= at_end < 1:
            return None
        left = (1 - at_end) / slope  # seconds
        if left > now - times[0]:
            return None
        return Outlook(earliest=now + left / _PACE, latest=now + left * _PACE)

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        return {
            "length": self._length,
            "buckets": [[one.begin, round(one.total, 4), one.count] for one in self._buckets],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        trend = cls()
        trend._length = float(state["length"])
        trend._buckets = [
            _Bucket(float(begin), float(total), int(count))
            for begin, total, count in state["buckets"]
        ]
        return trend

    def _halve(self) -> None:
        """Buckets of twice the length, so that years fit."""
        self._length *= 2
        merged: list[_Bucket] = []
        for bucket in self._buckets:
            begin = bucket.begin - bucket.begin % self._length
            if not merged or begin > merged[-1].begin:
                merged.append(_Bucket(begin))
            merged[-1].total += bucket.total
            merged[-1].count += bucket.count
        self._buckets = merged


def _line(times: np.ndarray, values: np.ndarray) -> tuple[float, float, float]:
    """Slope of the straight line, its standard error, and its value at time 0.

    What is left beside the line is seldom independent from one value to the next: its
    autocorrelation widens the error.
    """
    centred = times - times.mean()
    spread = float(np.sum(centred**2))
    slope = float(np.sum(centred * values)) / spread
    beside = values - values.mean() - slope * centred
    power = float(np.sum(beside**2))
    at_zero = float(values.mean() - slope * times.mean())
    if power < 1e-12:
        return slope, 0.0, at_zero
    correlation = min(max(float(np.sum(beside[1:] * beside[:-1])) / power, 0.0), 0.95)
    error = (power / (len(times) - 2) / spread) ** 0.5
    return slope, error * ((1 + correlation) / (1 - correlation)) ** 0.5, at_zero
