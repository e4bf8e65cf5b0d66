"""Alert and alarm from the condition indicators alone, with every second or snapshot.

Snapshots taken at intervals are judged by it alone: a tenth of a second is too short for a model of
sound, and half of all bearings show nothing until the last minutes. A machine that is listened to
all the time is judged by its scores; there this finds early faults while thresholds are still
provisional, and goes no further than an alert, since a microphone hears the rest of the hall too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, Self

from ssdpt.alarms.change_score import (
    ALARM,
    ALERT,
    DEFAULT_LIMITS,
    Change,
    ChangeLimits,
    ChangeScore,
)
from ssdpt.alarms.indicator_baseline import IndicatorBaseline
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.features.indicators import Indicators
from ssdpt.sentences import Sentence
from ssdpt.types import Level

Captured = Literal["snapshots", "stream"]  # at intervals, or all the time

# Steps that a change must last: a minute of snapshots taken every ten seconds, or ten seconds.
_LASTING: dict[Captured, int] = {"snapshots": 6, "stream": 10}
# A larger change needs to last less, by so many times the score and so many steps: a bearing may
# break within half a minute. Not in a stream, where a forklift that passes is as loud for as long.
_LARGE = ((1.75, 3), (4.0, 2))
_BELOW_ALARM = ALARM - 0.01


@dataclass(frozen=True, slots=True)
class ChangeVerdict:
    """On one second or snapshot."""

    level: Level
    score: float  # that has lasted: above 1 an alert, above 2 an alarm
    change: Change  # of this step alone
    began: bool  # whether a level began with this step: a change point


class ChangeJudge:
    """Turns the indicators of one machine into levels."""

    def __init__(
        self,
        baseline: IndicatorBaseline,
        settings: AlarmSettings,
        captured: Captured,
        limits: ChangeLimits = DEFAULT_LIMITS,
    ) -> None:
        self.baseline, self.captured = baseline, captured
        self.thresholds = change_thresholds(settings)
        self._scorer = ChangeScore(baseline, slow_changes_only=captured == "stream", limits=limits)
        # Persistence is counted in steps, whatever the time between them. That of snapshots is in
        # the score already, since large changes need to last less.
        min_duration = self.lasting - 1 if captured == "stream" else 0
        steps = settings.model_copy(
            update={"min_duration": float(min_duration), "clear_after": float(self.lasting)}
        )
        self._levels = AlarmStateMachine(steps)
        self._recent: deque[float] = deque(maxlen=self.lasting)
        self._steps = 0

    @property
    def level(self) -> Level:
        return self._levels.level

    def update(self, step: Indicators) -> ChangeVerdict:
        """Judge one more second or snapshot."""
        change = self._scorer.update(step)
        self._recent.append(change.score)
        self._steps += 1
        score = self._lasting()
        before = self._levels.level
        judged = min(change.score, _BELOW_ALARM) if self.captured == "stream" else score
        level = self._levels.update(float(self._steps), judged, self.thresholds)
        began = level != before and level != "normal" and before != "alarm"
        return ChangeVerdict(level, score, change, began)

    @property
    def lasting(self) -> int:
        """Steps that a change must last."""
        return _LASTING[self.captured]

    def pause(self) -> None:
        """The machine stops or is not judged: nothing lasts across it."""
        self._recent.clear()
        self._levels.reset()

    def resume(self, level: Level) -> None:
        """Go on at this level after a restart or with other settings; it ends as any other."""
        self._levels.level = level

    def _lasting(self) -> float:
        """The score that has lasted; large changes need to last less."""
        recent = list(self._recent)
        score = min(recent) if len(recent) == self._recent.maxlen else 0.0
        if self.captured == "stream":
            return min(score, _BELOW_ALARM)
        for times, steps in _LARGE:
            if len(recent) >= steps:
                score = max(score, min(recent[-steps:]) / times)
        return score

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        return {"captured": self.captured, "baseline": self.baseline.to_json()}

    @classmethod
    def from_json(cls, state: dict[str, Any], settings: AlarmSettings) -> Self:
        """The reverse of `to_json`."""
        return cls(IndicatorBaseline.from_json(state["baseline"]), settings, state["captured"])


def change_thresholds(settings: AlarmSettings) -> Thresholds:
    """The limits in the form of all thresholds; they are known, not estimated."""
    return Thresholds(
        alert=ALERT,
        alarm=ALARM,
        alert_exit=settings.exit_share * ALERT,
        alarm_exit=settings.exit_share * ALARM,
        usual_score=0.0,
        false_alerts_per_week=settings.false_alerts_per_week,
        provisional=False,
        message=Sentence("thresholds.changeLimits"),
    )
