"""What a monitor keeps, shares and lets go of: models, baselines, machines, over restarts."""

from __future__ import annotations

import json
import shutil
import threading
import time
from functools import partial

import numpy as np
import pytest
import soundfile
import yaml
from monitors import SPEED, finish_jobs, learn, pump
from sqlalchemy import update

from ssdpt.config.tree import load_config
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    read_monitor_config,
)
from ssdpt.monitor.learning.baseline import learn_baseline
from ssdpt.monitor.messages import Event, MachineRemoved
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.monitor.sources.simulated_source import SimulatedSettings, SimulatedSource
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.tables import machine_values
from waiting import wait_until


def active_event(machine, kind="anomaly"):
    return Event(
        id="ab" * 16,
        machine=machine,
        kind=kind,
        level="alert",
        began=time.time(),
        message="unusual sound",
        peak=3.0,
    )


def test_a_machine_with_two_operating_points(opened):
    source = SimulatedSettings(machine="fan", seed=7, speed=SPEED, change_every=40.0)
    fan = MachineSettings(id="fan-1", source=source)
    monitor = opened(MonitorConfig(machines=(fan,), speed=SPEED))
    learn(monitor, "fan-1", 24)
    status = monitor.api.machine_status("fan-1")
    assert [point.number for point in status.operating_points] == [1, 2]
    levels = [point.level_dbfs for point in status.operating_points]
    assert abs(levels[0] - levels[1]) > 3
    seen = set()
    bands = {}
    while len(seen & {1, 2}) < 2:
        at = wait_until(lambda: monitor.api.machine_status("fan-1").operating_point)
        seen.add(at)
        bands[at] = monitor.api.spectrum("fan-1").mean
    assert abs(np.mean(bands[1]) - np.mean(bands[2])) > 3
    monitor.api.name_operating_point("fan-1", 2, " night ")
    with pytest.raises(SsdptError, match="has no operating point 3"):
        monitor.api.name_operating_point("fan-1", 3, "x")
    opened.close()
    again = opened(MonitorConfig(machines=(fan,), speed=SPEED))
    assert [point.name for point in again.api.machine_status("fan-1").operating_points] == [
        "",
        "night",
    ]


def test_the_normal_sound_outlives_a_restart(opened):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    learn(monitor)
    learned = monitor.machines["pump-1"].references.sound
    opened.close()
    again = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    restored = again.machines["pump-1"].references.sound
    np.testing.assert_allclose(restored.usual_db, learned.usual_db, atol=0.1)


