"""Seconds that are not scored or not looked at: durations count time, and nothing is forgotten."""

from __future__ import annotations

import numpy as np
import pytest
from machine_by_hand import RATE, SETTINGS, Machine, events, states

from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.monitor.learning.references import LIVE_SECONDS
from ssdpt.monitor.messages import ReadingTaken

RNG = np.random.default_rng(0)
QUIET = (0.01 * RNG.standard_normal(RATE)).astype(np.float32)
TONE = QUIET + (0.1 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE)).astype(np.float32)


@pytest.fixture
def machine():
    machine = Machine()
    machine.seconds(20)
    return machine


def every_fourth(machine, seconds, how, **like):
    """Seconds of which every fourth is scored; the others are left out as `how` says."""
    messages = []
    for _ in range(seconds // 4):
        messages += getattr(machine, how)(3) or []
        messages += machine.seconds(1, **like)
    return messages


def test_an_unscored_second_has_a_reading_with_the_level_as_it_was(machine):
    scored = machine.monitor.last
    (message,) = [one for one in machine.unscored(1, dbfs=-25.0) if isinstance(one, ReadingTaken)]
    assert message.reading.state == "normal"
    assert message.reading.level_dbfs == -25.0
    assert message.reading.score is None
    assert (message.reading.smoothed, message.reading.p_value) == (scored.smoothed, scored.p_value)


def test_unscored_seconds_neither_begin_nor_end_an_event(machine):
    (event,) = events(machine.seconds(5, score=99.0))
    assert not events(machine.unscored(60))
    assert machine.monitor.state == "alarm"
    assert machine.monitor.events.ongoing["anomaly"].id == event.id


@pytest.mark.parametrize("how", ["unscored", "skipped"])
def test_an_alarm_begins_and_ends_by_time_not_by_number_of_scores(machine, how):
    begun = machine.now
    (event, *_) = events(every_fourth(machine, 12, how, score=99.0))
    # The first unusual score, then the least duration of 2 s with the next one.
    assert event.began == begun + 8
    begun = machine.now
    ended = [one for one in events(every_fourth(machine, 24, how)) if one.ended is not None]
    # Smoothed over one second, then 3 s below the exit threshold with the next score.
    assert ended[0].ended == begun + 8


def test_a_machine_off_between_two_scores_is_off(machine):
    machine.monitor.normal.running.off_below_dbfs = -50.0
    messages = machine.unscored(10, dbfs=-80.0)
    assert states(messages) == ["off"]


def test_indicators_of_seconds_that_were_skipped_count():
    machine = Machine()
    machine.seconds(LIVE_SECONDS + 5, sound=QUIET)
    begun = machine.now
    messages = []
    for _ in range(5):
        machine.skipped(3, sound=TONE)
        messages += machine.seconds(1, sound=TONE)
    (event,) = events(messages)
    # Ten seconds of the tone are an alert: it is seen with the next second that is looked at.
    assert event.began == begun + 12
    (point,) = machine.status.change_points
    assert point.time == begun


def test_the_operating_point_is_that_of_the_last_ten_seconds_of_sound(machine):
    spectra = np.array([machine.frames(sound).mean(0) for sound in (QUIET, TONE)] * 20)
    machine.monitor.judge.baseline.points = OperatingPoints.learn(
        spectra, np.full(40, -30.0), np.zeros(40)
    )
    machine.seconds(10, sound=QUIET)
    quiet = machine.monitor.operating_point
    machine.skipped(7, sound=TONE)
    machine.seconds(1, sound=TONE)
    assert machine.monitor.operating_point != quiet


def test_what_is_close_to_an_alert_is_urgent(machine):
    assert not machine.monitor.urgent
    machine.seconds(1, score=machine.status.thresholds.alert)
    assert machine.monitor.state == "normal"
    assert machine.monitor.urgent
    machine.seconds(5)
    assert not machine.monitor.urgent
    machine.seconds(5, score=99.0)
    machine.unscored(1)
    assert machine.monitor.urgent


def test_a_long_pause_counts_as_ten_seconds_at_most(machine):
    blocks = machine.monitor.judge.baseline.blocks
    before = blocks._seconds
    machine.skipped(60)
    machine.seconds(1)
    assert blocks._seconds - before == pytest.approx(10.0)


def test_settings_that_change_lose_no_second(machine):
    machine.skipped(3)
    again = Machine(SETTINGS)
    again.monitor.capture = again.capture = machine.capture
    again.monitor.continue_from(machine.monitor)
    assert not again.monitor.due
