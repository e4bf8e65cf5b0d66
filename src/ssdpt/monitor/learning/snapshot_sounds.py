"""Learns what normal snapshots sound like, axis by axis, so that a change can be named."""

from __future__ import annotations

import numpy as np

from ssdpt.alarms.running import OFF_BELOW_DB
from ssdpt.alarms.snapshot_judge import SnapshotForm
from ssdpt.alarms.sound_reference import FEWEST_CLIPS, MOST_CLIPS, SoundReference, together
from ssdpt.features.condition_spectrum import ConditionSpectrum, SpectrumMeter
from ssdpt.types import Floats

Sounds = dict[str, SoundReference]  # by axis


class SnapshotSounds:
    """Measures the snapshots of one form, short ones several together; no sound is kept."""

    def __init__(self, form: SnapshotForm) -> None:
        self._form = form
        self._meter = SpectrumMeter(form.sample_rate)
        self._together = together(form.samples, form.sample_rate)
        self._group: list[Floats] = []  # (axes, samples) each
        self._spectra: list[tuple[ConditionSpectrum, ...]] = []  # of each group, by axis
        self._every, self._skip = 1, 0  # one of so many groups is measured; snapshots to leave out

    def add(self, samples: Floats) -> None:
        """One more snapshot (axes, samples)."""
        if self._skip:
            self._skip -= 1
            return
        self._group.append(samples)
        if len(self._group) < self._together:
            return
        by_axis = zip(*self._group, strict=True)
        self._spectra.append(tuple(self._meter.of(pieces) for pieces in by_axis))
        self._group = []
        if len(self._spectra) == 2 * MOST_CLIPS:
            # As many as are needed, spread over all the time that is learned.
            del self._spectra[1::2]
            self._every *= 2
        self._skip = (self._every - 1) * self._together

    def learn(self) -> Sounds:
        """The reference of each axis; none where there are too few snapshots."""
        levels = [max(axis.level_db for axis in group) for group in self._spectra]
        off_below = np.median(levels) - OFF_BELOW_DB if levels else 0.0
        running = [
            group for group, level in zip(self._spectra, levels, strict=True) if level >= off_below
        ]
        if len(running) < FEWEST_CLIPS:
            return {}
        return {
            axis: SoundReference.of([group[number] for group in running], self._form.sample_rate)
            for number, axis in enumerate(self._form.axes)
        }
