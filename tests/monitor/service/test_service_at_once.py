"""What happens at the same time: recordings, people, changes of the configuration, stops."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest
import soundfile
import yaml
from monitors import SPEED, finish_jobs, learn, pump

from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.config import MachineSettings, MonitorConfig, read_monitor_config
from ssdpt.monitor.messages import Reading
from ssdpt.monitor.scoring.live_model import LiveScore
from ssdpt.monitor.service import service as service_module
from ssdpt.monitor.service.loop import _process
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.store import StoreUnavailable
from waiting import wait_until


def pushed(id):
    return MachineSettings(id=id, source=PushedSettings())


def test_an_event_that_changes_while_its_recording_waits_is_recorded_once(opened):
    service = opened(MonitorConfig(machines=(pump(fault_after=20.0),), speed=SPEED))
    machine = service.machines["pump-1"]
    learn(service)
    go_on = threading.Event()
    service._recordings.submit("another recording", partial(go_on.wait, 60))
    event = wait_until(lambda: machine.events.ongoing.get("anomaly"))
    wait_until(lambda: event.id in service._recorder._submitted)
    with service.machines.lock:
        for _ in range(5):
            service._recorder.schedule(machine.events.ongoing["anomaly"])
            service._recorder.record_due(machine, machine.last.time + 1e6)
    recorded = []
    attach = service.store.attach

    def counted(id, name, *rest):
        recorded.append(name)
        return attach(id, name, *rest)

    service.store.attach = counted
    go_on.set()
    finish_jobs(service)
    assert recorded.count("audio") == 1
    path = service.store.attachment(event.id, "audio")
    assert soundfile.info(path).duration == pytest.approx(33, abs=1)


def test_a_recording_does_not_wait_for_fits(opened):
    service = opened(MonitorConfig(machines=(pump(fault_after=20.0),), speed=SPEED))
    learn(service)
    go_on = threading.Event()
    service._fits.submit("a fit that takes long", partial(go_on.wait, 120))
    event = wait_until(lambda: service.store.events(kind="anomaly"))[0]
    wait_until(lambda: service.store.event(event.id).has_audio)
    assert not go_on.is_set()
    go_on.set()


def test_a_mute_that_has_ended_is_not_shown(opened):
    service = opened(MonitorConfig(machines=(pushed("a"),)))
    service.api.mute("a", time.time() + 3600)
    assert service.api.machine_status("a").muted_until is not None
    service.machines["a"].muted_until = time.time() - 1
    assert service.api.machine_status("a").muted_until is None


def test_a_machine_added_while_the_configuration_is_read_again_stays(opened, tmp_path):
    path = tmp_path / "monitor.yaml"

    def write(name):
        machine = {"id": "a", "name": name, "source": {"kind": "pushed"}}
        path.write_text(yaml.safe_dump({"machines": [machine]}))

    write("one")
    service = opened(read_monitor_config(path), path)
    opener, started, go_on = service._admin._opener, threading.Event(), threading.Event()
    open_machine = opener.open

    def slowly(settings, *rest):
        if settings.id == "a":
            started.set()
            go_on.wait(30)
        return open_machine(settings, *rest)

    opener.open = slowly
    write("two")
    reloading = threading.Thread(target=service.reload)
    reloading.start()
    assert started.wait(30)
    adding = threading.Thread(target=service.api.add_machine, args=(pushed("b"),))
    adding.start()
    go_on.set()
    reloading.join(30)
    adding.join(30)
    assert set(service.machines.ids()) == {"a", "b"}
    assert service.machines["a"].settings.title == "two"


def test_adding_a_machine_twice_changes_nothing_of_the_first(opened):
    service = opened(MonitorConfig(machines=(pushed("a"),)))
    machine = service.machines["a"]
    service._housekeeping._values.set_false_alerts(machine, 5.0)
    other = pushed("a").model_copy(
        update={"alarm": machine.settings.alarm.model_copy(update={"false_alerts_per_week": 9.0})}
    )
    with pytest.raises(SsdptError, match="already a machine with the id a"):
        service.api.add_machine(other)
    assert service.store.get_value("a", "false_alerts_per_week")["value"] == 5.0


def test_what_needs_a_restart_is_said(opened, tmp_path):
    path = tmp_path / "monitor.yaml"

    def write(**settings):
        machines = [{"id": "a", "source": {"kind": "pushed"}}]
        path.write_text(yaml.safe_dump({"machines": machines, **settings}))

    write(device="cpu")
    service = opened(read_monitor_config(path), path)
    write(device="auto", timezone="Europe/Berlin")
    assert service.reload() == [
        "timezone changed",
        "device changed: restart the service to use it",
    ]
    assert service.api.status().timezone == "Europe/Berlin"


def test_a_score_of_a_replaced_model_does_not_count(opened):
    service = opened(MonitorConfig(machines=(pushed("a"),)))
    machine = service.machines["a"]
    scores = []
    machine.process = lambda score: scores.append(score) or []
    score = LiveScore(1.0, {}, 0)
    _process(machine, object(), score)
    _process(machine, machine.model, score)
    assert scores == [None, score]


def test_learned_values_are_copied_under_the_lock_of_the_machines(opened):
    service = opened(MonitorConfig(machines=(pushed("a"),)))
    machine, done = service.machines["a"], threading.Event()

    def save():
        service._housekeeping._values.save(machine)
        done.set()

    with service.machines.lock:
        threading.Thread(target=save, daemon=True).start()
        assert not done.wait(0.2)
    assert done.wait(60)


def test_all_machines_are_asked_to_stop_before_one_is_waited_for(opened, monkeypatch):
    service = opened(MonitorConfig(machines=tuple(pushed(f"m{n}") for n in range(5))))
    captures = [machine.capture for machine in service.machines]
    asked = []
    stop = AudioCapture.stop

    def counted(self, timeout=5.0):
        asked.append(sum(capture._stop.is_set() for capture in captures))
        stop(self, timeout)

    monkeypatch.setattr(AudioCapture, "stop", counted)
    opened.close()
    assert asked == [5] * 5
    assert not any(capture.alive for capture in captures)


def test_sources_that_do_not_end_are_not_waited_for_one_by_one(opened, monkeypatch):
    """27 seconds for 200 machines were measured, and a supervisor kills after 30."""
    released = threading.Event()
    monkeypatch.setattr(AudioCapture, "_run", lambda _: released.wait())
    monkeypatch.setattr(service_module, "_STOPPING", 0.5)
    opened(MonitorConfig(machines=tuple(pushed(f"m{n}") for n in range(60))))
    began = time.monotonic()
    opened.close()
    assert time.monotonic() - began < 20.0  # it was 30
    released.set()


@pytest.mark.parametrize("hangs", ["add_readings", "set_values"])
def test_a_database_that_hangs_does_not_hold_up_the_stop(opened, monkeypatch, caplog, hangs):
    released = threading.Event()
    service = opened(MonitorConfig(machines=(pushed("m1"),)))
    monkeypatch.setattr(service_module, "_LAST_WRITES", 0.5)
    monkeypatch.setattr(service.store, hangs, lambda *_, **__: released.wait())
    service._writer.add_reading(Reading(machine="m1", time=1.0, state="normal", level_dbfs=-30.0))
    closed = threading.Thread(target=opened.close)
    closed.start()
    wait_until(lambda: any("stops without waiting" in line for line in caplog.messages))
    released.set()
    closed.join()


def test_a_service_is_not_ready_while_its_store_takes_nothing(opened, monkeypatch):
    """It used to say 200 while the database hung."""
    service = opened(MonitorConfig(machines=(pushed("m1"),)))
    wait_until(lambda: service.ready, "it is ready")

    def refuse(*_):
        raise StoreUnavailable("the database does not respond")

    with monkeypatch.context() as patch:
        patch.setattr(service.store, "add_readings", refuse)
        service._writer.add_reading(
            Reading(machine="m1", time=1.0, state="normal", level_dbfs=-30.0)
        )
        wait_until(lambda: not service.ready, "it is not")
        assert "does not respond" in service.api.status().problems[0]
    wait_until(lambda: service.ready, "it is ready again")
