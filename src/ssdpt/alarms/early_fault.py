"""Early faults: a lasting change far outside all that was learned, while thresholds are unsure.

A threshold for one false alert per week that comes from five minutes of sound is an extrapolation,
and often far too high. Until the machine's own days set it, limits that engineers use are an alert
too: twice the amplitude of the loudest that was learned, in the whole or in a band, and a score six
standard deviations above the usual one and above all that were learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ssdpt.alarms.change_findings import change_findings
from ssdpt.alarms.change_judge import ChangeJudge
from ssdpt.alarms.change_score import Change
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.indicator_baseline import IndicatorBaseline
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.features.indicators import Indicators
from ssdpt.scoring.calibrate import Tail
from ssdpt.sentences import Sentence
from ssdpt.types import Floats, Level

SPREADS = 6.0  # standard deviations above the usual score
_QUARTILES_OF_NORMAL = 1.349  # their distance in standard deviations

EarlyRule = Literal["", "score", "level", "band"]


@dataclass(frozen=True, slots=True)
class EarlyVerdict:
    """On one second."""

    level: Level  # normal or alert
    rule: EarlyRule  # that an alert rests on; empty: none
    score_limit: float
    began: float | None  # seconds ago that a change began which has just lasted long enough


class EarlyFaultJudge:
    """Judges score and indicators of one machine that is listened to all the time."""

    def __init__(self, settings: AlarmSettings, baseline: IndicatorBaseline | None) -> None:
        """`baseline` is None until it is learned; scores alone are judged then."""
        self.settings = settings
        self._scores = AlarmStateMachine(settings)
        self._running_time = 0.0  # seconds
        self._change: Change | None = None  # of the last second
        self._steps_since_began: int | None = None  # of a change by indicators, not reported yet
        self._active = True
        self.compare_with(baseline)

    @property
    def level(self) -> Level:
        """Normal or alert."""
        by_indicators = self._changes is not None and self._changes.level != "normal"
        alert = self._active and (by_indicators or self._scores.level != "normal")
        return "alert" if alert else "normal"

    def compare_with(self, baseline: IndicatorBaseline | None) -> None:
        """Judge indicators by another baseline from now on."""
        self._changes = None if baseline is None else ChangeJudge(baseline, self.settings, "stream")

    def add_second(self, indicators: Indicators | None) -> None:
        """Take the indicators of a second in which the machine runs."""
        if self._steps_since_began is not None:
            self._steps_since_began += 1
        if self._changes is not None and indicators is not None:
            verdict = self._changes.update(indicators)
            self._change = verdict.change
            if verdict.began:
                self._steps_since_began = 0

    def update(
        self,
        seconds: float,
        score: float,
        limits: Thresholds,
        *,
        after_gap: bool = False,
        active: bool = True,
    ) -> EarlyVerdict:
        """Judge the score of the last clip, of which `seconds` are new, and the last second.

        `limits`: those of `score_limits`. `after_gap`: the score has lasted for all of these
        seconds. Not `active`: thresholds are known well enough, and only when indicators changed is
        of interest.
        """
        since = self._running_time if after_gap else None
        self._running_time += seconds
        self._active = active
        before = self._scores.level
        by_score = self._scores.update(self._running_time, score, limits, since=since)
        began: float | None = None
        if active and by_score != before == "normal":
            began = self.settings.min_duration
        if self._steps_since_began is not None and self._changes is not None:
            began = float(self._changes.lasting + self._steps_since_began)
        self._steps_since_began = None
        return EarlyVerdict(self.level, self._rule() if active else "", limits.alert, began)

    def findings(self, indicators: Indicators | None, edges: Floats) -> tuple[Finding, ...]:
        """What the indicators have changed in, now; `edges` (bands + 1,) of the bands in Hz."""
        changes, change = self._changes, self._change
        if changes is None or change is None or indicators is None or changes.level == "normal":
            return ()
        return change_findings(change, indicators, changes.baseline, edges)

    def pause(self) -> None:
        """The machine stops or is not judged: nothing lasts across it."""
        self._scores.reset()
        self._change = self._steps_since_began = None
        if self._changes is not None:
            self._changes.pause()

    def continue_from(self, previous: EarlyFaultJudge) -> None:
        """Go on from the judge of the same machine before its settings changed."""
        self._scores.level = previous._scores.level
        if self._changes is not None and previous._changes is not None:
            self._changes.resume(previous._changes.level)

    def _rule(self) -> EarlyRule:
        if self._changes is not None and self._changes.level != "normal":
            return "band" if self._change is not None and self._change.band is not None else "level"
        return "score" if self._scores.level != "normal" else ""


def score_spread(tail: Tail) -> float:
    """The standard deviation of normal scores, by quartiles: a few odd ones do not widen it."""
    return (tail.threshold(0.25) - tail.threshold(0.75)) / _QUARTILES_OF_NORMAL


def score_limits(tail: Tail, settings: AlarmSettings, shift: float) -> Thresholds:
    """From where on a score is far outside those of normal clips, `tail`; `shift` as thresholds."""
    usual = tail.threshold(0.5)
    limit = max(usual + SPREADS * score_spread(tail), tail.threshold(tail.smallest_observed_rate))
    limit_exit = usual + settings.exit_share * (limit - usual)
    return Thresholds(
        alert=limit,
        alarm=float("inf"),
        alert_exit=limit_exit,
        alarm_exit=float("inf"),
        usual_score=usual,
        false_alerts_per_week=settings.false_alerts_per_week,
        provisional=True,
        message=Sentence("thresholds.farAbove"),
    ).shifted(shift)
