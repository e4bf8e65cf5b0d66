"""The monitor as a whole: simulated machines, a real store, from sound to acknowledged events."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pytest
import soundfile
import yaml
from monitors import SPEED, pump, wait_for

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    PushedSettings,
    ReplaySettings,
    read_monitor_config,
)


def test_a_fault_is_heard_kept_acknowledged_and_there_after_a_restart(opened):
    plant = MonitorConfig(machines=(pump(fault_after=100.0),), speed=SPEED)
    monitor = opened(plant)
    heard = monitor.subscribe()
    source = monitor.machine("pump-1").hearing.source
    monitor.learn_from("pump-1", partial(source.normal_clips, 12))
    wait_for(lambda: monitor.snapshot("pump-1")["state"] == "normal")
    assert monitor.ready
    event = wait_for(lambda: monitor.store.events())[0]
    assert (event.machine, event.kind) == ("pump-1", "anomaly")
    event = wait_for(lambda: (e := monitor.store.event(event.id)).audio_begin is not None and e)
    assert event.top_bands_hz
    path = monitor.store.attachment(event.id, "audio")
    samples, rate = soundfile.read(path)
    assert rate == 16000
    # Before it began: the pre-roll, the clip that was judged, and how long it had to last.
    assert len(samples) / rate == pytest.approx(10 + 10 + 3 + 10, abs=0.5)
    picture = monitor.event_spectrogram(event.id)
    assert np.shape(picture["columns"]) == np.shape(picture["map"])
    assert picture["begin"] == pytest.approx(event.audio_begin)

    found = monitor.acknowledge(event.id, "ada", "looking at it")
    assert (found.acknowledged_by, found.comments[0].text) == ("ada", "looking at it")
    told = set()
    while (message := heard.get(0.0)) is not None:
        told.add(message["event"])
    assert told == {"machine", "reading", "event"}
    assert monitor.snapshot("pump-1")["last_event"]["acknowledged"]["who"] == "ada"
    assert monitor.normal_sample("pump-1")[:4] == b"fLaC"
    assert len(monitor.spectrum("pump-1")["now"]) == len(monitor.spectrum("pump-1")["hz"]) == 128
    assert len(monitor.waterfall("pump-1", 5.0)["columns"]) > 100
    trend = monitor.store.trend("pump-1", event.began - 60, event.began + 10)
    assert len(trend.time) > 20

    opened.close()
    again = opened(plant)
    assert again.machine("pump-1").judge.model is not None  # what it has learnt
    known = again.store.event(event.id)
    assert (known.acknowledged_by, known.label) == ("ada", "")
    # The simulated machine is well again after its restart: the event ends by itself.
    wait_for(lambda: again.store.event(event.id).ended is not None)
    assert again.store.event(event.id).state == "cleared"


def test_a_machine_learns_its_baseline_live(opened):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    wait_for(lambda: monitor.snapshot("pump-1")["state"] == "starting")
    with pytest.raises(SsdptError, match="has no model yet"):
        monitor.thresholds("pump-1", 1.0)
    monitor.start_learning("pump-1", 1.0)
    told = wait_for(lambda: monitor.snapshot("pump-1")["learning"])
    assert told["wanted"] == 60.0
    wait_for(lambda: monitor.snapshot("pump-1")["state"] == "normal")
    strict, loose = (monitor.thresholds("pump-1", rate) for rate in (1.0, 100.0))
    assert strict["alert"] > loose["alert"]
    assert monitor.set_thresholds("pump-1", 100.0) == loose
    assert monitor.snapshot("pump-1")["thresholds"]["per_week"] == 100.0
    assert monitor.models()[0]["card_markdown"].startswith("# ")


def test_this_is_normal_teaches_the_model(opened):
    monitor = opened(MonitorConfig(machines=(pump(fault_after=60.0),), speed=SPEED))
    source = monitor.machine("pump-1").hearing.source
    monitor.learn_from("pump-1", partial(source.normal_clips, 12))
    event = wait_for(lambda: monitor.store.events())[0]
    wait_for(lambda: monitor.store.event(event.id).audio_begin is not None)
    before = len(monitor.machine("pump-1").judge.model.detector.fingerprint)
    assert monitor.label(event.id, "normal", "ada").label == "normal"
    wait_for(lambda: len(monitor.machine("pump-1").judge.model.detector.fingerprint) > before)
    wait_for(lambda: any("as normal from now on" in note for note in monitor.notes))


def test_sound_that_is_pushed_and_sound_that_is_not_wanted(opened, tmp_path):
    soundfile.write(tmp_path / "tone.wav", np.full(16000, 0.1, np.float32), 16000)
    monitor = opened(
        MonitorConfig(
            machines=(
                MachineSettings(id="pushed", source=PushedSettings()),
                MachineSettings(
                    id="replayed", source=ReplaySettings(path=tmp_path / "tone.wav", loop=True)
                ),
            )
        )
    )
    noise = 0.05 * np.random.default_rng(0).standard_normal((8000 * 3, 1)).astype(np.float32)
    monitor.push("pushed", noise, 8000, 1)
    wait_for(lambda: monitor.snapshot("pushed")["level_dbfs"] is not None)
    assert monitor.snapshot("pushed")["level_dbfs"] == pytest.approx(-23, abs=1)
    with pytest.raises(SsdptError, match="only one of kind pushed takes sound"):
        monitor.push("replayed", noise, 8000, 1)
    with pytest.raises(KeyError):
        monitor.push("nobody", noise, 8000, 1)


def test_the_plant_file_is_read_again_and_a_broken_one_is_not_taken(opened, tmp_path):
    path = tmp_path / "plant.yaml"

    def write(*ids, **more):
        machines = [{"id": id, "source": {"kind": "pushed"}} for id in ids]
        path.write_text(yaml.safe_dump({"name": "Hall", "machines": machines, **more}))

    write("a", "b")
    monitor = opened(read_monitor_config(path), path)
    write("b", "c")
    assert monitor.reload() == ["a is no longer listened to", "c is new"]
    assert set(monitor.machines) == {"b", "c"}
    kept = monitor.machines["b"]
    hook = {"kind": "webhook", "url": "http://127.0.0.1:9/hook"}
    write("b", "c", outputs=[hook])
    assert monitor.reload() == ["other outputs are told from now on"]
    assert [type(output).__name__ for output in monitor.outputs] == ["WebhookOutput"]
    write("b", "b")
    with pytest.raises(SsdptError, match="two machines are called b"):
        monitor.reload()
    write("b", "x y")
    with pytest.raises(SsdptError, match=r"plant\.yaml: machine x y: .*an id has small letters"):
        monitor.reload()
    assert set(monitor.machines) == {"b", "c"}
    assert monitor.machines["b"] is kept
    assert monitor.add_machine({"id": "d", "source": {"kind": "pushed"}}) == "d"
    with pytest.raises(SsdptError, match="called d already"):
        monitor.add_machine({"id": "d", "source": {"kind": "pushed"}})
    with pytest.raises(SsdptError, match="machine: setting source: is missing"):
        monitor.add_machine({"id": "e"})
    write("b", "c", outputs=[hook])
    assert monitor.reload() == []
    opened.close()
    assert set(opened(read_monitor_config(path), path).machines) == {"b", "c", "d"}
    opened.close()
    (tmp_path / "data" / "machines.json").write_text("{")
    with pytest.raises(SsdptError, match="repair the file or remove it"):
        opened(read_monitor_config(path), path)


def test_no_sound_is_kept_where_none_may_be(opened, tmp_path):
    plant = MonitorConfig(
        machines=(pump(fault_after=60.0),), speed=SPEED, retention={"keep_audio": False}
    )
    monitor = opened(plant)
    source = monitor.machine("pump-1").hearing.source
    monitor.learn_from("pump-1", partial(source.normal_clips, 12))
    event = wait_for(lambda: monitor.store.events())[0]
    wait_for(lambda: monitor.machine("pump-1").last.time > event.began + 15)
    time.sleep(0.2)
    assert monitor.store.attachment(event.id, "audio") is None
    with pytest.raises(SsdptError, match="no normal sound is kept"):
        monitor.normal_sample("pump-1")
    kept = [path.suffix for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not {".flac", ".wav", ".npz"} & set(kept)
