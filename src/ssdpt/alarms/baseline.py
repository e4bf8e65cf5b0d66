"""What is normal for one machine, beyond what its model knows."""

from __future__ import annotations

import math
from typing import Any

from ssdpt.alarms.block_maxima import BlockMaxima
from ssdpt.alarms.drift import RunningMean
from ssdpt.alarms.operating_points import OperatingPointLearner, OperatingPoints
from ssdpt.alarms.thresholds import Thresholds

_LONG_TERM, _RECENT = 6 * 3600.0, 600.0  # half-lives, seconds of running
MIN_RECENT_SECONDS = 300.0  # of running that accepting a drift needs


class Baseline:
    """Operating points, usual scores, and how far a person has shifted the thresholds.

    It is valid as long as the model that it was learned with.
    """

    def __init__(self, min_duration: float) -> None:
        """`min_duration`: seconds that a score must last to count."""
        self.shift = 0.0  # of the thresholds, since a person accepted a drift
        self.points: OperatingPoints | None = None  # None until they are learned
        self.learner = OperatingPointLearner()
        self.first_hour: list[float] = []  # scores that set the thresholds too, once it was normal
        self.blocks = BlockMaxima(min_duration)
        self.long_term = RunningMean(_LONG_TERM)  # of scores without an alert, to detect drift
        # Of scores since the last alert began or ended: what accepting a drift takes as normal.
        self.recent = RunningMean(_RECENT)
        self._highest = -math.inf  # since then
        self._normal = True

    def update(
        self,
        now: float,
        running_time: float,
        score: float,
        seconds: float,
        *,
        normal: bool,
        since: float | None = None,
    ) -> None:
        """Add a smoothed score that held for `seconds`, after `running_time` judged seconds.

        `since`: see `LastingScore.update`.
        """
        if normal != self._normal:
            self._normal = normal
            self.recent.reset()
            self._highest = -math.inf
        self.recent.update(score, seconds)
        self._highest = max(self._highest, score)
        self.blocks.update(now, running_time, score, seconds, normal=normal, since=since)
        if normal:
            self.long_term.update(score, seconds)

    @property
    def quietest_dbfs(self) -> float | None:
        """Level of the quietest operating point; None until they are learned."""
        if self.points is None:
            return None
        return min(point.level_dbfs for point in self.points.points)

    def set_points(self, points: OperatingPoints) -> None:
        """Compare scores by operating point from now on; other scores are usual then."""
        self.points = points
        self.long_term.reset()
        self.recent.reset()
        self._highest = -math.inf
        self.blocks.reset()
        self.first_hour = []

    def accept_drift(self, thresholds: Thresholds) -> None:
        """Take the recent scores as usual, instead of those of `thresholds`.

        These are the unshifted thresholds of the model's clips, since the block maxima belong to
        the old normal. The highest recent score must not be an alert either, however much scores
        vary.
        """
        self.shift += max(
            self.recent.mean - thresholds.usual_score, self._highest - thresholds.alert_exit
        )
        self.long_term.reset()
        self.recent.reset()
        self._highest = -math.inf

    def allow(self, mean: float, highest: float, thresholds: Thresholds) -> None:
        """Shift unshifted thresholds up, if at all, as far as scores of a healthy machine need."""
        self.shift = max(0.0, mean - thresholds.usual_score, highest - thresholds.alert_exit)

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart, without the block maxima: they are many, change seldom."""
        return {
            "shift": self.shift,
            "long_term": [self.long_term.mean, self.long_term.seconds],
            "points": None if self.points is None else self.points.to_json(),
            "first_hour": self.first_hour,
        }

    def restore(self, state: dict[str, Any], blocks: dict[str, Any] | None) -> None:
        """The reverse of `to_json`, with that of the block maxima."""
        self.shift = float(state["shift"])
        self.long_term.mean, self.long_term.seconds = map(float, state["long_term"])
        self.first_hour = list(state.get("first_hour", []))
        if state["points"] is not None:
            self.points = OperatingPoints.from_json(state["points"])
        if blocks is not None:
            self.blocks.restore(blocks)