def test_a_machine_that_was_added_is_removed_with_all_it_has_learned(opened, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(
        yaml.safe_dump({"machines": [{"id": "a", "source": {"kind": "pushed"}}], "speed": SPEED})
    )
    monitor = opened(read_monitor_config(path), path)
    subscription = monitor.api.subscribe()
    monitor.api.add_machine(pump())
    statuses = monitor.api.machine_statuses()
    assert [status.added_on_page for status in statuses] == [False, True]
    learn(monitor)
    with monitor.machines.lock:
        event = active_event("pump-1")
        monitor.machines["pump-1"].events.resume([event], event)
        monitor._writer.add_event(event)
    with pytest.raises(SsdptError, match="in the configuration file; remove it there"):
        monitor.api.remove_machine("a")
    monitor.api.remove_machine("pump-1")
    assert set(monitor.machines.ids()) == {"a"}
    messages = []
    while (message := subscription.get(0.0)) is not None:
        messages.append(message)
    assert MachineRemoved(machine="pump-1") in messages
    assert not (tmp_path / "data" / "models" / "pump-1").exists()
    assert monitor.store.get_value("pump-1", "baseline") is None
    wait_until(lambda: monitor.store.event(event.id).ended is not None)
    with pytest.raises(KeyError):
        monitor.api.remove_machine("pump-1")
    opened.close()
    assert set(opened(read_monitor_config(path), path).machines.ids()) == {"a"}


def test_events_of_a_machine_that_left_the_configuration_file_end(opened, tmp_path):
    path = tmp_path / "monitor.yaml"
    machines = [{"id": id, "source": {"kind": "pushed"}} for id in ("a", "b")]
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor = opened(read_monitor_config(path), path)
    event = active_event("a", "signal")
    monitor.machines["a"].events.resume([event], event)
    path.write_text(yaml.safe_dump({"machines": machines[1:]}))
    assert monitor.reload() == ["a removed"]
    wait_until(lambda: (found := monitor.store.event(event.id)) and found.ended is not None)


def test_events_of_a_machine_that_left_while_the_service_was_stopped_end(opened):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    event = active_event("pump-1")
    monitor._writer.add_event(event)
    opened.close()
    other = MachineSettings(id="other", source=pump().source)
    again = opened(MonitorConfig(machines=(other,), speed=SPEED))
    assert again.store.event(event.id).ended is not None


def test_other_alarm_settings_make_no_gap_in_the_capture(opened, tmp_path):
    path = tmp_path / "monitor.yaml"

    def write(**alarm):
        machine = pump().model_dump(mode="json") | {"alarm": alarm}
        path.write_text(yaml.safe_dump({"machines": [machine], "speed": SPEED}))

    write(false_alerts_per_week=1.0)
    monitor = opened(read_monitor_config(path), path)
    learn(monitor)
    monitor.api.set_false_alerts("pump-1", 50.0)
    before = monitor.machines["pump-1"]
    write(false_alerts_per_week=1.0, clear_after=20.0)
    assert monitor.reload() == ["pump-1 changed"]
    after = monitor.machines["pump-1"]
    assert after is not before
    assert after.capture is before.capture
    assert after.references is before.references
    # What was asked for on the page holds, until the configuration file asks for something else.
    assert monitor.api.machine_status("pump-1").thresholds.false_alerts_per_week == 50.0
    write(false_alerts_per_week=2.0)
    monitor.reload()
    assert monitor.api.machine_status("pump-1").thresholds.false_alerts_per_week == 2.0
    wait_until(lambda: monitor.api.machine_status("pump-1").state == "normal")


def test_what_one_machine_learns_is_not_shared_with_others_of_its_model(opened, tmp_path):
    model = tmp_path / "model"
    clips = SimulatedSource(pump().source, 16000).normal_clips(10)
    learn_baseline(clips, 16000, "pump").detector.save(model)
    shared = [
        MachineSettings(
            id=id,
            model=model,
            source=SimulatedSettings(machine="pump", seed=7, speed=SPEED, fault_after=after),
        )
        for id, after in (("one", 40.0), ("two", None))
    ]
    config = MonitorConfig(machines=tuple(shared), speed=SPEED)
    monitor = opened(config)
    one, two = (monitor.machines[id] for id in ("one", "two"))
    one.capture.source.held.set()
    wait_until(lambda: one.state == "normal")
    one.capture.source.held.clear()
    assert one.model is two.model
    stored = {path: path.read_bytes() for path in model.iterdir()}
    event = wait_until(lambda: monitor.store.events(machine="one"))[0]
    wait_until(lambda: monitor.store.event(event.id).audio_begin is not None)
    monitor.api.label(event.id, "normal", "ada")
    wait_until(lambda: one.model is not two.model)
    assert len(one.model.detector.fingerprint) > len(two.model.detector.fingerprint)
    assert {path: path.read_bytes() for path in model.iterdir()} == stored
    digest = one.model.digest
    opened.close()
    again = opened(config)
    assert again.machines["one"].model.digest == digest
    opened.close()
    # Another model in the named folder wins over what was learned from the old one.
    shutil.rmtree(model)
    learn_baseline(clips[:8], 16000, "pump").detector.save(model)
    last = opened(config)
    assert last.machines["one"].model is last.machines["two"].model


def test_one_damaged_model_does_not_keep_the_others_from_starting(opened, tmp_path):
    config = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(config)
    learn(monitor)
    opened.close()
    folder = tmp_path / "data" / "models" / "pump-1"
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:20])
    again = opened(config)
    assert again.machines["pump-1"].model is None
    assert any(
        "cannot be read" in note and "learn a new baseline" in note for note in again.log.notes
    )
    learn(again)


def test_a_damaged_model_in_the_configuration_does_not_keep_the_others_from_starting(
    opened, tmp_path, models
):
    named = tmp_path / "model"
    shutil.copytree(models["texture"], named)
    head = json.loads((named / "config.json").read_text())
    (named / "config.json").write_text(json.dumps({**head, "system": {"portraits": []}}))
    broken = pump().model_copy(update={"id": "broken", "name": "Broken", "model": named})
    config = MonitorConfig(machines=(broken, pump()), speed=SPEED)
    monitor = opened(config)
    learn(monitor)
    assert monitor.machines["broken"].model is None
    (problem,) = monitor.api.status().problems
    assert str(named) in problem
    assert "Broken is not judged" in problem


