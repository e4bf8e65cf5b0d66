"""The level of a machine that is listened to all the time, from everything that judges it.

Scores against thresholds, limits of early faults while these are provisional, and the first hour
after a baseline. The level is the highest of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ssdpt.alarms.commissioning import Commissioning, without_outliers
from ssdpt.alarms.early_fault import EarlyFaultJudge, EarlyVerdict, score_limits, score_spread
from ssdpt.alarms.indicator_baseline import IndicatorBaseline
from ssdpt.alarms.judge import MachineJudge, ScoreScale, Verdict
from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import LEVELS
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.features.indicators import Indicators
from ssdpt.types import Level


@dataclass(frozen=True, slots=True)
class StreamVerdict:
    """On one second of a machine."""

    level: Level
    scores: Verdict
    early: EarlyVerdict
    holds_event: bool  # whether no event begins, since a person is asked instead
    change_began: float | None  # seconds ago that a change began which has just lasted long enough
    commissioned: bool  # whether the first hour has just set the thresholds

    @property
    def threshold(self) -> float | None:
        """Of the score, that the level has passed; None where it rests on indicators."""
        thresholds = self.scores.thresholds
        if self.scores.level != "normal":
            return thresholds.alarm if self.scores.level == "alarm" else thresholds.alert
        return self.early.score_limit if self.early.rule == "score" else None


class StreamJudge:
    """Turns scores and indicators of one machine into levels."""

    def __init__(self, settings: AlarmSettings, scale: ScoreScale | None) -> None:
        """`scale` is None while the machine has no model."""
        self.scores = MachineJudge(settings, scale)
        self.early = EarlyFaultJudge(settings, None)
        self.commissioning = Commissioning()
        self.level: Level = "normal"  # after the last score

    def add_second(self, indicators: Indicators | None) -> None:
        """Take the indicators of a second in which the machine runs."""
        self.early.add_second(indicators)

    def update(
        self, now: float, seconds: float, score: float, *, after_gap: bool = False
    ) -> StreamVerdict:
        """Judge the score of the last clip, of which `seconds` are new since the last one.

        `after_gap`: it is the first one after a gap, and has lasted for all of these seconds.
        """
        verdict = self.scores.update(
            now, seconds, score, after_gap=after_gap, changed=self.early.level != "normal"
        )
        spread = score_spread(self.scores.tail)
        early = self.early.update(
            seconds,
            verdict.score,
            self._limits(spread),
            after_gap=after_gap,
            active=verdict.thresholds.provisional,
        )
        was_normal = self.commissioning.update(
            now,
            seconds,
            verdict.score - self.scores.baseline.shift,
            verdict.smoothed,
            verdict.thresholds,
            spread,
            changed=early.level != "normal",
        )
        if was_normal:
            self.scores.commission(without_outliers(self.commissioning.scores))
        holds = self.commissioning.holds and early.level == "normal"
        level = max(verdict.level, early.level, key=LEVELS.index)
        began = None if holds else self._change_began(level, early)
        self.level = level
        return StreamVerdict(level, verdict, early, holds, began, was_normal)

    def _limits(self, spread: float) -> Thresholds:
        """From where on a score alone is an early fault."""
        shift = self.scores.baseline.shift
        limits = score_limits(self.scores.tail, self.scores.settings, shift)
        if not self.commissioning.holds:
            return limits
        # It is high from the start: only what is sudden beside that is a fault.
        own = self.commissioning.own_limit(spread)
        limit = math.inf if own is None else max(limits.alert, own + shift)
        return limits.model_copy(update={"alert": limit, "alert_exit": limit})

    def _change_began(self, level: Level, early: EarlyVerdict) -> float | None:
        if LEVELS.index(level) > LEVELS.index(self.level):
            return self.scores.settings.min_duration if early.began is None else early.began
        return early.began if level == "normal" else None

    def compare_with(self, indicators: IndicatorBaseline | None) -> None:
        """Judge indicators by another baseline from now on."""
        self.early.compare_with(indicators)

    def follow_gap(self) -> None:
        """Sound is missing: the indicators of before do not last across it."""
        self.early.pause()

    def stop(self) -> None:
        """The machine is off or not judged: its level ends."""
        self.scores.stop()
        self.early.pause()
        self.level = "normal"

    def resume(self, level: Level) -> None:
        """The service has restarted during an event of this level."""
        self.scores.resume(level)
        self.level = level

    def accept_drift(self) -> None:
        """Take the recent scores as usual: a person says so."""
        self.commissioning.answer()
        self.scores.accept_drift()
        self.stop()

    def adopt(
        self,
        scale: ScoreScale,
        points: OperatingPoints | None,
        indicators: IndicatorBaseline | None,
    ) -> None:
        """Use the scores of a newly learned model from now on."""
        self.scores.adopt(scale, points)
        self.commissioning = Commissioning()
        self.compare_with(indicators)
        self.stop()

    def continue_from(self, previous: StreamJudge, *, same_model: bool) -> None:
        """Go on from the judge of the same machine before its settings changed."""
        self.scores.continue_from(previous.scores, same_model=same_model)
        self.level = previous.level
        if same_model:
            self.commissioning = previous.commissioning
            self.early.continue_from(previous.early)
