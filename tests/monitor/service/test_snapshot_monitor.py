"""A machine that is measured at intervals: learned, judged, and left alone by bad snapshots."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from bearing import BEGAN, EVERY, RATE, SAMPLES, bearing, snapshot

from ssdpt.alarms.indicator_baseline import FEWEST_STEPS
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.monitor.capture.snapshot_capture import SnapshotCapture
from ssdpt.monitor.config import MachineSettings, SensorSettings
from ssdpt.monitor.messages import EventChanged, ReadingTaken
from ssdpt.monitor.operating import open_operating_data
from ssdpt.monitor.operating.pushed_operating_data import PushedOperatingDataSettings
from ssdpt.monitor.service.shaft import open_shaft
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.sources.pushed_source import PushedSettings, PushedSnapshots
from ssdpt.monitor.sources.snapshot import Unusable


class Machine:
    """A monitor that is given snapshots one by one."""

    def __init__(self, **sensor):
        sensor = SensorSettings(**{"unit": "g", "full_scale": 50, **sensor}, snapshots=True)
        settings = MachineSettings(id="pump", source=PushedSettings(), sensor=sensor)
        capture = SnapshotCapture("pump", PushedSnapshots(settings.source, sensor))
        self.monitor = SnapshotMonitor(
            settings, capture, open_shaft(settings, BearingCatalogue.shipped())
        )
        self.number = 0
        self.messages = []

    def learn(self, *axes):
        self.monitor.start_learning(5)
        while not self.monitor.collector.complete:
            self.measure(*axes)
        learned = self.monitor.collector.learn(self.monitor.settings.alarm, self.monitor.last.time)
        self.monitor.collector = None
        self.monitor.normal.adopt(*learned)
        return self

    def measure(self, *axes, count=1, **more):
        """Readings of so many snapshots; `axes` make one from its number."""
        readings = []
        for _ in range(count):
            rows = [axis(self.number) for axis in axes]
            readings += self.take(snapshot(self.number, *rows, **more))
            self.number += 1
        return readings

    def take(self, item):
        self.monitor.capture._waiting.put(item)
        messages = self.monitor.process(None)
        self.messages += messages
        return [m.reading for m in messages if isinstance(m, ReadingTaken)]

    def events(self, kind):
        return [
            m.event for m in self.messages if isinstance(m, EventChanged) and m.event.kind == kind
        ]


def burst(size):
    return lambda number: bearing(number, size)


@pytest.fixture
def pump():
    return Machine().learn()


def test_before_a_baseline_it_is_not_judged():
    (reading,) = Machine().measure()
    assert (reading.state, reading.score, reading.smoothed) == ("starting", None, None)
    assert reading.level_dbfs == pytest.approx(-31, abs=0.5)
    assert len(reading.bands_db) == 8


def test_a_growing_fault_is_an_alert_then_an_alarm_in_one_event(pump):
    assert {reading.state for reading in pump.measure(count=100)} == {"normal"}
    for size in np.linspace(0.0, 0.3, 60):
        pump.measure(burst(size))
    events = pump.events("anomaly")
    assert len({event.id for event in events}) == 1
    assert (events[0].level, events[-1].level) == ("alert", "alarm")
    assert events[0].message.startswith("Unusual vibration: ")
    assert events[0].findings
    assert events[0].baseline_learned_at == pump.monitor.judge.baseline.learned_at
    assert pump.monitor.state == "alarm"
    levels = [point.level for point in pump.monitor.change_points]
    assert levels == ["alert", "alarm"]
    assert pump.monitor.change_points[-1].findings


def test_the_axis_that_changed_is_named_and_scored():
    pump = Machine(axes=("x", "y")).learn(bearing, bearing)
    pump.measure(bearing, bearing, count=20)
    readings = pump.measure(bearing, burst(0.2), count=20)
    assert readings[-1].state == "alarm"
    assert readings[-1].parts["y"] > 2 > 1 > readings[-1].parts["x"]
    assert readings[-1].score == readings[-1].parts["y"]
    assert " on axis y: " in pump.events("anomaly")[0].message
    now = [band.now_db for band in pump.monitor.bands]
    assert max(n - band.usual_db for n, band in zip(now, pump.monitor.bands, strict=True)) > 6
    assert readings[-1].bands_db == tuple(now)


def test_a_new_tone_is_named(pump):
    """Also after a restart."""
    kept = pump.monitor.learned_values()
    again = Machine()
    again.monitor.restore_values(kept.get)
    again.number = pump.number
    time = np.arange(SAMPLES) / RATE
    tone = (0.05 * np.sin(2 * np.pi * 1730.0 * time)).astype(np.float32)
    again.measure(count=20)
    again.measure(lambda number: bearing(number) + tone, count=20)
    first = again.events("anomaly")[-1].findings[0]
    assert (first.code, first.new) == ("tone", True)
    assert first.hz == pytest.approx(1730.0, abs=10)


def test_how_often_it_knocks_is_named(pump):
    pump.measure(count=20)
    pump.measure(burst(0.2), count=20)
    knocks = [one for one in pump.events("anomaly")[-1].findings if one.code == "knocks"]
    assert knocks[0].per_second == pytest.approx(50.0, rel=0.05)  # one every 20 ms
    assert knocks[0].low_hz < 3000 < knocks[0].high_hz


def test_what_is_shown_of_sensor_and_baseline(pump):
    sensor = pump.monitor.sensor_status
    assert (sensor.unit, sensor.full_scale, sensor.sample_rate) == ("g", 50.0, 12_800)
    assert sensor.axes == ()
    assert sensor.at_intervals
    learned_at = BEGAN + 10 * (FEWEST_STEPS - 1)  # one every ten seconds
    assert pump.monitor.baseline_status.learned_at == pytest.approx(learned_at, abs=1)
    assert pump.monitor.thresholds.alert == 1.0
    assert pump.monitor.thresholds.alarm == 2.0
    spectrum = pump.monitor.spectrum()
    assert len(spectrum.hz) == len(spectrum.now) == len(spectrum.mean) == 8
    picture = pump.monitor.spectrogram(100.0)
    assert picture.seconds_per_column == pytest.approx(EVERY)
    assert len(picture.columns) == 11


def test_a_machine_that_is_off_is_not_judged_and_nothing_lasts_across_it(pump):
    pump.measure(burst(0.2), count=5)
    (reading,) = pump.measure(lambda number: bearing(number, level=0.001))
    assert (reading.state, reading.score) == ("off", None)
    assert [one.state for one in pump.measure(burst(0.04), count=3)] == ["normal"] * 3


def test_what_was_measured_while_it_was_off_is_not_learned():
    pump = Machine()
    pump.monitor.start_learning(5)
    for number in range(80):
        off = number < 15 or number % 7 == 0
        pump.measure(lambda n, off=off: bearing(n, level=0.0005 if off else 0.02))
    judge, *_ = pump.monitor.collector.learn(pump.monitor.settings.alarm, 0.0)
    assert judge.baseline.lowest_db[0] == pytest.approx(-31, abs=1)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (lambda n: snapshot(n, np.zeros(SAMPLES, np.float32)), "all of its values are 0"),
        (lambda n: snapshot(n, 900 * bearing(n)), "is the unit or full_scale right?"),
        (lambda n: snapshot(n - 500), "times out of order"),
        (lambda n: snapshot(n, rate=25_600), "its sample rate is 25.6 kHz"),
        (lambda n: snapshot(n, np.tile(bearing(n), 2)), "it has 2560 samples"),
        (lambda n: snapshot(n, bearing(n) * np.nan), "not numbers"),
        (lambda n: Unusable("neither JSON nor a WAV or FLAC file"), "neither JSON nor"),
    ],
)
def test_snapshots_that_cannot_be_used_change_nothing_but_are_reported(pump, bad, sentence):
    pump.measure(count=5)
    before = json.dumps(pump.monitor.learned_values())
    for number in range(3):
        assert pump.take(bad(pump.number + number)) == []
    assert json.dumps(pump.monitor.learned_values()) == before
    assert "3 left out, the last: " in pump.monitor.source_remarks
    assert sentence in pump.monitor.source_remarks
    (event,) = pump.events("signal")
    assert sentence in event.message
    assert pump.monitor.state == "lost"
    pump.number += 3
    assert pump.measure()[0].state == "normal"
    pump.measure(count=2)
    assert pump.events("signal")[-1].ended is not None


def test_one_bad_snapshot_does_not_hide_a_fault_nor_end_an_event(pump):
    pump.measure(burst(0.2), count=20)
    assert pump.monitor.state == "alarm"
    for number in range(4):
        pump.take(Unusable(f"broken {number}"))
    assert pump.monitor.state == "lost"
    assert pump.measure(burst(0.2))[0].state == "alarm"
    assert len({event.id for event in pump.events("anomaly")}) == 1


def test_nothing_is_learned_from_what_cannot_be_used():
    pump = Machine()
    pump.monitor.start_learning(5)
    for number in range(40):
        pump.measure()
        pump.take(Unusable("broken"))
        pump.take(snapshot(pump.number - 0.5, 900 * bearing(number)))
        pump.take(snapshot(pump.number - 0.4, bearing(number)[:1000] * 10))  # of another length
    judge, *_ = pump.monitor.collector.learn(pump.monitor.settings.alarm, 0.0)
    assert judge.form.samples == SAMPLES
    assert judge.baseline.steps == 40
    assert judge.baseline.highest_db[0] == pytest.approx(-31, abs=1)


def test_a_rare_snapshot_is_waited_for():
    pump = Machine()
    pump.monitor.start_learning(1)
    pump.measure(count=20)
    collector = pump.monitor.collector
    assert not collector.complete
    assert collector.seconds == pytest.approx(30.0)
    pump.measure(count=20)
    assert collector.complete
    assert collector.seconds == collector.target_seconds


def test_the_baseline_and_the_level_outlive_a_restart(pump):
    pump.measure(burst(0.2), count=20)
    kept = json.loads(json.dumps(pump.monitor.learned_values()))
    again = Machine()
    again.monitor.restore_values(kept.get)
    again.monitor.resume("alarm")
    again.number = pump.number
    assert again.measure(burst(0.2))[0].state == "alarm"
    assert again.monitor.baseline_status == pump.monitor.baseline_status
    assert again.monitor.change_points == pump.monitor.change_points


def test_a_baseline_of_another_full_scale_does_not_count(pump):
    kept = json.loads(json.dumps(pump.monitor.learned_values()))
    again = Machine(full_scale=16)
    again.monitor.restore_values(kept.get)
    assert again.monitor.judge is None
    assert "another unit or full scale: learn a new one" in again.monitor.source_remarks


def test_the_recording_of_an_event_is_its_snapshots_end_to_end(pump):
    pump.measure(burst(0.2), count=20)
    event = pump.events("anomaly")[0]
    sound = pump.monitor.event_sound(event.began + 10)
    assert sound.rate == 12_800
    assert len(sound.samples) % SAMPLES == 0
    assert sound.begin < event.began
    assert len(sound.log_mel) > 10
    assert pump.monitor.event_sound(0.0) is None


def test_an_event_says_what_made_it_worst_also_when_it_gets_better(pump):
    pump.measure(burst(0.2), count=20)
    worst = pump.events("anomaly")[-1]
    pump.measure(burst(0.05), count=12)
    pump.measure(count=45)
    last = pump.events("anomaly")[-1]
    assert last.ended is not None
    assert (last.message, last.findings) == (worst.message, worst.findings)
    assert last.findings


def test_a_source_without_a_connection_is_lost_after_a_minute(pump):
    assert not pump.monitor.lost
    source = pump.monitor.capture.source
    source._update_status(connected=False, message="no connection")
    assert not pump.monitor.lost
    source._update_status(since=source.status.since - 61)
    assert pump.monitor.lost


def test_a_lost_source_keeps_the_level(pump):
    pump.monitor.settings = pump.monitor.settings.model_copy(
        update={"source": PushedSettings(max_silence=1)}
    )
    pump.measure(burst(0.2), count=20)
    pump.monitor.capture.last_chunk_at -= 5
    assert pump.monitor.lost
    pump.monitor.check_lost()
    assert pump.monitor.state == "lost"
    assert pump.measure(burst(0.2))[0].state == "alarm"


def test_a_control_system_decides_whether_it_runs():
    machine = Machine().learn(bearing)
    reported = PushedOperatingDataSettings(settle_seconds=1.5 * EVERY)
    machine.monitor.operating = open_operating_data(reported)
    machine.monitor.reported_running.settle_seconds = reported.settle_seconds
    machine.monitor.operating.push(running=False)
    loud = partial(bearing, burst=0.5)
    assert {one.state for one in machine.measure(loud, count=5)} == {"off"}
    machine.monitor.operating.push(running=True)
    assert [one.state for one in machine.measure(bearing, count=3)] == [
        *("starting", "starting", "normal"),
    ]
    assert machine.events("anomaly") == []
