"""The meter of the loop's load."""

from __future__ import annotations

import pytest

from ssdpt.monitor.service.load_meter import LoadMeter


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_scoring_and_other_work_are_told_apart():
    clock = Clock()
    meter = LoadMeter(clock)
    with meter.working():
        clock.now += 1.0
        with meter.scoring():
            clock.now += 0.5
        clock.now += 0.5
    assert meter.take() is None  # the period is not over
    clock.now += 3.0
    load = meter.take()
    assert (load.seconds, load.scoring, load.other) == pytest.approx((5.0, 0.1, 0.3))
    clock.now += 4.0
    assert (meter.take().scoring, meter.take()) == (0.0, None)


def test_work_that_fails_counts_too():
    clock = Clock()
    meter = LoadMeter(clock)

    def fail():
        with meter.working(), meter.scoring():
            clock.now += 3.0
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert meter.take().scoring == pytest.approx(1.0)
