"""What a monitor keeps, shares and lets go of: models, baselines, machines, over restarts."""

from __future__ import annotations

import shutil
import threading
import time
from functools import partial

import numpy as np
import pytest
import soundfile
import yaml
from monitors import SPEED, pump, wait_for

from ssdpt.config.tree import load_config
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    SimulatedSettings,
    read_monitor_config,
)
from ssdpt.monitor.learning.baseline import fit_baseline
from ssdpt.monitor.messages import Event
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.monitor.sources.simulated import SimulatedSource


def learn(monitor, id="pump-1", clips=12):
    source = monitor.machine(id).hearing.source
    monitor.learn_from(id, partial(source.normal_clips, clips))
    wait_for(lambda: monitor.snapshot(id)["state"] == "normal")


def under_way(machine, kind="anomaly"):
    return Event("ab" * 16, machine, kind, "alert", time.time(), "it sounds odd", peak=3.0)


def test_a_machine_with_two_operating_points(opened):
    source = SimulatedSettings(machine="fan", seed=7, speed=SPEED, change_every=40.0)
    fan = MachineSettings(id="fan-1", source=source)
    monitor = opened(MonitorConfig(machines=(fan,), speed=SPEED))
    learn(monitor, "fan-1", 24)
    told = monitor.snapshot("fan-1")
    assert [point["number"] for point in told["operating_points"]] == [1, 2]
    levels = [point["level_dbfs"] for point in told["operating_points"]]
    assert abs(levels[0] - levels[1]) > 3
    seen = set()
    bands = {}
    while len(seen & {1, 2}) < 2:
        at = wait_for(lambda: monitor.snapshot("fan-1")["operating_point"])
        seen.add(at)
        bands[at] = monitor.spectrum("fan-1")["mean"]
        time.sleep(0.2)
    assert abs(np.mean(bands[1]) - np.mean(bands[2])) > 3
    monitor.name_point("fan-1", 2, " night ")
    with pytest.raises(SsdptError, match="has no operating point 3"):
        monitor.name_point("fan-1", 3, "x")
    opened.close()
    again = opened(MonitorConfig(machines=(fan,), speed=SPEED))
    assert [point["name"] for point in again.snapshot("fan-1")["operating_points"]] == ["", "night"]


def test_a_machine_that_was_added_is_removed_with_all_it_has_learnt(opened, tmp_path):
    path = tmp_path / "plant.yaml"
    path.write_text(
        yaml.safe_dump({"machines": [{"id": "a", "source": {"kind": "pushed"}}], "speed": SPEED})
    )
    monitor = opened(read_monitor_config(path), path)
    heard = monitor.subscribe()
    monitor.add_machine(pump().model_dump())
    assert [told["added"] for told in monitor.snapshots()] == [False, True]
    learn(monitor)
    with monitor.lock:
        event = under_way("pump-1")
        monitor.machine("pump-1").events.resume(event)
        monitor.writer.event(event)
    with pytest.raises(SsdptError, match="named in the plant file; take it out there"):
        monitor.remove_machine("a")
    monitor.remove_machine("pump-1")
    assert set(monitor.machines) == {"a"}
    told = []
    while (message := heard.get(0.0)) is not None:
        told.append(message)
    assert {"event": "removed", "data": {"machine": "pump-1"}} in told
    assert not (tmp_path / "data" / "models" / "pump-1").exists()
    assert monitor.store.recall("pump-1", "baseline") is None
    wait_for(lambda: monitor.store.event(event.id).ended is not None)
    with pytest.raises(KeyError):
        monitor.remove_machine("pump-1")
    opened.close()
    assert set(opened(read_monitor_config(path), path).machines) == {"a"}


def test_events_of_a_machine_that_left_the_plant_file_end(opened, tmp_path):
    path = tmp_path / "plant.yaml"
    machines = [{"id": id, "source": {"kind": "pushed"}} for id in ("a", "b")]
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor = opened(read_monitor_config(path), path)
    event = under_way("a", "signal")
    monitor.machine("a").events.resume(event)
    path.write_text(yaml.safe_dump({"machines": machines[1:]}))
    assert monitor.reload() == ["a is no longer listened to"]
    wait_for(lambda: (found := monitor.store.event(event.id)) and found.ended is not None)


def test_events_of_a_machine_that_left_while_nobody_listened_end(opened):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    event = under_way("pump-1")
    monitor.writer.event(event)
    opened.close()
    other = MachineSettings(id="other", source=pump().source)
    again = opened(MonitorConfig(machines=(other,), speed=SPEED))
    assert again.store.event(event.id).ended is not None