def test_a_model_without_the_section_does_not_keep_the_others_from_starting(
    opened, tmp_path, models
):
    changes = {"id": "moved", "name": "Moved", "model": models["texture"], "section": "99"}
    moved = pump().model_copy(update=changes)
    monitor = opened(MonitorConfig(machines=(moved, pump()), speed=SPEED))
    assert monitor.machines["moved"].model is None
    (problem,) = monitor.api.status().problems
    assert "has no section '99'" in problem
    assert "Moved is not judged" in problem


def test_damaged_values_in_the_store_do_not_keep_a_service_from_starting(opened, tmp_path):
    config = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(config)
    learn(monitor)
    opened.close()
    for damage in ('{"a": ', "7", "[[]]", '"x"', "[" * 100_000, '{"points": 1}', "Infinity"):
        with (
            Store.open(f"sqlite:///{tmp_path}/history.db", tmp_path / "data") as store,
            store.database.write() as connection,
        ):
            connection.execute(update(machine_values).values(value=damage))
        again = opened(config)
        wait_until(lambda again=again: again.api.machine_status("pump-1").last_sound is not None)
        opened.close()


def test_a_model_that_was_being_replaced_when_the_service_was_killed_is_used_again(
    opened, tmp_path
):
    config = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(config)
    learn(monitor)
    digest = monitor.machines["pump-1"].model.digest
    opened.close()
    # As a kill between two renames leaves it, where folders cannot be swapped in one step.
    folder = tmp_path / "data" / "models" / "pump-1"
    shutil.copytree(folder, folder.with_name(".pump-1.abcd1234.tmp"))
    folder.rename(folder.with_name(".pump-1.abcd1234.old"))
    again = opened(config)
    assert again.machines["pump-1"].model.digest == digest
    assert any("the one before is used" in note for note in again.log.notes)
    assert [path.name for path in folder.parent.iterdir()] == ["pump-1"]


def test_learning_that_was_cut_off_begins_anew_and_can_be_stopped(opened):
    config = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(config)
    monitor.api.start_learning("pump-1", 30.0)
    opened.close()
    again = opened(config)
    assert again.api.machine_status("pump-1").learning.target_seconds == 1800.0
    assert any("starts again" in note for note in again.log.notes)
    again.api.stop_learning("pump-1")
    assert again.api.machine_status("pump-1").learning is None
    with pytest.raises(SsdptError, match="is not learning a baseline"):
        again.api.stop_learning("pump-1")
    opened.close()
    assert opened(config).api.machine_status("pump-1").learning is None


def test_the_normal_sound_is_there_after_a_restart(opened):
    config = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(config)
    learn(monitor)
    wait_until(lambda: monitor.store.sample("pump-1"))
    opened.close()
    again = opened(config)
    again.machines["pump-1"].references.samples.clear()
    assert again.api.normal_sample("pump-1")[:4] == b"fLaC"


def test_a_machine_that_gets_a_model_while_it_learns_starts_and_is_judged_by_it(opened, tmp_path):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    monitor.api.start_learning("pump-1", 30.0)
    opened.close()
    clips = SimulatedSource(pump().source, 16000).normal_clips(8)
    learn_baseline(clips, 16000, "pump").detector.save(tmp_path / "model")
    named = pump().model_copy(update={"model": tmp_path / "model"})
    again = opened(MonitorConfig(machines=(named,), speed=SPEED))
    assert again.api.machine_status("pump-1").learning is None
    wait_until(lambda: again.api.machine_status("pump-1").state == "normal")


def test_another_system_fitted_to_the_same_clips_is_another_model(tmp_path):
    clips = SimulatedSource(pump().source, 16000).normal_clips(8)
    paths = []
    for number, clip in enumerate(clips):
        paths.append(tmp_path / "normal" / f"{number}.wav")
        paths[-1].parent.mkdir(exist_ok=True)
        soundfile.write(paths[-1], clip, 16000, subtype="FLOAT")
    first, second = (
        LiveModel(Detector.fit(tmp_path / "normal", config=load_config("best", changes)))
        for changes in ({}, {"system": "gmm"})
    )
    assert first.detector.fingerprint == second.detector.fingerprint
    assert first.digest != second.digest


def test_a_machine_of_the_configuration_file_is_not_removed_though_it_was_added_once(
    opened, tmp_path
):
    path = tmp_path / "monitor.yaml"
    machines = [{"id": id, "source": {"kind": "pushed"}} for id in ("a", "b")]
    path.write_text(yaml.safe_dump({"machines": machines[:1]}))
    monitor = opened(read_monitor_config(path), path)
    monitor.api.add_machine(MachineSettings.model_validate(machines[1]))
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor.reload()
    assert not any(status.added_on_page for status in monitor.api.machine_statuses())
    with pytest.raises(SsdptError, match="in the configuration file"):
        monitor.api.remove_machine("b")


