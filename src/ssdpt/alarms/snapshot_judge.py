"""Alert and alarm from the snapshots of one sensor: each axis is judged by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from ssdpt.alarms.change_findings import change_findings
from ssdpt.alarms.change_judge import ChangeJudge, ChangeVerdict
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.indicator_baseline import IndicatorBaseline
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.features.indicators import IndicatorMeter, Indicators
from ssdpt.types import Floats, Level

_LEVELS: tuple[Level, ...] = ("normal", "alert", "alarm")  # rising


@dataclass(frozen=True, slots=True)
class SnapshotForm:
    """What all snapshots of a baseline have in common; others are not compared with it."""

    axes: tuple[str, ...]  # names; one empty name where a single axis has none
    sample_rate: int  # Hz
    samples: int  # of one axis


@dataclass(frozen=True, slots=True)
class SnapshotVerdict:
    """On one snapshot."""

    level: Level  # the highest of the axes
    score: float  # the highest change of this snapshot alone
    lasting: float  # the highest score that has lasted: above 1 an alert, above 2 an alarm
    scores: Mapping[str, float]  # of this snapshot by axis
    axis: str  # that has changed most
    findings: tuple[Finding, ...]  # what has changed on that axis
    began: bool  # whether a level began with this snapshot: a change point


class SnapshotJudge:
    """Turns the snapshots of one sensor into levels."""

    def __init__(self, form: SnapshotForm, judges: Mapping[str, ChangeJudge]) -> None:
        """`judges` by axis, each with the baseline of its axis."""
        self.form, self.judges = form, dict(judges)
        self.meter = IndicatorMeter(form.sample_rate, form.samples)

    @classmethod
    def learn(
        cls,
        form: SnapshotForm,
        snapshots: Sequence[Sequence[Indicators]],
        settings: AlarmSettings,
        learned_at: float,
    ) -> Self:
        """From the indicators of each axis of normal snapshots, in order of time."""
        judges = {
            axis: ChangeJudge(
                IndicatorBaseline.learn([axes[number] for axes in snapshots], learned_at),
                settings,
                "snapshots",
            )
            for number, axis in enumerate(form.axes)
        }
        return cls(form, judges)

    @property
    def baseline(self) -> IndicatorBaseline:
        """Of the first axis; all axes were learned from the same snapshots."""
        return self.judges[self.form.axes[0]].baseline

    @property
    def thresholds(self) -> Thresholds:
        return self.judges[self.form.axes[0]].thresholds

    @property
    def usual_db(self) -> float:
        """Usual level of the loudest axis, against a full-scale sine."""
        return max(float(judge.baseline.usual_db[0]) for judge in self.judges.values())

    def update(self, snapshot: Sequence[Indicators]) -> SnapshotVerdict:
        """Judge one more snapshot, given as the indicators of each axis."""
        before = max((judge.level for judge in self.judges.values()), key=_LEVELS.index)
        verdicts = {
            axis: self.judges[axis].update(step)
            for axis, step in zip(self.form.axes, snapshot, strict=True)
        }
        level = max((one.level for one in verdicts.values()), key=_LEVELS.index)
        axis = max(verdicts, key=lambda name: _rank(verdicts[name]))
        step = snapshot[self.form.axes.index(axis)]
        return SnapshotVerdict(
            level=level,
            score=max(one.change.score for one in verdicts.values()),
            lasting=max(one.score for one in verdicts.values()),
            scores={name: one.change.score for name, one in verdicts.items()},
            axis=axis,
            findings=change_findings(
                verdicts[axis].change, step, self.judges[axis].baseline, self.meter.edges
            ),
            began=_LEVELS.index(level) > _LEVELS.index(before),
        )

    def pause(self) -> None:
        """The machine stops or is not judged: nothing lasts across it."""
        for judge in self.judges.values():
            judge.pause()

    def interrupt(self) -> None:
        """Snapshots are missing: levels stay until others have lasted, with new snapshots alone."""
        for judge in self.judges.values():
            level = judge.level
            judge.pause()
            judge.resume(level)

    def resume(self, level: Level) -> None:
        """The service has restarted at this level."""
        for judge in self.judges.values():
            judge.resume(level)

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        axes = {axis: judge.to_json() for axis, judge in self.judges.items()}
        return {"form": asdict(self.form), "axes": axes}

    @classmethod
    def from_json(cls, state: dict[str, Any], settings: AlarmSettings) -> Self:
        """The reverse of `to_json`."""
        form = SnapshotForm(**state["form"] | {"axes": tuple(state["form"]["axes"])})
        axes = state["axes"]
        return cls(form, {axis: ChangeJudge.from_json(axes[axis], settings) for axis in form.axes})


def measure(meter: IndicatorMeter, samples: Floats) -> tuple[Indicators, ...]:
    """The indicators of each axis of (axes, samples)."""
    return tuple(meter.of(np.asarray(axis)) for axis in samples)


def _rank(verdict: ChangeVerdict) -> tuple[int, float, float]:
    return _LEVELS.index(verdict.level), verdict.score, verdict.change.score
