"""Snapshots that cannot be used are told apart, each by a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from bearing import BEGAN, EVERY, RATE, SAMPLES, bearing, snapshot

from ssdpt.alarms.snapshot_judge import SnapshotForm
from ssdpt.monitor.capture.snapshot_checks import SnapshotChecks, UnusableSnapshot, form_of
from ssdpt.monitor.config import SensorSettings

GRAVITY = SensorSettings(unit="g", full_scale=50, snapshots=True)
LEARNED = SnapshotForm(("",), RATE, SAMPLES)


def checks(sensor=GRAVITY, now=BEGAN + 1e6):
    return SnapshotChecks(sensor, None if now is None else lambda: now)


def test_a_healthy_snapshot_can_be_used():
    accepted = checks().check(snapshot(0), LEARNED)
    assert form_of(accepted) == LEARNED


def with_value(value, at=100):
    samples = bearing()
    samples[at] = value
    return samples


@pytest.mark.parametrize(
    ("measured", "sentence"),
    [
        (snapshot(1, np.zeros(SAMPLES, np.float32)), "all of its values are 0: check the sensor"),
        (
            snapshot(1, np.full(SAMPLES, 0.3, np.float32)),
            "the sensor is dead, all of its values are the same",
        ),
        (
            snapshot(1, bearing(), np.zeros(SAMPLES, np.float32), axes=("x", "y")),
            "axis y is dead, all of its values are the same",
        ),
        (snapshot(1, with_value(18.0)), "values up to 900 g: is the unit or full_scale right?"),
        (snapshot(1, with_value(np.nan)), "some of its values are not numbers"),
        (snapshot(1, with_value(np.inf)), "some of its values are not numbers"),
        (snapshot(1, bearing()[:100]), "100 samples are too few to be judged: send at least 256"),
        (snapshot(1, rate=25_600), "its sample rate is 25.6 kHz, but the baseline was learned"),
        (snapshot(1, bearing()[:1000]), "it has 1000 samples, but the baseline was learned from"),
        (snapshot(1, bearing(), bearing(1)), "it has 2 axes (1, 2), but the baseline was learned"),
        (snapshot(1, *[bearing()] * 9), "it has 9 axes; 1 to 8 are judged"),
        (snapshot(1, rate=500), "a sample rate of 500 Hz cannot be judged"),
        (snapshot(200_000), "in the future: set the sender's clock right"),
        (snapshot(np.nan), "its time is not a number"),
        (snapshot(0), "it has the time of the one before: was it sent twice?"),
        (snapshot(-3), "times out of order: it is 30 s older than the one before"),
    ],
)
def test_what_is_wrong_is_said(measured, sentence):
    checker = checks()
    checker.check(snapshot(0), LEARNED)
    with pytest.raises(UnusableSnapshot, match=r".*") as caught:
        checker.check(measured, LEARNED)
    assert sentence in str(caught.value)
    # It changes nothing for those that follow.
    checker.check(snapshot(2), LEARNED)


def test_axes_have_the_names_and_the_order_of_the_settings():
    checker = checks(GRAVITY.model_copy(update={"axes": ("x", "y")}))
    x, y = bearing(1), bearing(2)
    np.testing.assert_array_equal(checker.check(snapshot(0, x, y), None).samples, [x, y])
    accepted = checker.check(snapshot(1, y, x, x, axes=("y", "z", "x")), None)
    assert accepted.axes == ("x", "y")
    np.testing.assert_array_equal(accepted.samples, [x, y])
    with pytest.raises(UnusableSnapshot, match="it has no axis x, only y, z"):
        checker.check(snapshot(2, y, x, axes=("y", "z")), None)
    with pytest.raises(UnusableSnapshot, match="it has 1 axis, but the settings name x, y"):
        checker.check(snapshot(2, y), None)


def test_axes_without_names_are_numbered():
    assert checks().check(snapshot(0, bearing(), bearing(1)), None).axes == ("1", "2")
    assert checks().check(snapshot(0), None).axes == ("",)


def test_what_is_played_may_run_ahead_of_the_clock():
    played = SnapshotChecks(GRAVITY, None)
    assert played.check(snapshot(10**9), None).time == BEGAN + EVERY * 10**9


def test_without_a_unit_full_scale_is_what_counts():
    with pytest.raises(UnusableSnapshot, match="values up to 18 times full scale"):
        checks(SensorSettings(snapshots=True)).check(snapshot(0, with_value(18.0)), None)
