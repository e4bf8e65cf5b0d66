"""Sums of readings over a week."""

from __future__ import annotations

import math

import pytest
from store_data import BEGIN, readings

from ssdpt.monitor.config.monitor_config import RetentionSettings


@pytest.mark.parametrize("rolled_up", [False, True])
def test_a_summary_is_the_same_from_seconds_and_from_hours(store, rolled_up):
    bands = (-30.0, -40.0)
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 60, bands_db=bands))
    store.add_readings(readings("fan-1", BEGIN + 60, [3.0] * 20, state="alarm", level_dbfs=-20.0))
    store.add_readings(readings("fan-1", BEGIN + 80, [None] * 40, state="off"))
    if rolled_up:
        store.roll_up(BEGIN + 7200)
    summary = store.summary("fan-1", BEGIN, BEGIN + 3600)
    assert (summary.readings, summary.scored) == (120, 80)
    assert summary.score == pytest.approx(1.5)
    assert summary.highest_score == 3.0
    assert summary.level_db == pytest.approx((100 * -30 + 20 * -20) / 120)
    assert (summary.alert_seconds, summary.alarm_seconds) == (0, 20)
    assert summary.bands_db[0] == pytest.approx(-30.0, abs=0.01)
    assert math.isnan(summary.bands_db[2])
    assert store.first_reading("fan-1") == BEGIN
    assert store.summary("fan-1", BEGIN + 3600, BEGIN + 7200).readings == 0


def test_parts_of_an_hour_count_by_the_quarter(store):
    """India begins its days in the middle of an hour of UTC."""
    store.add_readings(readings("fan-1", BEGIN + 1700, [1.0] * 200))
    store.roll_up(BEGIN + 86400)
    assert store.summary("fan-1", BEGIN + 1800, BEGIN + 5400).readings == 100


def test_what_was_before_the_first_sound_is_not_lost(store):
    """The hour of the first sound began before it."""
    store.add_readings(readings("fan-1", BEGIN + 1900.0, [1.0] * 200))
    assert store.first_reading("fan-1") == BEGIN + 1900
    store.roll_up(BEGIN + 86400)
    assert store.first_reading("fan-1") == BEGIN + 1900
    store.retain(BEGIN + 8 * 86400, RetentionSettings())  # without the seconds
    assert store.first_reading("fan-1") == BEGIN + 1860
    store.retain(BEGIN + 400 * 86400, RetentionSettings())
    assert store.first_reading("fan-1") == BEGIN


def test_a_machine_that_was_never_heard(store):
    summary = store.summary("none", BEGIN, BEGIN + 3600)
    assert (summary.readings, summary.score, summary.level_db) == (0, None, None)
    assert store.first_reading("none") is None
