"""What a machine is compared with stays what it was, until a person wants it otherwise."""

from __future__ import annotations

import json

import numpy as np
import pytest
from machine_by_hand import RATE, Machine, events

from ssdpt.monitor.learning.references import LIVE_SECONDS

RNG = np.random.default_rng(0)
QUIET = (0.01 * RNG.standard_normal(RATE)).astype(np.float32)
SLIGHTLY_LOUDER = 1.7 * QUIET  # 4.6 dB: within the limits of change
LOUD = (0.1 * RNG.standard_normal(RATE)).astype(np.float32)


def band(machine):
    return machine.monitor.references.spectrum.compare(machine.capture.frequencies, None, 0).mean


@pytest.fixture
def machine():
    """One that has run normally until its references are complete."""
    machine = Machine()
    machine.seconds(LIVE_SECONDS - 1, sound=QUIET)
    assert machine.status.baseline is None
    machine.seconds(1, sound=QUIET)
    return machine


def test_the_first_minutes_of_normal_running_are_the_references_of_a_named_model(machine):
    baseline = machine.status.baseline
    assert (baseline.learned_at, baseline.recordings) == (machine.now, 3)
    assert baseline.commissioned_at is None
    assert machine.monitor.references.usual_dbfs == pytest.approx(-37, abs=0.5)
    np.testing.assert_array_equal(machine.monitor.normal.sample[-RATE:], QUIET)


def test_a_fault_that_stays_unnoticed_becomes_neither_sample_nor_band(machine):
    learned_at, normal_band = machine.status.baseline.learned_at, band(machine)
    machine.seconds(2 * LIVE_SECONDS, sound=SLIGHTLY_LOUDER, dbfs=-25.0)
    assert machine.monitor.state == "normal"
    assert band(machine) == normal_band
    np.testing.assert_array_equal(machine.monitor.normal.sample[-RATE:], QUIET)
    assert machine.monitor.normal.running.usual_dbfs == pytest.approx(-30.0)
    assert machine.status.baseline.learned_at == learned_at


def test_an_alarm_is_no_part_of_the_references():
    machine = Machine()
    machine.seconds(300, sound=QUIET)
    machine.seconds(400, sound=LOUD, score=99.0)
    machine.seconds(310, sound=QUIET)
    assert machine.status.baseline is not None
    assert machine.monitor.references.usual_dbfs == pytest.approx(-37, abs=0.5)
    assert np.abs(machine.monitor.normal.sample).max() < 0.1


def test_an_event_says_which_baseline_it_is_compared_with(machine):
    (event,) = events(machine.seconds(5, score=99.0, sound=QUIET))
    assert event.baseline_learned_at == machine.status.baseline.learned_at


def test_accepting_a_drift_takes_the_last_minutes_and_their_date(machine):
    before, normal_band = machine.status.baseline, band(machine)
    machine.seconds(400, score=99.0, sound=LOUD, dbfs=-17.0)
    machine.monitor.accept_drift()
    assert machine.status.baseline.learned_at == machine.now > before.learned_at
    assert np.mean(band(machine)) == pytest.approx(np.mean(normal_band) + 20, abs=0.5)
    np.testing.assert_array_equal(machine.monitor.normal.sample[-RATE:], LOUD)
    assert machine.monitor.normal.running.usual_dbfs == pytest.approx(-17.0, abs=0.5)
    machine.seconds(60, score=99.0, sound=LOUD, dbfs=-17.0)
    assert machine.monitor.state == "normal"


def test_references_outlive_a_restart_and_are_not_learned_again(machine):
    kept = json.loads(json.dumps(machine.monitor.references.values()))
    again = Machine()
    again.monitor.references.restore(kept.get)
    assert again.status.baseline == machine.status.baseline
    assert band(again) == pytest.approx(band(machine), abs=0.02)
    again.seconds(LIVE_SECONDS, sound=LOUD)
    assert again.status.baseline == machine.status.baseline
    assert band(again) == pytest.approx(band(machine), abs=0.02)


def test_references_that_were_not_complete_are_learned_again_after_a_restart():
    machine = Machine()
    machine.seconds(LIVE_SECONDS // 2, sound=QUIET)
    assert machine.monitor.references.values() == {}
    again = Machine()
    again.monitor.references.restore({}.get)
    again.seconds(LIVE_SECONDS, sound=QUIET)
    assert again.status.baseline.learned_at == again.now


WHISTLE = 0.05 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE)
WHISTLING = (QUIET + WHISTLE).astype(np.float32)


def test_an_event_says_what_differs_from_the_normal_sound():
    machine = Machine()
    machine.seconds(310, sound=QUIET)
    (event,) = events(machine.seconds(5, score=99.0, sound=WHISTLING))
    assert event.message.startswith("Unusual sound: new tone at 1 kHz, ")
    assert event.findings[0].hz == pytest.approx(1000, abs=1)


def test_accepting_a_drift_learns_the_normal_sound_anew():
    machine = Machine()
    machine.seconds(310, sound=QUIET)
    whistling = np.tile(WHISTLING, 10)
    assert machine.monitor.find_changes(whistling, 0.0)[0].code == "tone"
    machine.seconds(400, score=99.0, sound=WHISTLING)
    machine.monitor.accept_drift()
    assert machine.monitor.find_changes(whistling, 0.0) == ()  # not known yet
    machine.seconds(400, score=99.0, sound=WHISTLING)
    assert machine.monitor.references.sound is not None
    assert "tone" not in [finding.code for finding in machine.monitor.find_changes(whistling, 0.0)]
