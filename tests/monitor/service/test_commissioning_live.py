"""A machine that sounds different from the start: one question, and what its answer does."""

from __future__ import annotations

import numpy as np
import pytest
from machine_by_hand import Machine, events
from monitors import SPEED, finish_jobs, pump

from ssdpt.alarms.commissioning import ASK_AFTER, HOUR
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.learning.baseline import learn_baseline
from ssdpt.monitor.sources.simulated_source import SimulatedSettings, SimulatedSource
from waiting import wait_until


@pytest.fixture
def machine():
    """One that is asked about: its scores are above the alert threshold from the start."""
    machine = Machine()
    thresholds = machine.monitor.thresholds
    high = (thresholds.alert + thresholds.alarm) / 2
    assert not events(machine.seconds(int(ASK_AFTER) + 5, score=high))
    machine.high = high
    return machine


def test_it_is_one_question_and_no_event(machine):
    question = machine.status.question
    assert question.message.endswith("is it healthy?")
    assert question.since == 1001.0 - 10.0  # the first score is that of a whole clip
    assert not events(machine.seconds(600, score=machine.high))
    assert machine.status.question == question
    assert machine.status.change_points == ()


def test_a_healthy_one_is_normal_from_then_on(machine):
    machine.monitor.accept_as_healthy()
    assert machine.status.question is None
    assert machine.monitor.references.commissioned_at == machine.now
    messages = machine.seconds(300, score=machine.high)
    assert not events(messages)
    assert machine.monitor.state == "normal"


def test_a_faulty_one_is_an_event_at_once_that_goes_on(machine):
    (event,) = events(machine.monitor.report_fault())
    assert (event.kind, event.level, event.began) == ("anomaly", "alert", machine.now)
    assert machine.status.question is None
    assert not events(machine.seconds(60, score=machine.high))
    (ended,) = events(machine.seconds(60, score=0.0))
    assert ended.id == event.id


def test_a_sudden_rise_beside_the_question_is_an_alert(machine):
    assert machine.status.question is not None
    (event,) = events(machine.seconds(10, score=machine.high + 12.0))
    assert event.kind == "anomaly"
    assert machine.status.question is None


def test_a_normal_hour_sets_thresholds_of_its_own(machine):
    machine = Machine()
    provisional = machine.monitor.thresholds
    scores = 0.5 + 0.5 * np.random.default_rng(1).standard_normal(int(HOUR) + 20)
    machine.seconds(len(scores), score=scores.tolist())
    assert machine.monitor.references.commissioned_at is not None
    assert machine.monitor.thresholds != provisional
    assert machine.monitor.thresholds.usual_score > provisional.usual_score
    # That outlives a restart.
    machine.monitor.model.digest = "d"
    kept = machine.monitor.learned_values()
    again = Machine()
    again.monitor.model = machine.monitor.model
    again.monitor.restore_values(kept.get)
    assert again.monitor.thresholds == machine.monitor.thresholds
    assert again.monitor.alarms.commissioning.phase == "over"


def test_a_question_outlives_a_restart(machine):
    machine.monitor.model.digest = "d"
    kept = machine.monitor.learned_values()
    again = Machine()
    again.monitor.model = machine.monitor.model
    again.monitor.restore_values(kept.get)
    assert again.status.question == machine.status.question
    assert not events(again.seconds(60, score=machine.high))


def other_pump(tmp_path):
    """A pump with the model of another one, which it does not sound like."""
    source = SimulatedSource(SimulatedSettings(machine="pump", seed=3, speed=SPEED), 16000)
    learn_baseline(source.normal_clips(12), 16000, "pump").detector.save(tmp_path / "model")
    return pump(section=1).model_copy(update={"model": tmp_path / "model"})


def test_the_answer_healthy_is_learned_by_the_model(opened, tmp_path):
    config = MonitorConfig(machines=(other_pump(tmp_path),), speed=SPEED)
    monitor = opened(config)
    with pytest.raises(SsdptError, match="nobody is asked"):
        monitor.api.commission("pump-1", healthy=True)
    wait_until(lambda: monitor.api.machine_status("pump-1").question)
    assert not monitor.store.events(kind="anomaly")
    wait_until(lambda: any("is it healthy?" in note for note in monitor.log.notes))
    assert b'ssdpt_question{machine="pump-1"} 1.0' in monitor.metrics.text()
    before = len(monitor.machines["pump-1"].model.detector.fingerprint)
    monitor.api.commission("pump-1", healthy=True)
    assert monitor.api.machine_status("pump-1").question is None
    finish_jobs(monitor)
    machine = monitor.machines["pump-1"]
    assert len(machine.model.detector.fingerprint) > before
    wait_until(lambda: monitor.api.machine_status("pump-1").state == "normal")
    # The model knows the sound: thresholds need not be so far up as they were moved at first.
    assert machine.judge.baseline.shift < 10.0
    assert b'ssdpt_question{machine="pump-1"} 0.0' in monitor.metrics.text()


def test_the_answer_faulty_is_an_event(opened, tmp_path):
    monitor = opened(MonitorConfig(machines=(other_pump(tmp_path),), speed=SPEED))
    wait_until(lambda: monitor.api.machine_status("pump-1").question)
    monitor.api.commission("pump-1", healthy=False)
    event = wait_until(lambda: monitor.store.events(kind="anomaly"))[0]
    assert event.ended is None
    wait_until(lambda: monitor.store.event(event.id).audio_begin is not None)


def test_a_model_that_cannot_learn_moves_its_thresholds(opened, tmp_path, monkeypatch):
    monitor = opened(MonitorConfig(machines=(other_pump(tmp_path),), speed=SPEED))
    wait_until(lambda: monitor.api.machine_status("pump-1").question)
    machine = monitor.machines["pump-1"]
    monkeypatch.setattr(type(machine.model.detector.system), "adapts", False)
    model = machine.model
    monitor.api.commission("pump-1", healthy=True)
    finish_jobs(monitor)
    assert machine.model is model
    assert machine.judge.baseline.shift > 0
