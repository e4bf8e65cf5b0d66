"""One machine: seconds of sound and scores become states and events."""

from __future__ import annotations

import json

import numpy as np
import pytest
from machine_by_hand import RATE, SETTINGS, Machine, events, states

from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.monitor.capture.spectrum import SpectrumBaseline
from ssdpt.monitor.learning.collector import BaselineCollector
from ssdpt.monitor.messages import Acknowledgement, ReadingTaken


@pytest.fixture
def machine():
    return Machine()


def test_a_machine_that_is_well_has_a_reading_a_second_and_no_event(machine):
    messages = machine.seconds(5)
    assert states(messages) == ["normal"]
    assert not events(messages)
    readings = [message.reading for message in messages if isinstance(message, ReadingTaken)]
    assert [reading.time for reading in readings] == [1001.0 + n for n in range(5)]
    assert readings[-1].score == 0.0
    assert readings[-1].parts == {"spectrum": 0.0}
    assert readings[-1].p_value == pytest.approx(0.5, abs=0.1)


def test_an_event_begins_gets_worse_and_ends(machine):
    machine.seconds(5)
    thresholds = machine.monitor.judge.thresholds
    between = (thresholds.alert + thresholds.alarm) / 2
    (begun,) = events(machine.seconds(5, score=between))
    assert (begun.kind, begun.level, begun.state) == ("anomaly", "alert", "active")
    assert begun.threshold == pytest.approx(thresholds.alert)
    assert begun.message == "Unusual sound"
    (worse,) = events(machine.seconds(5, score=thresholds.alarm + 9))
    assert (worse.id, worse.level) == (begun.id, "alarm")
    (ended,) = events(machine.seconds(10))
    assert ended.id == begun.id
    assert ended.ended is not None
    assert ended.peak == pytest.approx(thresholds.alarm + 9)
    assert ended.state == "active"  # until someone has seen it
    assert machine.monitor.events.ongoing == {}
    assert machine.monitor.events.last == ended


def test_planned_work_mutes(machine):
    machine.seconds(3)
    machine.monitor.muted_until = 1e12
    messages = machine.seconds(8, score=99.0)
    assert not events(messages)
    assert "alarm" in states(messages)  # the page still shows how it sounds
    machine.monitor.muted_until = None
    assert len(events(machine.seconds(1, score=99.0))) == 1


def test_a_machine_that_is_off_is_not_judged_and_its_event_ends(machine):
    machine.seconds(30)
    machine.seconds(5, score=99.0)
    assert machine.monitor.state == "alarm"
    messages = machine.seconds(8, score=99.0, dbfs=-60.0)
    assert states(messages) == ["off"]
    assert len(events(messages)) == 1
    assert machine.monitor.last.score is None
    assert machine.status.smoothed is None
    assert machine.seconds(8)[-1].reading.state == "normal"


def test_before_there_is_a_model_and_while_it_learns():
    machine = Machine(model=False)
    assert machine.seconds(2, score=None)[-1].reading.state == "starting"
    machine.monitor.collector = BaselineCollector.for_minutes(1.0)
    assert states(machine.seconds(2, score=None)) == ["learning"]
    assert machine.status.learning.target_seconds == 60.0
    assert machine.monitor.judge.thresholds is None
    assert machine.status.thresholds is None


def test_trouble_with_the_source_is_an_event_of_its_own(machine):
    (event,) = events(machine.seconds(15, clipped=0.2))
    assert (event.kind, event.level) == ("signal", "alert")
    assert "The source clips" in event.message
    (ended,) = events(machine.seconds(12))
    assert ended.ended is not None


def test_a_source_that_is_gone(machine):
    machine.seconds(2)
    machine.capture.failure = "there is no such microphone"
    assert states(machine.monitor.check_lost()) == ["lost"]
    assert machine.status.source.message == "there is no such microphone"
    assert not machine.status.source.connected
    machine.capture.failure = ""
    assert states(machine.seconds(1)) == ["normal"]