def test_other_limits_are_no_gap_in_what_is_heard(opened, tmp_path):
    path = tmp_path / "plant.yaml"

    def write(**alarm):
        machine = pump().model_dump(mode="json") | {"alarm": alarm}
        path.write_text(yaml.safe_dump({"machines": [machine], "speed": SPEED}))

    write(per_week=1.0)
    monitor = opened(read_monitor_config(path), path)
    learn(monitor)
    monitor.set_thresholds("pump-1", 50.0)
    before = monitor.machine("pump-1")
    write(per_week=1.0, settle=20.0)
    assert monitor.reload() == ["pump-1 has changed"]
    after = monitor.machine("pump-1")
    assert after is not before
    assert after.hearing is before.hearing
    assert after.spectrum is before.spectrum
    # What was asked for on the page holds, until the plant file asks for something else.
    assert monitor.snapshot("pump-1")["thresholds"]["per_week"] == 50.0
    write(per_week=2.0)
    monitor.reload()
    assert monitor.snapshot("pump-1")["thresholds"]["per_week"] == 2.0
    wait_for(lambda: monitor.snapshot("pump-1")["state"] == "normal")


def test_what_one_machine_learns_is_not_told_to_others_of_its_model(opened, tmp_path):
    model = tmp_path / "model"
    clips = SimulatedSource(pump().source, 16000).normal_clips(10)
    fit_baseline(clips, 16000, "pump").save(model)
    shared = [
        MachineSettings(
            id=id,
            model=model,
            source=SimulatedSettings(machine="pump", seed=7, speed=SPEED, fault_after=after),
        )
        for id, after in (("one", 40.0), ("two", None))
    ]
    plant = MonitorConfig(machines=tuple(shared), speed=SPEED)
    monitor = opened(plant)
    one, two = (monitor.machine(id).judge for id in ("one", "two"))
    assert one.model is two.model
    stored = {path: path.read_bytes() for path in model.iterdir()}
    event = wait_for(lambda: monitor.store.events(machine="one"))[0]
    wait_for(lambda: monitor.store.event(event.id).audio_begin is not None)
    monitor.label(event.id, "normal", "ada")
    wait_for(lambda: one.model is not two.model)
    assert len(one.model.detector.fingerprint) > len(two.model.detector.fingerprint)
    assert {path: path.read_bytes() for path in model.iterdir()} == stored
    digest = one.model.digest
    opened.close()
    again = opened(plant)
    assert again.machine("one").judge.model.digest == digest
    opened.close()
    # Another model in the plant file's folder goes before what was learnt from the old one.
    shutil.rmtree(model)
    fit_baseline(clips[:8], 16000, "pump").save(model)
    last = opened(plant)
    assert last.machine("one").judge.model is last.machine("two").judge.model


def test_one_damaged_model_does_not_keep_the_others_from_being_heard(opened, tmp_path):
    plant = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(plant)
    learn(monitor)
    opened.close()
    folder = tmp_path / "data" / "models" / "pump-1"
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:20])
    again = opened(plant)
    assert again.machine("pump-1").judge.model is None
    assert any("cannot be read" in note and "learn anew" in note for note in again.notes)
    learn(again)


def test_learning_that_was_cut_off_begins_anew_and_can_be_stopped(opened):
    plant = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(plant)
    monitor.start_learning("pump-1", 30.0)
    opened.close()
    again = opened(plant)
    assert again.snapshot("pump-1")["learning"]["wanted"] == 1800.0
    assert any("begins anew" in note for note in again.notes)
    again.stop_learning("pump-1")
    assert again.snapshot("pump-1")["learning"] is None
    with pytest.raises(SsdptError, match="is not collecting normal sound"):
        again.stop_learning("pump-1")
    opened.close()
    assert opened(plant).snapshot("pump-1")["learning"] is None


def test_the_normal_sound_is_there_after_a_restart(opened):
    plant = MonitorConfig(machines=(pump(),), speed=SPEED)
    monitor = opened(plant)
    learn(monitor)
    wait_for(lambda: monitor.store.sample("pump-1"))
    opened.close()
    again = opened(plant)
    again.machine("pump-1").normal_samples.clear()
    assert again.normal_sample("pump-1")[:4] == b"fLaC"


def test_a_machine_that_gets_a_model_while_it_learns_starts_and_is_judged_by_it(opened, tmp_path):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    monitor.start_learning("pump-1", 30.0)
    opened.close()
    clips = SimulatedSource(pump().source, 16000).normal_clips(8)
    fit_baseline(clips, 16000, "pump").save(tmp_path / "model")
    named = pump().model_copy(update={"model": tmp_path / "model"})
    again = opened(MonitorConfig(machines=(named,), speed=SPEED))
    assert again.snapshot("pump-1")["learning"] is None
    wait_for(lambda: again.snapshot("pump-1")["state"] == "normal")


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


