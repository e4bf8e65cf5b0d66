"""The normal sound of snapshots, axis by axis."""

from __future__ import annotations

import numpy as np

from ssdpt.alarms.snapshot_judge import SnapshotForm
from ssdpt.monitor.learning.snapshot_sounds import SnapshotSounds

RATE = 2000


def noise(rng, *levels, samples=RATE):
    """(axes, samples) at these levels, dB."""
    gains = 10 ** (np.array(levels)[:, None] / 20)
    return (gains * rng.standard_normal((len(levels), samples))).astype(np.float32)


def learned(levels, axes=("",), samples=RATE):
    rng = np.random.default_rng(0)
    sounds = SnapshotSounds(SnapshotForm(axes, RATE, samples))
    for level in levels:
        sounds.add(
            noise(rng, *(level - 10 * number for number in range(len(axes))), samples=samples)
        )
    return sounds.learn()


def test_each_axis_has_its_own():
    sounds = learned([-20.0] * 10, axes=("x", "y"))
    assert list(sounds) == ["x", "y"]
    difference = np.median(sounds["x"].levels_db) - np.median(sounds["y"].levels_db)
    assert abs(difference - 10) < 0.5


def test_many_snapshots_are_spread_over_the_time():
    levels = np.linspace(-30.0, -20.0, 1000)
    kept = learned(levels)[""].levels_db
    assert 64 <= len(kept) <= 128
    np.testing.assert_allclose(kept, np.linspace(kept[0], kept[0] + 10, len(kept)), atol=1.0)


def test_short_snapshots_are_measured_together():
    kept = learned([-20.0] * 45, samples=200)[""].levels_db
    assert len(kept) == 4  # ten at a time; five are left over


def test_a_machine_that_was_off_is_not_learned():
    kept = learned([-20.0] * 8 + [-70.0] * 4)[""].levels_db
    assert len(kept) == 8


def test_too_few_are_no_reference():
    assert learned([-20.0, -20.0]) == {}
