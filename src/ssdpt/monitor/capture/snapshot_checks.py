"""Whether a snapshot can be used: nothing is learned from others, and none of them is judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ssdpt.alarms.snapshot_judge import SnapshotForm
from ssdpt.data.audio import describe_rate
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources.snapshot import Snapshot

_MOST_AXES = 8
_FEWEST_SAMPLES = 256  # for eight bands, the lowest of two lines
_RATES = (1000, 384_000)  # Hz
_LARGEST = 1.5  # times full scale; shocks may pass full scale a little, other units pass it far
_MOST_AHEAD = 60.0  # seconds that a snapshot may lie in the future


class UnusableSnapshot(Exception):
    """Its text is a sentence that says why a snapshot cannot be used."""


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
            raise UnusableSnapshot("its time is not a number")
        ahead = 0.0 if self._now is None else time - self._now()
        if ahead > _MOST_AHEAD:
            raise UnusableSnapshot(
                f"its time lies {ahead:.0f} s in the future: set the sender's clock right, and "
                "send times in UTC"
            )
        if time == self._last:
            raise UnusableSnapshot("it has the time of the one before: was it sent twice?")
        if time < self._last:
            raise UnusableSnapshot(
                f"times out of order: it is {self._last - time:.0f} s older than the one before"
            )

    def _with_axes(self, snapshot: Snapshot) -> Snapshot:
        count, wanted = len(snapshot.samples), self._sensor.axes
        if not 1 <= count <= _MOST_AXES:
            raise UnusableSnapshot(f"it has {count} axes; 1 to {_MOST_AXES} are judged")
        if not wanted:
            numbers = tuple(str(number) for number in range(1, count + 1))
            return replace(snapshot, axes=snapshot.axes or (("",) if count == 1 else numbers))
        if not snapshot.axes:
            if count != len(wanted):
                raise UnusableSnapshot(
                    f"it has {_axes(count)}, but the settings name {', '.join(wanted)}"
                )
            return replace(snapshot, axes=wanted)
        if missing := [axis for axis in wanted if axis not in snapshot.axes]:
            raise UnusableSnapshot(
                f"it has no axis {', '.join(missing)}, only {', '.join(snapshot.axes)}"
            )
        rows = [snapshot.axes.index(axis) for axis in wanted]
        return replace(snapshot, samples=snapshot.samples[rows], axes=wanted)

    def _check_size(self, snapshot: Snapshot) -> None:
        rate, count = snapshot.sample_rate, snapshot.samples.shape[1]
        if not _RATES[0] <= rate <= _RATES[1]:
            raise UnusableSnapshot(
                f"a sample rate of {rate} Hz cannot be judged; send {_RATES[0]} to {_RATES[1]}"
            )
        if count < _FEWEST_SAMPLES:
            raise UnusableSnapshot(
                f"{count} samples are too few to be judged: send at least {_FEWEST_SAMPLES}"
            )

    def _check_values(self, snapshot: Snapshot) -> None:
        samples = snapshot.samples
        if not np.isfinite(samples).all():
            raise UnusableSnapshot("some of its values are not numbers (NaN or infinite)")
        if not samples.any():
            raise UnusableSnapshot("all of its values are 0: check the sensor and its cable")
        dead = [axis for axis, row in zip(snapshot.axes, samples, strict=True) if np.ptp(row) == 0]
        if dead:
            name = f"axis {dead[0]}" if dead[0] else "the sensor"
            raise UnusableSnapshot(f"{name} is dead, all of its values are the same")
        largest = float(np.abs(samples).max())
        if largest > _LARGEST:
            unit = f" {self._sensor.unit}" if self._sensor.unit else " times full scale"
            raise UnusableSnapshot(
                f"values up to {largest * self._sensor.scale:.3g}{unit}: is the unit or full_scale "
                "right?"
            )


def form_of(snapshot: Snapshot) -> SnapshotForm:
    """What a snapshot must have in common with those of its baseline."""
    return SnapshotForm(snapshot.axes, snapshot.sample_rate, snapshot.samples.shape[1])


def _check_form(form: SnapshotForm, learned: SnapshotForm) -> None:
    if form.sample_rate != learned.sample_rate:
        raise UnusableSnapshot(
            f"its sample rate is {describe_rate(form.sample_rate)}, but the baseline was learned "
            f"at {describe_rate(learned.sample_rate)}: learn a new baseline"
        )
    if form.samples != learned.samples:
        raise UnusableSnapshot(
            f"it has {form.samples} samples, but the baseline was learned from snapshots of "
            f"{learned.samples}: learn a new baseline"
        )
    if form.axes != learned.axes:
        raise UnusableSnapshot(
            f"it has {_axes(len(form.axes))} ({', '.join(form.axes)}), but the baseline was "
            f"learned from {_axes(len(learned.axes))} ({', '.join(learned.axes)}): learn a new "
            "baseline"
        )


def _axes(count: int) -> str:
    return "1 axis" if count == 1 else f"{count} axes"