def test_a_machine_of_the_plant_file_is_not_removed_though_it_was_added_once(opened, tmp_path):
    path = tmp_path / "plant.yaml"
    machines = [{"id": id, "source": {"kind": "pushed"}} for id in ("a", "b")]
    path.write_text(yaml.safe_dump({"machines": machines[:1]}))
    monitor = opened(read_monitor_config(path), path)
    monitor.add_machine(machines[1])
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor.reload()
    assert not any(told["added"] for told in monitor.snapshots())
    with pytest.raises(SsdptError, match="named in the plant file"):
        monitor.remove_machine("b")


def test_a_figure_of_the_page_does_not_come_back(opened, tmp_path):
    path = tmp_path / "plant.yaml"

    def write(per_week):
        machine = pump().model_dump(mode="json") | {"alarm": {"per_week": per_week}}
        path.write_text(yaml.safe_dump({"machines": [machine], "speed": SPEED}))

    write(1.0)
    monitor = opened(read_monitor_config(path), path)
    learn(monitor)
    monitor.set_thresholds("pump-1", 500.0)
    for per_week in (2.0, 1.0):
        write(per_week)
        monitor.reload()
        assert monitor.snapshot("pump-1")["thresholds"]["per_week"] == per_week


def test_an_event_that_begins_while_the_plant_file_is_read_is_not_lost(opened, tmp_path):
    path = tmp_path / "plant.yaml"

    def write(**alarm):
        machine = pump().model_dump(mode="json") | {"alarm": alarm}
        path.write_text(yaml.safe_dump({"machines": [machine], "speed": SPEED}))

    write(settle=10.0)
    monitor = opened(read_monitor_config(path), path)
    learn(monitor)
    event = under_way("pump-1")
    opening = monitor.roster.open

    def meanwhile(*given):
        found = opening(*given)
        with monitor.lock:
            monitor.machine("pump-1").events.resume(event)
        return found

    monitor.roster.open = meanwhile
    write(settle=20.0)
    monitor.reload()
    # It goes on, and the machine, which is well, ends it.
    wait_for(lambda: (found := monitor.store.event(event.id)) and found.ended is not None)


def test_more_sound_is_held_where_recordings_are_to_be_longer(opened, tmp_path):
    path = tmp_path / "plant.yaml"
    machines = [{"id": "a", "source": {"kind": "pushed"}}]
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor = opened(read_monitor_config(path), path)
    retention = {"pre_roll": 120, "post_roll": 120}
    path.write_text(yaml.safe_dump({"machines": machines, "retention": retention}))
    told = monitor.reload()
    assert "things are kept for another time from now on" in told
    assert monitor.machine("a").hearing.ring.seconds >= 270


def test_one_that_is_removed_while_a_model_is_fitted_to_it_leaves_none(opened, tmp_path):
    monitor = opened(MonitorConfig(speed=SPEED))
    monitor.add_machine(pump().model_dump())
    go_on = threading.Event()

    def slowly():
        go_on.wait(30)
        return SimulatedSource(pump().source, 16000).normal_clips(8)

    monitor.learn_from("pump-1", slowly)
    monitor.remove_machine("pump-1")
    go_on.set()
    wait_for(lambda: not monitor.fitting)
    assert not (tmp_path / "data" / "models" / "pump-1").exists()


def test_what_is_called_normal_before_its_sound_is_stored_is_learnt_too(opened):
    monitor = opened(MonitorConfig(machines=(pump(fault_after=60.0),), speed=SPEED))
    learn(monitor)
    before = len(monitor.machine("pump-1").judge.model.detector.fingerprint)
    event = wait_for(lambda: monitor.store.events(kind="anomaly"))[0]
    assert monitor.store.event(event.id).audio_begin is None
    monitor.label(event.id, "normal", "ada")
    wait_for(lambda: len(monitor.machine("pump-1").judge.model.detector.fingerprint) > before)


def test_the_watch_goes_on_whatever_happens_in_a_round(opened):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    looking, broken = monitor._round, []

    def breaks():
        if not broken:
            broken.append(True)
            raise ZeroDivisionError
        return looking()

    monitor._round = breaks
    wait_for(lambda: broken)
    wait_for(lambda: monitor.snapshot("pump-1")["level_dbfs"] is not None)
    assert monitor.ready


def test_an_event_is_recorded_though_its_source_has_died(opened):
    monitor = opened(MonitorConfig(machines=(pump(fault_after=60.0),), speed=SPEED))
    learn(monitor)
    event = wait_for(lambda: monitor.store.events(kind="anomaly"))[0]
    monitor.machine("pump-1").hearing.stop()
    monitor.machine("pump-1").hearing.failure = "the microphone was pulled out"
    monitor.pending[event.id] = ("pump-1", event.began + 1e6)
    wait_for(lambda: monitor.store.attachment(event.id, "audio"))
