"""One machine recorded until it failed: learned from early life, followed to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ssdpt.alarms.change_finder import find_changes
from ssdpt.alarms.change_judge import ChangeJudge, ChangeVerdict
from ssdpt.alarms.change_score import DEFAULT_LIMITS, ChangeLimits
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.indicator_baseline import FEWEST_STEPS, STEPS_AVERAGED, IndicatorBaseline
from ssdpt.alarms.outlook import Outlook, TrendOutlook
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.severity import way_to_alarm
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.data.snapshots import Run
from ssdpt.errors import SsdptError
from ssdpt.evaluation.run_to_failure import rules
from ssdpt.features.indicators import IndicatorMeter, Indicators

RunVerdict = Literal["right", "late", "false", "missed"]

LEARN_FROM, LEARN_TO = 0.02, 0.2  # shares of the life
HALF_LIFE, LATE = 0.5, 0.95  # an alarm between them is right
FEWEST_CLIPS = 8  # of one second, to learn from
_CLIP_SECONDS = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRun:
    """A run and the condition indicators of its snapshots."""

    run: Run
    steps: tuple[Indicators, ...]  # of all snapshots
    edges_hz: np.ndarray  # (bands + 1,)
    learned: slice  # the snapshots of early life that are learned from

    @property
    def clip_steps(self) -> int:
        """Snapshots that fill a clip of one second."""
        return max(1, round(_CLIP_SECONDS / self.run.seconds))

    def share(self, snapshot: int) -> float:
        """When it was taken, as a share of the life."""
        return float(self.run.times[snapshot] / self.run.times[-1])


@dataclass(frozen=True, slots=True, eq=False)
class RunOutcome:
    """What was said about a run, snapshot by snapshot, and when each rule would have alarmed."""

    measured: MeasuredRun
    verdicts: tuple[ChangeVerdict, ...]  # from the end of the learning part on
    outlooks: tuple[Outlook | None, ...]  # likewise, up to the first alarm
    alarm: int | None  # snapshot of the first alarm
    findings: tuple[Finding, ...]  # what had changed by then
    rules: dict[str, int | None]  # the first alarm of plain rules, by their name

    @property
    def run(self) -> Run:
        return self.measured.run

    def share(self, snapshot: int | None) -> float | None:
        """When it was taken, as a share of the life."""
        return None if snapshot is None else self.measured.share(snapshot)

    def verdict(self, snapshot: int | None) -> RunVerdict:
        """What a first alarm at this snapshot is."""
        share = self.share(snapshot)
        if share is None:
            return "missed"
        if share < HALF_LIFE:
            return "false"
        return "right" if share <= LATE else "late"

    @property
    def lead_seconds(self) -> float | None:
        """From the first alarm to the end."""
        if self.alarm is None:
            return None
        return float(self.run.times[-1] - self.run.times[self.alarm])

    @property
    def alerts_before_half(self) -> float:
        """Share of the snapshots before half life, after learning, that were in alert or alarm."""
        early = [verdict.level != "normal" for verdict in self._before_half()]
        return float(np.mean(early)) if early else 0.0

    @property
    def alarms_before_half(self) -> int:
        """How many alarms began before half life."""
        return sum(v.began and v.level == "alarm" for v in self._before_half())

    @property
    def first_alarm(self) -> ChangeVerdict | None:
        """The verdict with which the first alarm began."""
        return None if self.alarm is None else self.verdicts[self.alarm - self._start]

    @property
    def outlook_hits(self) -> list[bool]:
        """For every outlook, whether the first alarm came between its times."""
        if self.alarm is None:
            return []
        alarm = float(self.run.times[self.alarm])
        return [
            outlook.earliest <= alarm <= outlook.latest
            for outlook in self.outlooks
            if outlook is not None
        ]

    @property
    def _start(self) -> int:
        """The first snapshot that is judged."""
        return self.measured.learned.stop

    def _before_half(self) -> list[ChangeVerdict]:
        return [
            verdict
            for number, verdict in enumerate(self.verdicts, self._start)
            if self.measured.share(number) < HALF_LIFE
        ]


def measure_run(run: Run) -> MeasuredRun:
    """The indicators of every snapshot, and which of them are learned from."""
    meter = IndicatorMeter(run.sample_rate, run.snapshots.shape[1])
    steps = tuple(meter.of(snapshot) for snapshot in run.snapshots)
    return MeasuredRun(run, steps, meter.edges, _learning_part(run))


def follow_run(
    measured: MeasuredRun,
    settings: AlarmSettings | None = None,
    limits: ChangeLimits = DEFAULT_LIMITS,
) -> RunOutcome:
    """Learn from early life and judge every later snapshot as the live service does."""
    steps, learned, times = measured.steps, measured.learned, measured.run.times
    baseline = IndicatorBaseline.learn(steps[learned], float(times[learned.stop - 1]))
    judge = ChangeJudge(baseline, settings or AlarmSettings(), "snapshots", limits)
    verdicts = tuple(judge.update(step) for step in steps[learned.stop :])
    alarm = _first_alarm(verdicts, learned.stop)
    trend, outlooks = TrendOutlook(), []
    until_alarm = slice(learned.stop, alarm)
    for verdict, time in zip(verdicts, times[until_alarm].tolist(), strict=False):
        trend.update(time, way_to_alarm(verdict.change.score, judge.thresholds))
        outlooks.append(trend.outlook(time))
    return RunOutcome(
        measured=measured,
        verdicts=verdicts,
        outlooks=tuple(outlooks),
        alarm=alarm,
        findings=() if alarm is None else _findings(measured, alarm),
        rules={
            "RMS + 6 σ": rules.rms_alarm(steps, learned, measured.clip_steps),
            "eight bands": rules.eight_band_alarm(steps, learned),
            "kurtosis + 6 σ": rules.kurtosis_alarm(steps, learned, measured.clip_steps),
            "one Gaussian": rules.gaussian_alarm(steps, learned, measured.clip_steps),
        },
    )


def _findings(measured: MeasuredRun, alarm: int) -> tuple[Finding, ...]:
    """What differs from the learning part in the last snapshots before an alarm."""
    snapshots = measured.run.snapshots
    reference = SoundReference.learn(list(snapshots[measured.learned]), measured.run.sample_rate)
    last = list(snapshots[max(alarm + 1 - STEPS_AVERAGED, 0) : alarm + 1])
    return find_changes(reference, last, alerted=True)


def _learning_part(run: Run) -> slice:
    first, last = np.searchsorted(
        run.times, [LEARN_FROM * run.times[-1], LEARN_TO * run.times[-1]]
    ).tolist()
    fewest = max(FEWEST_STEPS, FEWEST_CLIPS * round(_CLIP_SECONDS / run.seconds))
    last = max(last, first + fewest)
    if last >= len(run.times):
        raise SsdptError(
            f"{run.name}: {len(run.times)} snapshots are too few; learning alone takes {fewest} "
            "of them"
        )
    return slice(first, last)


def _first_alarm(verdicts: Sequence[ChangeVerdict], start: int) -> int | None:
    return next(
        (number for number, verdict in enumerate(verdicts, start) if verdict.level == "alarm"), None
    )
