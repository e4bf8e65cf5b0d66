"""Collects the indicators and sounds of normal snapshots of a live machine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ssdpt.alarms.indicator_baseline import FEWEST_STEPS
from ssdpt.alarms.running import OFF_BELOW_DB
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.snapshot_judge import SnapshotForm, SnapshotJudge
from ssdpt.features.indicators import Indicators
from ssdpt.monitor.learning.snapshot_sample import SnapshotSample
from ssdpt.monitor.learning.snapshot_sounds import SnapshotSounds, Sounds
from ssdpt.types import Floats

Axes = tuple[Indicators, ...]  # of one snapshot


@dataclass(slots=True)
class _Collected:
    """Snapshots of one form."""

    sounds: SnapshotSounds
    sample: SnapshotSample
    snapshots: list[Axes] = field(default_factory=list)
    seconds: float = 0.0  # of running that they cover

    @property
    def running(self) -> list[Axes]:
        """Without those of a machine that was off, which is known only in the end."""
        levels = [max(axis.level_db for axis in axes) for axes in self.snapshots]
        off_below = np.median(levels) - OFF_BELOW_DB if levels else 0.0
        return [
            axes for axes, level in zip(self.snapshots, levels, strict=True) if level >= off_below
        ]


@dataclass(slots=True)
class SnapshotCollector:
    """Snapshots over the requested time, only while the machine runs.

    Those of each form are collected by themselves: one that is odd does not spoil the others.
    """

    target_seconds: float
    complete: bool = False  # whether there are enough
    _by_form: dict[SnapshotForm, _Collected] = field(default_factory=dict)
    _last: float | None = None  # end of the last one, since the machine runs

    @classmethod
    def for_minutes(cls, minutes: float) -> SnapshotCollector:
        """Snapshots from so many minutes of running."""
        return cls(60 * minutes)

    def add(self, form: SnapshotForm, samples: Floats, axes: Axes, end: float) -> None:
        """One more snapshot (axes, samples), that ended at `end`, and its indicators."""
        if form not in self._by_form:
            self._by_form[form] = _Collected(SnapshotSounds(form), SnapshotSample(form))
        collected = self._by_form[form]
        collected.snapshots.append(axes)
        collected.sounds.add(samples)
        collected.sample.add(samples)
        if self._last is not None:
            collected.seconds += max(0.0, end - self._last)
        self._last = end
        self.complete = (
            collected.seconds >= self.target_seconds and len(collected.running) >= FEWEST_STEPS
        )

    def pause(self) -> None:
        """The machine is off: the time until it runs again does not count."""
        self._last = None

    def learn(
        self, settings: AlarmSettings, learned_at: float
    ) -> tuple[SnapshotJudge, Sounds, Floats]:
        """Judge, normal sounds and a sample (axes, samples) of the form of which there are most.

        Call when it is complete.
        """
        running = {form: collected.running for form, collected in self._by_form.items()}
        form = max(running, key=lambda one: len(running[one]))
        judge = SnapshotJudge.learn(form, running[form], settings, learned_at)
        collected = self._by_form[form]
        return judge, collected.sounds.learn(), collected.sample.sound()

    @property
    def seconds(self) -> float:
        """Progress: of running so far; few snapshots count for less."""
        most = max(self._by_form.values(), key=lambda one: len(one.snapshots), default=None)
        if most is None:
            return 0.0
        share = len(most.snapshots) / FEWEST_STEPS
        return min(most.seconds, self.target_seconds, self.target_seconds * share)