def test_a_gap_in_an_alarm_neither_ends_it_nor_begins_another(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    assert not events(machine.seconds(12, score=None))  # until a whole clip is heard again
    assert machine.monitor.state == "starting"
    assert not events(machine.seconds(5, score=99.0))
    assert machine.monitor.events.ongoing["anomaly"].id == event.id


def test_a_clock_that_is_set_back_does_not_stop_the_watch(machine):
    machine.seconds(3)
    machine.now -= 3600
    messages = machine.seconds(8, score=99.0)
    assert len(events(messages)) == 1
    assert sum(isinstance(message, ReadingTaken) for message in messages) == 8


def test_silence_is_messages_though_seconds_without_sound_are_looked_at_too(machine):
    messages = []
    for _ in range(15):
        messages += machine.seconds(1, dbfs=-120.0)
        messages += machine.monitor.check_lost()
    (event,) = events(messages)
    assert "sends silence" in event.message


def test_a_score_that_is_no_number_is_no_score(machine):
    machine.seconds(3)
    machine.seconds(1, score=float("nan"))
    assert machine.monitor.last.score is None
    assert machine.seconds(1)[-1].reading.smoothed == 0.0


def test_a_sender_that_has_nothing_to_say_is_not_lost(machine):
    machine.seconds(2)
    machine.capture.last_chunk_at = -1e9
    assert not machine.monitor.lost


def test_slow_change_is_offered_as_a_new_baseline(machine):
    machine.seconds(2)
    thresholds = machine.monitor.judge.thresholds
    moved = thresholds.usual_score + 0.7 * (thresholds.alert - thresholds.usual_score)
    for _ in range(40):  # hours
        machine.monitor.judge.baseline.long_term.update(moved, 3600.0)
    (event,) = events(machine.seconds(1, score=moved))
    assert (event.kind, event.level) == ("drift", "alert")
    assert machine.status.drift.message.endswith("accept it, or learn a new baseline")
    assert not machine.monitor.judge.can_accept_drift
    machine.seconds(600, score=moved)
    assert machine.monitor.judge.can_accept_drift
    machine.monitor.accept_drift()
    assert machine.monitor.judge.thresholds.usual_score == pytest.approx(moved, rel=0.05)
    (ended,) = events(machine.seconds(1, score=moved))
    assert (ended.id, ended.ended is None) == (event.id, False)


def test_an_event_from_before_a_restart_goes_on_or_ends(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    after = Machine()
    after.monitor.events.resume([event], event)
    after.monitor.judge.resume(event.level)
    assert not events(after.seconds(2, score=99.0))
    (ended,) = events(after.seconds(10))
    assert ended.id == event.id


def test_what_people_do_to_an_event_is_not_lost_when_it_ends(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    machine.seconds(2, score=120.0)
    seen = {"acknowledged": Acknowledgement(who="ada", at=5.0), "label": "fault"}
    changed = machine.monitor.events.take_actions(event.model_copy(update=seen))
    assert changed.peak == pytest.approx(120.0)  # what was measured meanwhile stays
    (ended,) = events(machine.seconds(10))
    assert (ended.acknowledged.who, ended.label, ended.state) == ("ada", "fault", "cleared")


def test_a_harmless_alarm_that_stands_is_taken_as_the_new_normal(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(400, score=99.0))[:1]
    machine.monitor.accept_drift()
    (ended,) = events(machine.seconds(1, score=99.0))
    assert (ended.id, ended.ended is None) == (event.id, False)
    assert machine.monitor.state == "normal"
    assert not events(machine.seconds(20, score=99.0))
    # A second one starts from there.
    machine.seconds(400, score=120.0)
    machine.monitor.accept_drift()
    assert machine.monitor.judge.thresholds.usual_score == pytest.approx(120.0, abs=1.0)


def test_a_score_is_weighed_by_the_operating_point(machine):
    tone = np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE).astype(np.float32)
    quiet, loud = 0.01 * tone, 0.2 * tone
    points = [machine.frames(sound).mean(0) for sound in (quiet, loud)]
    rng = np.random.default_rng(0)
    spectra = np.array([points[n % 2] + rng.normal(0, 0.3, 128) for n in range(120)])
    scores = np.array([(-1.0 if n % 2 == 0 else 1.0) + rng.normal(0, 0.2) for n in range(120)])
    learned = OperatingPoints.learn(spectra, np.full(120, -30.0), scores)
    machine.monitor.judge.baseline.points = learned.named(learned.at(points[0]), "idling")
    machine.seconds(10, score=-1.0, sound=quiet)
    assert machine.monitor.state == "normal"
    assert machine.monitor.judge.operating_point == learned.at(points[0])
    assert machine.status.operating_points[0].share == 0.5
    # What is usual at the loud point is an alarm at the quiet one: ten spreads off.
    (event, *_) = events(machine.seconds(30, score=1.0, sound=quiet))
    assert event.message == "Unusual sound at idling"
    machine.seconds(20, score=-1.0, sound=quiet)
    assert machine.monitor.state == "normal"
    assert not events(machine.seconds(30, score=1.0, sound=loud)[-10:])
    assert machine.monitor.state == "normal"
    machine.seconds(12, score=0.0, sound=rng.normal(0, 0.3, RATE).astype(np.float32))
    assert machine.monitor.judge.operating_point == 0  # like none that was learned


def test_another_trouble_with_the_source_is_another_event(machine):
    (clips,) = events(machine.seconds(15, clipped=0.2))
    messages = []
    for _ in range(15):
        messages += machine.seconds(1, dbfs=-120.0)
    ended, silent = events(messages)[:2]
    assert (ended.id, ended.ended is None) == (clips.id, False)
    assert "sends silence" in silent.message


def test_a_source_that_comes_back_ends_the_event_that_says_why_it_was_gone(machine):
    machine.seconds(2)
    machine.capture.failure = "the microphone was pulled out"
    for second in range(12):
        machine.monitor.health.update(second, None, lost=True)
    (gone,) = events(machine.monitor.check_lost())
    assert gone.message == "the microphone was pulled out"
    machine.capture.failure = ""
    (ended,) = events(machine.seconds(15))
    assert ended.id == gone.id


def test_a_loud_fault_is_not_how_loud_the_machine_usually_runs(machine):
    machine.seconds(60, dbfs=-50.0)
    machine.seconds(700, score=99.0, dbfs=-34.0)
    assert machine.monitor.state == "alarm"
    assert machine.monitor.events.last.message.endswith("16 dB louder than usual")
    assert machine.seconds(20, dbfs=-50.0)[-1].reading.state == "normal"


def test_stopping_to_learn_in_an_alarm_is_one_event_and_not_two(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    machine.monitor.fitting = True
    (ended,) = events(machine.seconds(5, score=99.0))
    assert ended.id == event.id
    assert machine.monitor.judge.alarm.level == "normal"


def test_of_a_machine_that_is_lost_nothing_is_messages_that_was_before(machine):
    machine.seconds(5)
    machine.capture.failure = "gone"
    machine.monitor.check_lost()
    status = machine.status
    assert (status.smoothed, status.p_value, status.operating_point) == (None, None, None)
    assert status.last_sound == machine.now


def test_bands_of_normal_spectra_are_remembered(machine):
    machine.seconds(40)
    before, after = machine.monitor.references.spectrum, SpectrumBaseline()
    after.restore(json.loads(json.dumps(before.to_json())))
    hz = machine.capture.frequencies
    expected = before.compare(hz, None, 0).mean
    assert after.compare(hz, None, 0).mean == pytest.approx(expected, abs=0.02)
    assert after.compare(hz, None, 7).mean  # that of another point, where there is none of this


def test_a_machine_that_stops_every_few_minutes_has_marks_too(machine):
    for _ in range(5):
        machine.seconds(200)
        machine.seconds(10, dbfs=-60.0)
    assert len(machine.monitor.judge.baseline.blocks.highest) == 1
    after = Machine()
    after.monitor.model = machine.monitor.model
    after.monitor.continue_from(machine.monitor)
    after.seconds(700)
    assert len(after.monitor.judge.baseline.blocks.highest) == 2


def test_what_the_configuration_file_says_of_off_holds_from_the_next_reading_of_it_on(machine):
    machine.seconds(30, dbfs=-50.0)
    alarm = SETTINGS.alarm.model_copy(update={"off_below_dbfs": -40.0})
    after = Machine(SETTINGS.model_copy(update={"alarm": alarm}))
    after.monitor.model = machine.monitor.model
    after.monitor.continue_from(machine.monitor)
    assert after.seconds(6, dbfs=-50.0)[-1].reading.state == "off"


def test_no_event_ends_before_it_began(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    (ended,) = events(machine.monitor.events.end_all(event.began - 100))
    assert ended.ended == event.began
