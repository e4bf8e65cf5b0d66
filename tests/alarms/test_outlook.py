"""When a machine will reach alarm: said where the trend is clear, silent elsewhere."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from ssdpt.alarms import outlook
from ssdpt.alarms.outlook import TrendOutlook

MINUTE = 60.0


def follow(ways, every=MINUTE):
    trend = TrendOutlook()
    for number, way in enumerate(ways):
        trend.update(every * number, float(way))
    return trend, every * len(ways)


def test_example_in_the_docstring():
    assert doctest.testmod(outlook).failed == 0


@pytest.mark.parametrize("seed", range(3))
def test_steady_rise_is_extrapolated(seed):
    noise = 0.03 * np.random.default_rng(seed).standard_normal(300)
    trend, now = follow(np.linspace(0, 0.8, 300) + noise)
    said = trend.outlook(now)
    reached = 300 * MINUTE / 0.8
    assert said.earliest < reached < said.latest
    assert said.earliest > now


@pytest.mark.parametrize(
    "ways",
    [
        np.full(300, 0.3),
        np.linspace(0.9, 0.1, 300),
        np.linspace(0.0, 0.1, 300),  # far from alarm
        np.linspace(0.3, 0.35, 300),  # too slow: further away than it was seen
        np.linspace(0.5, 1.5, 300),  # it is there already
        np.linspace(0.0, 0.9, 8),  # too short
    ],
    ids=["level", "falling", "far", "slow", "reached", "short"],
)
def test_silent_where_the_trend_cannot_tell(ways):
    trend, now = follow(ways)
    assert trend.outlook(now) is None


def test_random_walk_seldom_has_an_outlook():
    said = 0
    for seed in range(40):
        steps = 0.01 * np.random.default_rng(seed).standard_normal(400)
        trend, now = follow(0.4 + np.cumsum(steps))
        said += trend.outlook(now) is not None
    assert said <= 4


def test_years_fit_and_restarts_change_nothing():
    ways = np.linspace(0, 0.9, 3000)
    trend, now = follow(ways, every=3600.0)
    state = trend.to_json()
    assert len(state["buckets"]) <= 256
    restored = TrendOutlook.from_json(state)
    assert restored.outlook(now).earliest == pytest.approx(trend.outlook(now).earliest, rel=1e-4)


def test_new_baseline_starts_again():
    trend, now = follow(np.linspace(0, 0.8, 300))
    trend.reset()
    assert trend.outlook(now) is None


def test_clock_set_back_does_no_harm():
    trend, _ = follow(np.linspace(0, 0.8, 300))
    trend.update(10.0, 0.8)
    trend.update(20.0, 0.8)
    assert trend.outlook(300 * MINUTE) is not None
