"""Slow change of the normal, told apart from an anomaly: the usual score moves, day by day.

An anomaly is there within seconds and ends in an event; what moves the mean of half a day without
one is wear, weather or a moved microphone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ssdpt.alarms.thresholds import Thresholds

_LEAST = 3600.0  # seconds of running before anything is said
_SHARE = 0.5  # of the way from usual to the alert limit


@dataclass(slots=True)
class RunningMean:
    """A mean of scores that forgets: after `half_life` seconds of running a score counts half."""

    half_life: float
    mean: float = 0.0
    seconds: float = 0.0  # of running that it rests on

    def update(self, score: float, seconds: float) -> None:
        """`score` held for `seconds`."""
        keep = 0.5 ** (seconds / self.half_life)
        # Exact for the first hours too, when the past is shorter than the half-life.
        scale = self.half_life / math.log(2)
        weight = scale * (1 - 0.5 ** (self.seconds / self.half_life))
        fresh = scale * (1 - keep)
        total = weight * keep + fresh
        if total > 0:
            self.mean = (self.mean * weight * keep + score * fresh) / total
        self.seconds += seconds

    def reset(self) -> None:
        """Begin anew."""
        self.mean, self.seconds = 0.0, 0.0


def has_drifted(mean: RunningMean, limits: Thresholds) -> bool:
    """Whether a long mean of scores without an alert has moved far from the usual one."""
    far = limits.usual + _SHARE * (limits.alert - limits.usual)
    return mean.seconds >= _LEAST and mean.mean > far