def test_a_figure_of_the_page_does_not_come_back(opened, tmp_path):
    path = tmp_path / "monitor.yaml"

    def write(per_week):
        machine = pump().model_dump(mode="json") | {"alarm": {"false_alerts_per_week": per_week}}
        path.write_text(yaml.safe_dump({"machines": [machine], "speed": SPEED}))

    write(1.0)
    monitor = opened(read_monitor_config(path), path)
    learn(monitor)
    monitor.api.set_false_alerts("pump-1", 500.0)
    for per_week in (2.0, 1.0):
        write(per_week)
        monitor.reload()
        assert monitor.api.machine_status("pump-1").thresholds.false_alerts_per_week == per_week


def test_an_event_that_begins_while_the_configuration_file_is_read_is_not_lost(opened, tmp_path):
    path = tmp_path / "monitor.yaml"

    def write(**alarm):
        machine = pump().model_dump(mode="json") | {"alarm": alarm}
        path.write_text(yaml.safe_dump({"machines": [machine], "speed": SPEED}))

    write(clear_after=10.0)
    monitor = opened(read_monitor_config(path), path)
    learn(monitor)
    event = active_event("pump-1")
    opener = monitor._admin._opener
    open_machine = opener.open

    def meanwhile(*given):
        machine = open_machine(*given)
        with monitor.machines.lock:
            monitor.machines["pump-1"].events.resume([event], event)
        return machine

    opener.open = meanwhile
    write(clear_after=20.0)
    monitor.reload()
    # It goes on, and the machine, which is well, ends it.
    wait_until(lambda: (found := monitor.store.event(event.id)) and found.ended is not None)


def test_more_sound_is_held_where_recordings_are_to_be_longer(opened, tmp_path):
    path = tmp_path / "monitor.yaml"
    machines = [{"id": "a", "source": {"kind": "pushed"}}]
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor = opened(read_monitor_config(path), path)
    retention = {"pre_roll": 120, "post_roll": 120}
    path.write_text(yaml.safe_dump({"machines": machines, "retention": retention}))
    changes = monitor.reload()
    assert "retention changed" in changes
    assert monitor.machines["a"].capture.samples.seconds >= 270


def test_one_that_is_removed_while_a_model_is_fitted_to_it_leaves_none(opened, tmp_path):
    monitor = opened(MonitorConfig(speed=SPEED))
    monitor.api.add_machine(pump())
    go_on = threading.Event()

    def slowly():
        go_on.wait(30)
        return SimulatedSource(pump().source, 16000).normal_clips(8)

    monitor.learning.learn_from("pump-1", slowly)
    monitor.api.remove_machine("pump-1")
    go_on.set()
    finish_jobs(monitor)
    assert not (tmp_path / "data" / "models" / "pump-1").exists()


def test_what_is_called_normal_before_its_sound_is_stored_is_learned_too(opened):
    monitor = opened(MonitorConfig(machines=(pump(fault_after=20.0),), speed=SPEED))
    learn(monitor)
    before = len(monitor.machines["pump-1"].model.detector.fingerprint)
    go_on = threading.Event()
    monitor._recordings.submit("another recording", partial(go_on.wait, 60))
    event = wait_until(lambda: monitor.store.events(kind="anomaly"))[0]
    monitor.api.label(event.id, "normal", "ada")
    assert monitor.store.event(event.id).audio_begin is None
    go_on.set()
    wait_until(lambda: len(monitor.machines["pump-1"].model.detector.fingerprint) > before)


def test_monitoring_goes_on_whatever_happens_in_a_round(opened):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    process, broken = monitor.loop._round, []

    def breaks():
        if not broken:
            broken.append(True)
            raise ZeroDivisionError
        return process()

    monitor.loop._round = breaks
    wait_until(lambda: broken)
    wait_until(lambda: monitor.api.machine_status("pump-1").level_dbfs is not None)
    assert monitor.ready


def test_an_event_is_recorded_though_its_source_has_died(opened):
    monitor = opened(MonitorConfig(machines=(pump(fault_after=20.0),), speed=SPEED))
    learn(monitor)
    event = wait_until(lambda: monitor.store.events(kind="anomaly"))[0]
    monitor.machines["pump-1"].capture.stop()
    monitor.machines["pump-1"].capture.failure = "the microphone was pulled out"
    monitor._recorder._pending[event.id] = ("pump-1", event.began + 1e6)
    wait_until(lambda: monitor.store.attachment(event.id, "audio"))
