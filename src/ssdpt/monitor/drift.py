"""Slow change of the normal, told apart from an anomaly: the usual score moves, day by day."""

from __future__ import annotations

import math
from dataclasses import dataclass

_HALF_LIFE = 6 * 3600.0  # seconds of running after which a score counts half
_LEAST = 3600.0  # seconds of running before anything is said
_SHARE = 0.5  # of the way from usual to the alert limit


@dataclass(slots=True)
class DriftKeeper:
    """A long mean of the scores of a machine that runs and is not in alert.

    An anomaly is there within seconds and ends in an event; what moves the mean of half a day
    without one is wear, weather or a moved microphone.
    """

    mean: float = 0.0
    seconds: float = 0.0  # of running that the mean rests on
    since: float | None = None  # when the drift was first seen

    def update(self, time: float, score: float, seconds: float) -> None:
        """`score` held for `seconds`."""
        keep = 0.5 ** (seconds / _HALF_LIFE)
        # Exact for the first hours too, when the past is shorter than the half-life.
        weight = _HALF_LIFE / math.log(2) * (1 - 0.5 ** (self.seconds / _HALF_LIFE))
        fresh = _HALF_LIFE / math.log(2) * (1 - keep)
        total = weight * keep + fresh
        if total > 0:
            self.mean = (self.mean * weight * keep + score * fresh) / total
        self.seconds += seconds

    def judge(self, time: float, usual: float, alert: float) -> bool:
        """Whether the mean has moved away from `usual`, by so much of the way to `alert`."""
        moved = self.seconds >= _LEAST and self.mean > usual + _SHARE * (alert - usual)
        self.since = (self.since or time) if moved else None
        return moved

    def reset(self) -> None:
        """After a new baseline."""
        self.mean, self.seconds, self.since = 0.0, 0.0, None
