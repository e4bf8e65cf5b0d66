"""Operating data that another program sends, and how old values end."""

from __future__ import annotations

import math
import re

import pytest

from ssdpt.errors import SsdptError
from ssdpt.monitor.operating import open_operating_data
from ssdpt.monitor.operating.pushed_operating_data import PushedOperatingDataSettings
from ssdpt.monitor.sources.clock import Clock


class HandClock(Clock):
    """Moved on by hand."""

    now = 0.0

    def wall(self):
        return 1_700_000_000.0 + self.now

    def steady(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


def opened(**settings):
    clock = HandClock()
    return open_operating_data(PushedOperatingDataSettings(**settings), clock), clock


def known(source):
    data = source.data
    return data.running, data.speed_rpm, data.load_percent


def test_values_are_kept_until_they_are_too_old():
    source, clock = opened(max_age=60)
    assert source.data is None
    assert not source.status.connected
    source.push(running=True, speed_rpm=1480)
    clock.advance(50)
    source.push(load_percent=60)
    assert known(source) == (True, 1480, 60)
    clock.advance(11)
    assert known(source) == (None, None, 60)
    clock.advance(60)
    assert known(source) == (None, None, None)
    assert source.data.at == pytest.approx(clock.wall() - 71)
    source.push(running=False)
    assert known(source) == (False, None, None)


def test_without_a_greatest_age_values_last():
    source, clock = opened(max_age=None)
    source.push(running=True)
    clock.advance(1e6)
    assert known(source) == (True, None, None)


def test_a_speed_can_say_whether_it_runs():
    source, clock = opened(running_above_rpm=100, max_age=10)
    source.push(speed_rpm=100)
    assert known(source)[0] is False
    source.push(speed_rpm=101)
    assert known(source)[0] is True
    source.push(running=False)
    assert known(source)[0] is False  # what is said outright counts
    clock.advance(11)
    assert known(source)[0] is None


@pytest.mark.parametrize(
    ("speed", "text"),
    [
        (-1.0, "a speed of -1 rpm is not plausible (0 to 100,000 rpm)"),
        (6e10, "a speed of 60,000,000,000 rpm is not plausible (0 to 100,000 rpm)"),
        (1e300, "a speed of more than 1,000,000,000,000 rpm is not plausible (0 to 100,000 rpm)"),
        (
            -math.inf,
            "a speed of less than -1,000,000,000,000 rpm is not plausible (0 to 100,000 rpm)",
        ),
        (math.nan, "'nan' is not a finite number"),
    ],
)
@pytest.mark.parametrize("max_age", [60, None])
def test_a_speed_that_jumps_is_missing_and_named(speed, text, max_age):
    source, _ = opened(max_age=max_age)
    source.push(speed_rpm=1480)
    with pytest.raises(SsdptError, match=re.escape(text)):
        source.push(speed_rpm=speed, load_percent=50)
    assert known(source) == (None, None, 50)  # missing: the speed before is no longer measured
    assert source.status.message == f"values arrive by HTTP; 1 value left out, the last: {text}"
    source.push(speed_rpm=1490)
    assert known(source) == (None, 1490, 50)


def test_limits_are_the_machines_own():
    source, _ = opened(max_speed_rpm=3000, max_load_percent=120)
    with pytest.raises(SsdptError, match="a load of 121 % is not plausible"):
        source.push(load_percent=121)
    with pytest.raises(SsdptError, match="a speed of 3001 rpm"):
        source.push(speed_rpm=3001)
