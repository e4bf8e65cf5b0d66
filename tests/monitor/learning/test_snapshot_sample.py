"""The normal sample of a machine that sends snapshots."""

from __future__ import annotations

import numpy as np

from ssdpt.alarms.snapshot_judge import SnapshotForm
from ssdpt.monitor.learning.snapshot_sample import SnapshotSample

RATE = 2000


def sample_of(levels, samples=RATE // 10, axes=("x", "y")):
    sample = SnapshotSample(SnapshotForm(axes, RATE, samples))
    for level in levels:
        sample.add(np.full((len(axes), samples), level, np.float32))
    return sample.sound()


def test_spread_over_all_the_time_that_is_learned():
    levels = np.linspace(0.1, 0.2, 1000)
    sound = sample_of(levels)
    assert sound.shape == (2, 60 * RATE // 10)
    assert sound[0, 0] == np.float32(0.1)
    assert sound[0, -1] > 0.19


def test_few_are_all_there():
    assert sample_of([0.1, 0.2, 0.3]).shape == (2, 3 * RATE // 10)


def test_long_snapshots_are_few():
    assert sample_of([0.1] * 100, samples=3 * RATE).shape == (2, 9 * RATE)
    assert sample_of([0.1] * 5, samples=30 * RATE).shape == (2, 30 * RATE)


def test_the_machine_when_it_was_off_is_not_in_it():
    assert sample_of([0.1] * 20 + [0.001] * 15 + [0.1] * 20).min() == np.float32(0.1)
