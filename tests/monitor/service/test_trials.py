"""Sources on trial: they show what arrives, keep nothing, and end when nobody looks at them."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.service import trials as module
from ssdpt.monitor.service.trials import Trials, UnknownTrial
from ssdpt.monitor.sources.base import PushableSource
from waiting import wait_until


def machine(kind="simulated", sensor=None, **source):
    settings = {"id": "saw", "source": {"kind": kind, **source}, "sensor": sensor or {}}
    return MachineSettings.model_validate(settings)


@pytest.fixture
def trials():
    trials = Trials(MonitorConfig)
    yield trials
    trials.close_all()


def test_sound_arrives_with_its_level_and_a_picture(trials):
    id = trials.open(machine(machine="fan")).id
    status = wait_until(lambda: (s := trials.status(id, 5.0)).level_dbfs is not None and s)
    assert status.connected
    assert -60 < status.level_dbfs < 0
    assert status.sample_rate == 16000
    assert len(status.spectrogram.columns[0]) == len(status.spectrogram.hz)
    trials.close(id)
    with pytest.raises(UnknownTrial):
        trials.status(id, 5.0)


def test_what_is_pushed_to_a_machine_on_trial_is_shown(trials):
    assert trials.source_for("saw") is None
    id = trials.open(machine("pushed")).id
    assert trials.status(id, 5.0).level_dbfs is None
    source = trials.source_for("saw")
    assert isinstance(source, PushableSource)
    source.push(0.1 * np.ones((32000, 1), np.float32), 16000, 1, None)
    wait_until(lambda: trials.status(id, 5.0).level_dbfs is not None)


def test_snapshots_are_shown(trials):
    id = trials.open(machine("pushed", {"snapshots": True, "unit": "g"})).id
    samples = np.random.default_rng(0).standard_normal((4096, 1)).astype(np.float32) / 10
    assert trials.status(id, 0.0).sample_rate == 0
    trials.source_for("saw").push(samples, 8000, 1, None)
    wait_until(lambda: trials.status(id, 60.0).level_dbfs is not None)
    assert len(trials.status(id, 60.0).spectrogram.columns) == 1
    assert trials.status(id, 60.0).sample_rate == 8000


def test_a_source_that_cannot_be_opened_says_why(trials):
    id = trials.open(machine("network", url="udp://127.0.0.1:9?timeout=1000", timeout=0.2)).id
    message = wait_until(lambda: trials.status(id, 0.0).message.startswith("udp") and "there")
    assert message
    assert not trials.status(id, 0.0).connected


def test_one_that_nobody_looks_at_ends():
    now = [0.0]
    trials = Trials(MonitorConfig, lambda: now[0])
    left, watched = trials.open(machine("pushed")).id, trials.open(machine("pushed")).id
    now[0] = 8
    trials.status(watched, 0.0)
    now[0] = 16
    trials.close_unused()
    trials.status(watched, 0.0)
    with pytest.raises(UnknownTrial):
        trials.status(left, 0.0)
    now[0] = 20
    trials.status(watched, 0.0)
    now[0] = module._LONGEST_SECONDS + 1  # not for ever, whoever looks
    trials.close_unused()
    with pytest.raises(UnknownTrial):
        trials.status(watched, 0.0)


def test_few_at_a_time(trials):
    for _ in range(module._MOST):
        trials.open(machine("pushed"))
    with pytest.raises(SsdptError, match="4 sources are being tried already"):
        trials.open(machine("pushed"))


def test_a_trial_does_not_take_the_place_of_the_machine_at_the_broker():
    source = {"host": "broker", "topic": "saw", "client_id": "ssdpt-saw"}
    settings = machine("mqtt", {"snapshots": True}, **source).source
    assert settings.for_trial().client_id == ""
