"""What is normal for one machine, beyond what its model knows."""

from __future__ import annotations

import math
from typing import Any

from ssdpt.alarms.block_maxima import BlockMaxima
from ssdpt.alarms.drift import RunningMean
from ssdpt.alarms.operating_points import OperatingPointLearner, OperatingPoints
from ssdpt.alarms.thresholds import Thresholds

_LONG, _LATELY = 6 * 3600.0, 600.0  # seconds of running after which a score counts half
LEAST_LATELY = 300.0  # seconds of running that a new baseline needs


class Baseline:
    """Its operating points, the scores it usually has, and how far people have moved its limits.

    It holds as long as the model does that it was learnt with.
    """

    def __init__(self, shortest: float) -> None:
        """`shortest`: seconds that a score must last to count."""
        self.shift = 0.0  # of the limits, since people took a new baseline
        self.points: OperatingPoints | None = None  # None while they are not known
        self.learner = OperatingPointLearner()
        self.marks = BlockMaxima(shortest)
        self.long = RunningMean(_LONG)  # of scores without an alert, to see drift
        # Of scores since an alert began or ended, to be taken as a new baseline.
        self.lately = RunningMean(_LATELY)
        self._highest = -math.inf  # since then
        self._normal = True

    def update(
        self, now: float, heard: float, score: float, seconds: float, *, normal: bool
    ) -> None:
        """A smoothed score which held for `seconds`; `heard` seconds were judged so far."""
        if normal != self._normal:
            self._normal = normal
            self.lately.reset()
            self._highest = -math.inf
        self.lately.update(score, seconds)
        self._highest = max(self._highest, score)
        self.marks.update(now, heard, score, seconds, normal=normal)
        if normal:
            self.long.update(score, seconds)

    @property
    def quietest_dbfs(self) -> float | None:
        """Level of the quietest operating point; None while they are not known."""
        return None if self.points is None else min(one.level_dbfs for one in self.points.points)

    def tell_apart(self, points: OperatingPoints) -> None:
        """Weigh scores by operating point from now on, which makes other scores usual."""
        self.points = points
        self.long.reset()
        self.lately.reset()
        self.marks.forget()

    def move(self, limits: Thresholds) -> None:
        """Take the scores it has now as usual ones, instead of those of `limits`.

        These are the limits of the model's clips, since the marks are of a normal that is no longer
        one. The highest score of now is no alert then either, however much scores vary.
        """
        # All scores here are without the shift that there is already.
        self.shift += max(self.lately.mean - limits.usual, self._highest - limits.alert_exit)
        self.long.reset()
        self.lately.reset()
        self._highest = -math.inf

    def to_json(self) -> dict[str, Any]:
        """To be remembered, but for the marks, which are many and change seldom."""
        return {
            "shift": self.shift,
            "long": [self.long.mean, self.long.seconds],
            "points": None if self.points is None else self.points.to_json(),
        }

    def recall(self, tree: dict[str, Any], marks: dict[str, Any] | None) -> None:
        """Take up what was remembered."""
        self.shift = float(tree["shift"])
        self.long.mean, self.long.seconds = map(float, tree["long"])
        if tree["points"] is not None:
            self.points = OperatingPoints.from_json(tree["points"])
        if marks is not None:
            self.marks.recall(marks)
