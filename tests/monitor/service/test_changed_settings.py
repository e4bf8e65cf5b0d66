"""Machines whose settings change on the page: what stays, and what must be learned again."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
import yaml
from monitors import SPEED, learn, pump

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, read_monitor_config
from ssdpt.monitor.service.setting_changes import baseline_after, keeps_baseline
from waiting import wait_until

CAMERA = "rtsp://ann:secret@camera/audio"


def camera(url=CAMERA, **more):
    settings = {"id": "cam", "source": {"kind": "network", "url": url}, **more}
    return MachineSettings.model_validate(settings)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": "Other", "group": "night", "alarm": {"min_duration": 5}}, "kept"),
        ({"source": {"kind": "network", "url": CAMERA, "timeout": 3, "max_silence": 9}}, "kept"),
        ({"source": {"kind": "network", "url": "rtsp://other/audio"}}, "ask"),
        ({"source": {"kind": "pushed"}}, "ask"),
        ({"sensor": {"unit": "Pa"}}, "new"),
    ],
)
def test_what_becomes_of_the_baseline(changes, expected):
    after = MachineSettings.model_validate({**camera().model_dump(), **changes})
    assert baseline_after(camera(), after) == expected


def test_a_baseline_is_never_given_up_without_being_asked_for():
    assert keeps_baseline("a", "kept", None)
    assert not keeps_baseline("a", "kept", "new")
    assert keeps_baseline("a", "ask", "keep")
    assert not keeps_baseline("a", "ask", "new")
    with pytest.raises(SsdptError, match=r"baseline=new, or \?baseline=keep"):
        keeps_baseline("a", "ask", None)
    with pytest.raises(SsdptError, match="no longer applies"):
        keeps_baseline("a", "new", "keep")


def test_a_machine_keeps_its_baseline_or_learns_anew(opened):
    monitor = opened(MonitorConfig(speed=SPEED))
    monitor.api.add_machine(pump())
    learn(monitor)
    monitor.api.mute("pump-1", 9e9)
    monitor.api.set_false_alerts("pump-1", 3.0)
    learned_at = monitor.api.machine_status("pump-1").baseline.learned_at
    capture = monitor.machines["pump-1"].capture

    renamed = pump().model_copy(update={"name": "Feed pump", "group": "night"})
    assert monitor.api.change_effect(renamed).baseline == "kept"
    monitor.api.change_machine(renamed, None)
    status = monitor.api.machine_status("pump-1")
    assert (status.name, status.group) == ("Feed pump", "night")
    assert status.baseline.learned_at == learned_at
    assert monitor.machines["pump-1"].capture is capture  # without a gap

    faulty = pump(fault_after=1e6).model_copy(update={"name": "Feed pump"})
    assert monitor.api.change_effect(faulty).baseline == "ask"
    with pytest.raises(SsdptError, match="baseline=keep"):
        monitor.api.change_machine(faulty, None)
    monitor.api.change_machine(faulty, "keep")
    assert monitor.api.machine_status("pump-1").baseline.learned_at == learned_at
    assert monitor.machines["pump-1"].capture is not capture

    monitor.api.change_machine(pump(), "new")
    status = monitor.api.machine_status("pump-1")
    assert status.baseline is None
    assert status.thresholds is None
    assert status.muted_until == 9e9  # what people have set stays
    assert monitor.store.trend("pump-1", 0, 9e9).time.size  # and the history
    opened.close()
    again = opened(MonitorConfig(speed=SPEED))
    assert again.api.machine_status("pump-1").baseline is None
    wait_until(lambda: again.api.machine_status("pump-1").last_sound is not None)


def test_the_time_of_a_simulation_never_jumps_back(opened, tmp_path):
    """Its clock runs ahead of ours, and goes on where the configuration is read again."""
    path = tmp_path / "monitor.yaml"

    def written(*machines):
        config = MonitorConfig(speed=SPEED, machines=machines)
        path.write_text(yaml.safe_dump(config.model_dump(mode="json")))
        return read_monitor_config(path)

    monitor = opened(written(pump()), path)

    def reached(id="pump-1"):
        return monitor.api.machine_status(id).last_sound or 0.0

    wait_until(lambda: reached() > time.time() + 20, "it is ahead of us")
    before, capture = reached(), monitor.machines["pump-1"].capture
    written(pump(fault_after=1e6), pump(change_every=60).model_copy(update={"id": "pump-2"}))
    assert "pump-1 changed" in monitor.reload()
    assert monitor.machines["pump-1"].capture is not capture
    after = wait_until(lambda: reached() != before and reached(), "it goes on")
    assert after > before
    assert wait_until(lambda: reached("pump-2")) > before
    changed = monitor.machines["pump-2"].settings.model_copy(update={"id": "pump-3"})
    monitor.api.add_machine(changed)
    assert wait_until(lambda: reached("pump-3")) > before


def test_a_simulation_that_has_ended_is_reported(opened):
    """Ahead of our clock its time goes on too, or the event would never come."""
    monitor = opened(MonitorConfig(speed=SPEED))
    monitor.api.add_machine(pump())
    machine = monitor.machines["pump-1"]
    wait_until(lambda: machine.last and machine.last.time > time.time() + 60, "it is ahead of us")
    machine.capture.stop(5.0)
    wait_until(lambda: machine.state == "lost", "it is lost")
    event = wait_until(lambda: machine.events.ongoing.get("signal"), "it is reported")
    assert event.began >= machine.last.time


def test_an_event_of_a_simulation_ends_after_it_began(opened):
    monitor = opened(MonitorConfig(speed=SPEED))
    monitor.api.add_machine(pump())
    machine = monitor.machines["pump-1"]
    wait_until(lambda: machine.last and machine.last.time > time.time() + 20, "it is ahead of us")
    with monitor.machines.lock:
        began = machine.last.time
        for message in machine.events.begin("signal", "alert", began, "test"):
            monitor._publisher.publish(message)
    monitor.api.remove_machine("pump-1")

    def ended():
        return [one for one in monitor.store.events(machine="pump-1") if one.ended is not None]

    (event,) = wait_until(ended)
    assert event.ended >= event.began == began


def test_a_sender_that_has_stopped_stays_noticed(opened):
    """Its last recording does not become current by other settings of the machine."""
    monitor = opened(MonitorConfig())

    def press(**source):
        given = {"id": "press", "source": {"kind": "pushed", **source}}
        return MachineSettings.model_validate(given)

    def status():
        return monitor.api.machine_status("press")

    monitor.api.add_machine(press())
    assert (status().data_age, status().stale_after) == (None, None)
    monitor.api.push("press", np.zeros((16000, 1), np.float32), 16000, 1)
    wait_until(lambda: status().data_age is not None, "it has arrived")
    assert status().stale_after == 600.0
    last = monitor.machines["press"].capture.arrivals.last
    monitor.api.change_machine(press(channel=1), "keep")
    assert monitor.machines["press"].capture.arrivals.last == last
    assert status().stale_after == 600.0


def test_a_hidden_password_stays_and_is_sent_nowhere_else(opened, tmp_path):
    monitor = opened(MonitorConfig())
    monitor.api.add_machine(camera())
    shown = monitor.api.definition("cam")
    assert shown.defined_in == "page"
    assert "secret" not in shown.model_dump_json()
    assert shown.settings.source.url == "rtsp://…@camera/audio"
    monitor.api.change_machine(shown.settings.model_copy(update={"name": "Camera"}), None)
    assert monitor.config.machines[0].source.url == CAMERA
    moved = camera("rtsp://…@elsewhere/audio")
    with pytest.raises(SsdptError, match="type the whole address again"):
        monitor.api.change_machine(moved, "keep")
    with pytest.raises(SsdptError, match="type the whole address again"):
        monitor.api.open_trial(moved)
    monitor.api.change_machine(camera("rtsp://ann:other@camera/audio"), "keep")
    (kept,) = json.loads((tmp_path / "data" / "machines.json").read_text())
    assert kept["source"]["url"] == "rtsp://ann:other@camera/audio"


def test_the_file_wins_and_the_other_definition_can_be_removed(opened, tmp_path):
    path = tmp_path / "monitor.yaml"
    source = {"kind": "pushed"}
    path.write_text(yaml.safe_dump({"machines": [{"id": "a", "source": source}]}))
    monitor = opened(read_monitor_config(path), path=path)
    mine = MachineSettings.model_validate({"id": "b", "name": "Mine", "source": source})
    monitor.api.add_machine(mine)
    with pytest.raises(SsdptError, match=r"is defined in monitor\.yaml; change it there"):
        monitor.api.change_machine(mine.model_copy(update={"id": "a"}), None)
    with pytest.raises(SsdptError, match="nothing to remove"):
        monitor.api.remove_ignored_definition("b")
    machines = [{"id": "a", "source": source}, {"id": "b", "name": "Ours", "source": source}]
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor.reload()
    both = monitor.api.definition("b")
    assert (both.defined_in, both.file, both.also_on_page) == ("file", "monitor.yaml", True)
    assert both.settings.name == "Ours"
    monitor.api.remove_ignored_definition("b")
    assert not monitor.api.definition("b").also_on_page
    assert json.loads((tmp_path / "data" / "machines.json").read_text()) == []
