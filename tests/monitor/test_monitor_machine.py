"""One machine: seconds of sound and scores become states and events."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ssdpt.alarms.judge import MachineJudge
from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.config.settings import DecisionConfig
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.ring import Ring
from ssdpt.monitor.capture.spectrum import SpectrumBaseline
from ssdpt.monitor.config import MachineSettings, PushedSettings
from ssdpt.monitor.outputs.messages import EventChanged, ReadingTaken, StateChanged
from ssdpt.monitor.scoring.live_model import LiveScore
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.sources.base import SourceStatus
from ssdpt.scoring.calibrate import fit_tail

RATE = 16000
SETTINGS = MachineSettings(
    id="pump",
    name="Pump",
    source=PushedSettings(),
    alarm=AlarmSettings(smoothing=1.0, shortest=2.0, settle=3.0),
)


class Machine:
    """A machine of which seconds are told by hand."""

    def __init__(self, settings=SETTINGS, model=True):
        tail = fit_tail([np.random.default_rng(0).normal(0, 1, 200)], DecisionConfig(), 0)
        detector = SimpleNamespace(
            calibration=SimpleNamespace(tail=lambda section: tail), system_name="texture"
        )
        self.hearing = SimpleNamespace(
            rate=RATE,
            ring=Ring(20.0, RATE),
            levels=deque(maxlen=10),
            heard_at=float("inf"),
            taken=threading.Event(),
            failure="",
            begun=0.0,
            source=SimpleNamespace(status=SourceStatus(True, "plays", 0.0)),
        )
        live = SimpleNamespace(detector=detector, clip_seconds=10.0) if model else None
        self.monitor = MachineMonitor(
            settings, self.hearing, MachineJudge(settings.alarm, live, "00")
        )
        self.now = 1000.0

    def seconds(self, count, score=0.0, dbfs=-30.0, clipped=0.0, learning=False, sound=None):
        """So many seconds like this; everything that was told."""
        told = []
        for _ in range(count):
            self.now += 1.0
            samples = np.full(RATE, 0.01, np.float32) if sound is None else sound
            self.hearing.ring.add(samples, self.now - 1)
            self.hearing.levels.append((self.now, Loudness(dbfs, clipped)))
            assert self.monitor.due
            found = None if score is None else LiveScore(score, {"spectrum": score}, 0)
            told += self.monitor.take(found, learning=learning)
            assert not self.monitor.due
        return told


def events(told):
    return [message.event for message in told if isinstance(message, EventChanged)]


def states(told):
    return [message.state for message in told if isinstance(message, StateChanged)]


@pytest.fixture
def machine():
    return Machine()


def test_a_machine_that_is_well_has_a_reading_a_second_and_no_event(machine):
    told = machine.seconds(5)
    assert states(told) == ["normal"]
    assert not events(told)
    readings = [message.reading for message in told if isinstance(message, ReadingTaken)]
    assert [reading.time for reading in readings] == [1001.0 + n for n in range(5)]
    assert readings[-1].score == 0.0
    assert readings[-1].parts == {"spectrum": 0.0}
    assert readings[-1].p_value == pytest.approx(0.5, abs=0.1)


def test_an_event_begins_gets_worse_and_ends(machine):
    machine.seconds(5)
    limits = machine.monitor.judge.limits
    between = (limits.alert + limits.alarm) / 2
    (begun,) = events(machine.seconds(5, score=between))
    assert (begun.kind, begun.level, begun.state) == ("anomaly", "alert", "active")
    assert begun.threshold == pytest.approx(limits.alert)
    assert begun.words == "Pump sounds unlike its normal self"
    (worse,) = events(machine.seconds(5, score=limits.alarm + 9))
    assert (worse.id, worse.level) == (begun.id, "alarm")
    (ended,) = events(machine.seconds(10))
    assert ended.id == begun.id
    assert ended.ended is not None
    assert ended.peak == pytest.approx(limits.alarm + 9)
    assert ended.state == "active"  # until someone has seen it
    assert machine.monitor.events.open == {}
    assert machine.monitor.events.last == ended


def test_planned_work_mutes(machine):
    machine.seconds(3)
    machine.monitor.muted_until = 1e12
    told = machine.seconds(8, score=99.0)
    assert not events(told)
    assert "alarm" in states(told)  # the page still shows how it sounds
    machine.monitor.muted_until = None
    assert len(events(machine.seconds(1, score=99.0))) == 1


def test_a_machine_that_is_off_is_not_judged_and_its_event_ends(machine):
    machine.seconds(30)
    machine.seconds(5, score=99.0)
    assert machine.monitor.state == "alarm"
    told = machine.seconds(8, score=99.0, dbfs=-60.0)
    assert states(told) == ["off"]
    assert len(events(told)) == 1
    assert machine.monitor.last.score is None
    assert machine.monitor.as_json()["score"] is None
    assert machine.seconds(8)[-1].reading.state == "normal"


def test_before_there_is_a_model_and_while_it_learns():
    machine = Machine(model=False)
    assert machine.seconds(2, score=None)[-1].reading.state == "starting"
    assert states(machine.seconds(2, score=None, learning=True)) == ["learning"]
    assert machine.monitor.judge.limits is None
    assert machine.monitor.as_json()["thresholds"] is None


def test_trouble_with_the_source_is_an_event_of_its_own(machine):
    (event,) = events(machine.seconds(15, clipped=0.2))
    assert (event.kind, event.level) == ("signal", "alert")
    assert "its source clips" in event.words
    (ended,) = events(machine.seconds(12))
    assert ended.ended is not None


def test_a_source_that_is_gone(machine):
    machine.seconds(2)
    machine.hearing.failure = "there is no such microphone"
    assert states(machine.monitor.missing()) == ["lost"]
    assert machine.monitor.as_json()["source"]["words"] == "there is no such microphone"
    assert not machine.monitor.as_json()["source"]["connected"]
    machine.hearing.failure = ""
    assert states(machine.seconds(1)) == ["normal"]


def test_a_gap_in_an_alarm_neither_ends_it_nor_begins_another(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    assert not events(machine.seconds(12, score=None))  # until a whole clip is heard again
    assert machine.monitor.state == "starting"
    assert not events(machine.seconds(5, score=99.0))
    assert machine.monitor.events.open["anomaly"].id == event.id


def test_a_clock_that_is_set_back_does_not_stop_the_watch(machine):
    machine.seconds(3)
    machine.now -= 3600
    told = machine.seconds(8, score=99.0)
    assert len(events(told)) == 1
    assert sum(isinstance(message, ReadingTaken) for message in told) == 8


def test_silence_is_told_though_seconds_without_sound_are_looked_at_too(machine):
    told = []
    for _ in range(15):
        told += machine.seconds(1, dbfs=-120.0)
        told += machine.monitor.missing()
    (event,) = events(told)
    assert "sends silence" in event.words


def test_a_score_that_is_no_number_is_no_score(machine):
    machine.seconds(3)
    machine.seconds(1, score=float("nan"))
    assert machine.monitor.last.score is None
    assert machine.seconds(1)[-1].reading.smoothed == 0.0


def test_a_sender_that_has_nothing_to_say_is_not_lost(machine):
    machine.seconds(2)
    machine.hearing.heard_at = -1e9
    assert not machine.monitor.lost


def test_slow_change_is_offered_as_a_new_baseline(machine):
    machine.seconds(2)
    limits = machine.monitor.judge.limits
    moved = limits.usual + 0.7 * (limits.alert - limits.usual)
    for _ in range(40):  # hours
        machine.monitor.judge.baseline.long.update(moved, 3600.0)
    (event,) = events(machine.seconds(1, score=moved))
    assert (event.kind, event.level) == ("drift", "alert")
    assert machine.monitor.as_json()["drift"]["words"].endswith("take a new baseline?")
    assert not machine.monitor.judge.may_move
    machine.seconds(600, score=moved)
    assert machine.monitor.judge.may_move
    machine.monitor.judge.move_baseline()
    assert machine.monitor.judge.limits.usual == pytest.approx(moved, rel=0.05)
    (ended,) = events(machine.seconds(1, score=moved))
    assert (ended.id, ended.ended is None) == (event.id, False)


def test_an_event_from_before_a_restart_goes_on_or_ends(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    after = Machine()
    after.monitor.events.resume(event)
    after.monitor.judge.levels.level = event.level
    assert not events(after.seconds(2, score=99.0))
    (ended,) = events(after.seconds(10))
    assert ended.id == event.id


def test_what_people_do_to_an_event_is_not_lost_when_it_ends(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    machine.seconds(2, score=120.0)
    said = machine.monitor.events.said(
        replace(event, acknowledged_by="ada", acknowledged_at=5.0, label="fault")
    )
    assert said.peak == pytest.approx(120.0)  # what was heard meanwhile stays
    (ended,) = events(machine.seconds(10))
    assert (ended.acknowledged_by, ended.label, ended.state) == ("ada", "fault", "cleared")


def test_a_harmless_alarm_that_stands_is_taken_as_the_new_normal(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(400, score=99.0))[:1]
    machine.monitor.judge.move_baseline()
    (ended,) = events(machine.seconds(1, score=99.0))
    assert (ended.id, ended.ended is None) == (event.id, False)
    assert machine.monitor.state == "normal"
    assert not events(machine.seconds(20, score=99.0))
    # A second one starts from there.
    machine.seconds(400, score=120.0)
    machine.monitor.judge.move_baseline()
    assert machine.monitor.judge.limits.usual == pytest.approx(120.0, abs=1.0)


def test_a_score_is_weighed_by_the_operating_point(machine):
    tone = np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE).astype(np.float32)
    log_mel = machine.monitor.spectrum.log_mel
    quiet, loud = 0.01 * tone, 0.2 * tone
    points = [log_mel(sound).mean(0) for sound in (quiet, loud)]
    rng = np.random.default_rng(0)
    spectra = np.array([points[n % 2] + rng.normal(0, 0.3, 128) for n in range(120)])
    scores = np.array([(-1.0 if n % 2 == 0 else 1.0) + rng.normal(0, 0.2) for n in range(120)])
    learnt = OperatingPoints.learn(spectra, np.full(120, -30.0), scores)
    machine.monitor.judge.baseline.points = learnt.named(learnt.at(points[0]), "idling")
    machine.seconds(10, score=-1.0, sound=quiet)
    assert machine.monitor.state == "normal"
    assert machine.monitor.judge.point == learnt.at(points[0])
    assert machine.monitor.as_json()["operating_points"][0]["share"] == 0.5
    # What is usual at the loud point is an alarm at the quiet one: ten spreads off.
    (event, *_) = events(machine.seconds(30, score=1.0, sound=quiet))
    assert event.words == "Pump sounds unlike its normal self at idling"
    machine.seconds(20, score=-1.0, sound=quiet)
    assert machine.monitor.state == "normal"
    assert not events(machine.seconds(30, score=1.0, sound=loud)[-10:])
    assert machine.monitor.state == "normal"
    machine.seconds(12, score=0.0, sound=rng.normal(0, 0.3, RATE).astype(np.float32))
    assert machine.monitor.judge.point == 0  # like none that was learnt


def test_another_trouble_with_the_source_is_another_event(machine):
    (clips,) = events(machine.seconds(15, clipped=0.2))
    told = []
    for _ in range(15):
        told += machine.seconds(1, dbfs=-120.0)
    ended, silent = events(told)[:2]
    assert (ended.id, ended.ended is None) == (clips.id, False)
    assert "sends silence" in silent.words


def test_a_source_that_comes_back_ends_the_event_that_says_why_it_was_gone(machine):
    machine.seconds(2)
    machine.hearing.failure = "the microphone was pulled out"
    for second in range(12):
        machine.monitor.signals.update(second, None, lost=True)
    (gone,) = events(machine.monitor.missing())
    assert gone.words == "Pump: the microphone was pulled out"
    machine.hearing.failure = ""
    (ended,) = events(machine.seconds(15))
    assert ended.id == gone.id


def test_a_loud_fault_is_not_how_loud_the_machine_usually_runs(machine):
    machine.seconds(60, dbfs=-50.0)
    machine.seconds(700, score=99.0, dbfs=-34.0)
    assert machine.monitor.state == "alarm"
    assert machine.monitor.events.last.words.endswith("16 dB louder than usual")
    assert machine.seconds(20, dbfs=-50.0)[-1].reading.state == "normal"


def test_stopping_to_learn_in_an_alarm_is_one_event_and_not_two(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    (ended,) = events(machine.seconds(5, score=99.0, learning=True))
    assert ended.id == event.id
    assert machine.monitor.judge.levels.level == "normal"


def test_of_a_machine_that_is_lost_nothing_is_told_that_was_before(machine):
    machine.seconds(5)
    machine.hearing.failure = "gone"
    machine.monitor.missing()
    told = machine.monitor.as_json()
    assert (told["score"], told["p_value"], told["operating_point"]) == (None, None, None)
    assert told["last_sound"] == machine.now


def test_bands_of_normal_spectra_are_remembered(machine):
    machine.seconds(40)
    before = machine.monitor.spectrum
    after = SpectrumBaseline(RATE)
    after.recall(json.loads(json.dumps(before.to_json())))
    assert after.as_json(0)["mean"] == pytest.approx(before.as_json(0)["mean"], abs=0.02)
    assert after.as_json(7)["mean"]  # that of another point, where there is none of this


def test_a_machine_that_stops_every_few_minutes_has_marks_too(machine):
    for _ in range(5):
        machine.seconds(200)
        machine.seconds(10, dbfs=-60.0)
    assert len(machine.monitor.judge.baseline.marks.highest) == 1
    after = Machine()
    after.monitor.judge.model = machine.monitor.judge.model
    after.monitor.follow(machine.monitor)
    after.seconds(700)
    assert len(after.monitor.judge.baseline.marks.highest) == 2


def test_what_the_plant_file_says_of_off_holds_from_the_next_reading_of_it_on(machine):
    machine.seconds(30, dbfs=-50.0)
    alarm = SETTINGS.alarm.model_copy(update={"off_below_dbfs": -40.0})
    after = Machine(SETTINGS.model_copy(update={"alarm": alarm}))
    after.monitor.judge.model = machine.monitor.judge.model
    after.monitor.follow(machine.monitor)
    assert after.seconds(6, dbfs=-50.0)[-1].reading.state == "off"


def test_no_event_ends_before_it_began(machine):
    machine.seconds(3)
    (event,) = events(machine.seconds(5, score=99.0))
    (ended,) = events(machine.monitor.events.end_all(event.began - 100))
    assert ended.ended == event.began
