"""Slow change of the normal sound, as opposed to an anomaly: the usual score moves day by day.

An anomaly appears within seconds and opens an event. What moves the mean score of half a day
without an event is wear, weather or a moved microphone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ssdpt.alarms.thresholds import Thresholds

_MIN_SECONDS = 3600.0  # of running before drift is reported
_SHARE = 0.5  # of the way from the usual score to the alert threshold


@dataclass(slots=True)
class RunningMean:
    """A mean of scores that forgets: after `half_life` seconds of running a score counts half."""

    half_life: float
    mean: float = 0.0
    seconds: float = 0.0  # of running so far

    def update(self, score: float, seconds: float) -> None:
        """Add a score that held for `seconds`."""
        keep = 0.5 ** (seconds / self.half_life)
        # Exact in the first hours too, when the past is shorter than the half-life.
        scale = self.half_life / math.log(2)
        weight = scale * (1 - 0.5 ** (self.seconds / self.half_life))
        fresh = scale * (1 - keep)
        total = weight * keep + fresh
        if total > 0:
            self.mean = (self.mean * weight * keep + score * fresh) / total
        self.seconds += seconds

    def reset(self) -> None:
        """Forget everything."""
        self.mean, self.seconds = 0.0, 0.0


def has_drifted(mean: RunningMean, thresholds: Thresholds) -> bool:
    """Whether the long-term mean of normal scores has moved far from the usual score."""
    usual = thresholds.usual_score
    return mean.seconds >= _MIN_SECONDS and mean.mean > usual + _SHARE * (thresholds.alert - usual)
