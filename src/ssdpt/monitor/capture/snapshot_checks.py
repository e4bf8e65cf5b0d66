"""Whether a snapshot can be used: nothing is learned from others, and none of them is judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ssdpt.alarms.snapshot_judge import SnapshotForm
from ssdpt.data.audio import describe_rate
from ssdpt.errors import one_line
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources.snapshot import Snapshot
from ssdpt.sentences import Sentence

_MOST_AXES = 8
_FEWEST_SAMPLES = 256  # for eight bands, the lowest of two lines
_RATES = (1000, 384_000)  # Hz
_LARGEST = 1.5  # times full scale; shocks may pass full scale a little, other units pass it far
_MOST_AHEAD = 60.0  # seconds that a snapshot may lie in the future


class UnusableSnapshot(Exception):
    """Its text is a sentence that says why a snapshot cannot be used."""

    def __init__(self, reason: str) -> None:
        super().__init__(one_line(reason))


class SnapshotChecks:
    """Checks the snapshots of one sensor, one after the other."""

    def __init__(self, sensor: SensorSettings, now: Callable[[], float] | None) -> None:
        """`now` gives seconds since 1970; None where recordings are played at their own times."""
        self._sensor, self._now = sensor, now
        self._last = -math.inf  # time of the last one that could be used

    def check(self, snapshot: Snapshot, learned: SnapshotForm | None) -> Snapshot:
        """The snapshot with the names of its axes in the order of the settings.

        `learned`: form of the snapshots of the baseline. Raises UnusableSnapshot.
        """
        self._check_time(snapshot.time)
        snapshot = self._with_axes(snapshot)
        self._check_size(snapshot)
        self._check_values(snapshot)
        if learned is not None:
            _check_form(form_of(snapshot), learned)
        self._last = snapshot.time
        return snapshot

    def _check_time(self, time: float) -> None:
        if not math.isfinite(time):
            raise UnusableSnapshot(Sentence("snapshots.noTime"))
        ahead = 0.0 if self._now is None else time - self._now()
        if ahead > _MOST_AHEAD:
            raise UnusableSnapshot(Sentence("snapshots.inTheFuture", seconds=round(ahead)))
        if time == self._last:
            raise UnusableSnapshot(Sentence("snapshots.sameTime"))
        if time < self._last:
            older = round(self._last - time)
            raise UnusableSnapshot(Sentence("snapshots.outOfOrder", seconds=older))

    def _with_axes(self, snapshot: Snapshot) -> Snapshot:
        count, wanted = len(snapshot.samples), self._sensor.axes
        if not 1 <= count <= _MOST_AXES:
            raise UnusableSnapshot(Sentence("snapshots.axisCount", axes=count, most=_MOST_AXES))
        if not wanted:
            numbers = tuple(str(number) for number in range(1, count + 1))
            return replace(snapshot, axes=snapshot.axes or (("",) if count == 1 else numbers))
        if not snapshot.axes:
            if count != len(wanted):
                raise UnusableSnapshot(Sentence("snapshots.otherAxes", count=count, wanted=wanted))
            return replace(snapshot, axes=wanted)
        if missing := [axis for axis in wanted if axis not in snapshot.axes]:
            raise UnusableSnapshot(
                Sentence("snapshots.missingAxes", missing=missing, axes=snapshot.axes)
            )
        rows = [snapshot.axes.index(axis) for axis in wanted]
        return replace(snapshot, samples=snapshot.samples[rows], axes=wanted)

    def _check_size(self, snapshot: Snapshot) -> None:
        rate, count = snapshot.sample_rate, snapshot.samples.shape[1]
        if not _RATES[0] <= rate <= _RATES[1]:
            raise UnusableSnapshot(
                Sentence("snapshots.wrongRate", rate=rate, lowest=_RATES[0], highest=_RATES[1])
            )
        if count < _FEWEST_SAMPLES:
            raise UnusableSnapshot(
                Sentence("snapshots.tooShort", samples=count, fewest=_FEWEST_SAMPLES)
            )

    def _check_values(self, snapshot: Snapshot) -> None:
        samples = snapshot.samples
        if not np.isfinite(samples).all():
            raise UnusableSnapshot(Sentence("snapshots.notNumbers"))
        if not samples.any():
            raise UnusableSnapshot(Sentence("snapshots.allZero"))
        dead = [axis for axis, row in zip(snapshot.axes, samples, strict=True) if np.ptp(row) == 0]
        if dead:
            if not dead[0]:
                raise UnusableSnapshot(Sentence("snapshots.deadSensor"))
            raise UnusableSnapshot(Sentence("snapshots.deadAxis", axis=dead[0]))
        largest = float(np.abs(samples).max())
        if largest > _LARGEST:
            shown = float(f"{largest * self._sensor.scale:.3g}")
            if not self._sensor.unit:
                raise UnusableSnapshot(Sentence("snapshots.tooLargeWithoutUnit", largest=shown))
            raise UnusableSnapshot(
                Sentence("snapshots.tooLarge", largest=shown, unit=self._sensor.unit)
            )


def form_of(snapshot: Snapshot) -> SnapshotForm:
    """What a snapshot must have in common with those of its baseline."""
    return SnapshotForm(snapshot.axes, snapshot.sample_rate, snapshot.samples.shape[1])


def _check_form(form: SnapshotForm, learned: SnapshotForm) -> None:
    if form.sample_rate != learned.sample_rate:
        raise UnusableSnapshot(
            Sentence(
                "snapshots.learnedAtOtherRate",
                rate=describe_rate(form.sample_rate),
                learned=describe_rate(learned.sample_rate),
            )
        )
    if form.samples != learned.samples:
        raise UnusableSnapshot(
            Sentence(
                "snapshots.learnedAtOtherLength", samples=form.samples, learned=learned.samples
            )
        )
    if form.axes != learned.axes:
        raise UnusableSnapshot(
            Sentence(
                "snapshots.learnedWithOtherAxes",
                axes=_described(form.axes),
                learned=_described(learned.axes),
            )
        )


def _described(axes: tuple[str, ...]) -> Sentence:
    if axes == ("",):
        return Sentence("snapshots.oneAxis")
    return Sentence("snapshots.axes", count=len(axes), names=axes)
