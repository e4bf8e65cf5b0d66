"""A lasting change far outside all that was learned is an alert, though thresholds are unsure."""

from __future__ import annotations

import json

import numpy as np
import pytest
from machine_by_hand import RATE, Machine, events

from ssdpt.monitor.learning.references import LIVE_SECONDS

RNG = np.random.default_rng(0)
QUIET = (0.01 * RNG.standard_normal(RATE)).astype(np.float32)
TONE = QUIET + (0.1 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE)).astype(np.float32)


@pytest.fixture
def machine():
    """One whose references are known."""
    machine = Machine()
    machine.seconds(LIVE_SECONDS + 5, sound=QUIET)
    return machine


def test_a_tone_that_no_score_shows_is_an_alert_after_ten_seconds(machine):
    assert machine.status.thresholds.provisional
    assert not events(machine.seconds(9, sound=TONE))
    (event,) = events(machine.seconds(1, sound=TONE))
    assert (event.kind, event.level, event.threshold) == ("anomaly", "alert", None)
    assert machine.monitor.state == "alert"
    (point,) = machine.status.change_points
    assert (point.time, point.level) == (machine.now - 10, "alert")
    finding = point.findings[0]
    assert finding.low_hz < 1000 < finding.high_hz
    assert finding.db > 15
    # It goes on as long as the tone does, and is never more than an alert.
    assert not events(machine.seconds(600, sound=TONE))
    (ended,) = events(machine.seconds(20, sound=QUIET))
    assert ended.id == event.id
    assert len(machine.status.change_points) == 1


def test_what_sounds_like_a_fault_sets_no_thresholds_and_can_be_accepted(machine):
    before = len(machine.monitor.judge.baseline.blocks.highest)
    machine.seconds(1500, sound=TONE)
    assert len(machine.monitor.judge.baseline.blocks.highest) <= before + 1
    assert machine.monitor.judge.can_accept_drift
    machine.monitor.accept_drift()
    assert machine.seconds(30, sound=TONE)[-1].reading.state == "normal"


def test_the_level_is_the_higher_of_the_two(machine):
    thresholds = machine.status.thresholds
    machine.seconds(12, sound=TONE)
    (worse,) = events(machine.seconds(8, sound=TONE, score=thresholds.alarm + 9))
    assert worse.level == "alarm"
    assert [point.level for point in machine.status.change_points] == ["alert", "alarm"]


def test_readings_and_status_have_the_bands(machine):
    machine.seconds(1, sound=TONE)
    bands, reading = machine.status.bands, machine.monitor.last
    assert len(bands) == len(reading.bands_db) == 8
    assert [band.now_db for band in bands] == list(reading.bands_db)
    tone = next(band for band in bands if band.low_hz < 1000 < band.high_hz)
    assert tone.usual_db < tone.alert_db < tone.now_db
    assert tone.alarm_db == pytest.approx(tone.alert_db + 4.0)
    sensor = machine.status.sensor
    assert (sensor.unit, sensor.full_scale, sensor.sample_rate, sensor.axes) == ("", 1, RATE, ())
    assert sensor.at_intervals  # pushed recordings
    assert Machine().status.bands == ()


def test_change_points_outlive_a_restart_and_the_last_fifty_are_kept(machine):
    machine.seconds(12, sound=TONE)
    machine.monitor.model.digest = "d"
    kept = json.loads(json.dumps(machine.monitor.learned_values()))
    again = Machine()
    again.monitor.model.digest = "d"
    again.monitor.restore_values(kept.get)
    assert again.status.change_points == machine.status.change_points
    assert again.status.bands == tuple(
        band.model_copy(update={"now_db": pytest.approx(band.now_db, nan_ok=True)})
        for band in again.status.bands
    )
    # The restored machine is compared with the same indicators.
    (event,) = events(again.seconds(15, sound=TONE))
    assert event.baseline_learned_at == machine.status.baseline.learned_at
    for _ in range(60):
        machine.monitor.change_points.append(machine.monitor.change_points[-1])
    assert len(machine.status.change_points) == 50
