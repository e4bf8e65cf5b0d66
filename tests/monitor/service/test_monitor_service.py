"""The monitor as a whole: simulated machines, a real store, from sound to acknowledged events."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
import yaml
from monitors import SPEED, finish_jobs, learn, pump

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, read_monitor_config
from ssdpt.monitor.messages import EventChanged, MachineChanged, ReadingTaken, ServiceChanged
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.sources.replay_source import ReplaySettings
from waiting import wait_until


def pushed(id):
    return MachineSettings(id=id, source=PushedSettings())


def test_a_fault_is_detected_recorded_acknowledged_and_there_after_a_restart(opened):
    config = MonitorConfig(machines=(pump(fault_after=20.0),), speed=SPEED)
    monitor = opened(config)
    subscription = monitor.api.subscribe()
    learn(monitor)
    assert monitor.ready
    event = wait_until(lambda: monitor.store.events())[0]
    assert (event.machine, event.kind) == ("pump-1", "anomaly")
    event = wait_until(lambda: (e := monitor.store.event(event.id)).audio_begin is not None and e)
    assert event.top_bands_hz
    path = monitor.store.attachment(event.id, "audio")
    samples, rate = soundfile.read(path)
    assert rate == 16000
    # Before it began: the pre-roll, the clip that was judged, and how long it had to last.
    assert len(samples) / rate == pytest.approx(10 + 10 + 3 + 10, abs=0.5)
    picture = monitor.api.event_spectrogram(event.id)
    assert np.shape(picture.columns) == np.shape(picture.anomaly_map)
    assert picture.begin == pytest.approx(event.audio_begin)

    found = monitor.api.acknowledge(event.id, "ada", "looking at it")
    assert (found.acknowledged.who, found.comments[0].text) == ("ada", "looking at it")
    kinds = set()
    while (message := subscription.get(0.0)) is not None:
        kinds.add(type(message))
    assert kinds == {MachineChanged, ReadingTaken, EventChanged, ServiceChanged}
    assert monitor.api.machine_status("pump-1").last_event.acknowledged.who == "ada"
    assert monitor.api.normal_sample("pump-1")[:4] == b"fLaC"
    spectrum = monitor.api.spectrum("pump-1")
    assert len(spectrum.now) == len(spectrum.mean) == len(spectrum.hz) == 128
    assert len(monitor.api.spectrogram("pump-1", 5.0).columns) > 100
    trend = monitor.store.trend("pump-1", event.began - 60, event.began + 10)
    assert len(trend.time) > 20

    opened.close()
    again = opened(config)
    assert again.machines["pump-1"].model is not None  # what it has learned
    known = again.store.event(event.id)
    assert (known.acknowledged.who, known.label) == ("ada", "")
    # The simulated machine is well again after its restart: the event ends by itself.
    wait_until(lambda: again.store.event(event.id).ended is not None)
    assert again.store.event(event.id).state == "cleared"


def test_a_machine_learns_its_baseline_live(opened):
    monitor = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    wait_until(lambda: monitor.api.machine_status("pump-1").state == "starting")
    with pytest.raises(SsdptError, match="has no model yet"):
        monitor.api.thresholds("pump-1", 1.0)
    monitor.api.start_learning("pump-1", 1.0)
    progress = wait_until(lambda: monitor.api.machine_status("pump-1").learning)
    assert progress.target_seconds == 60.0
    wait_until(lambda: monitor.api.machine_status("pump-1").state == "normal")
    strict, loose = (monitor.api.thresholds("pump-1", rate) for rate in (1.0, 100.0))
    assert strict.alert > loose.alert
    assert monitor.api.set_false_alerts("pump-1", 100.0) == loose
    assert monitor.api.machine_status("pump-1").thresholds.false_alerts_per_week == 100.0
    assert monitor.api.models()[0].card_markdown.startswith("# ")


def test_an_event_labelled_normal_is_added_to_the_model(opened):
    monitor = opened(MonitorConfig(machines=(pump(fault_after=20.0),), speed=SPEED))
    learn(monitor)
    event = wait_until(lambda: monitor.store.events())[0]
    wait_until(lambda: monitor.store.event(event.id).audio_begin is not None)
    before = len(monitor.machines["pump-1"].model.detector.fingerprint)
    labelled = monitor.api.label(event.id, "normal", "ada")
    assert labelled.label == "normal"
    assert labelled.acknowledged.who == "ada"  # who says what it was has seen it
    wait_until(lambda: len(monitor.machines["pump-1"].model.detector.fingerprint) > before)
    wait_until(lambda: any("is normal from now on" in note for note in monitor.log.notes))


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
    monitor.api.push("pushed", noise, 8000, 1)
    wait_until(lambda: monitor.api.machine_status("pushed").level_dbfs is not None)
    assert monitor.api.machine_status("pushed").level_dbfs == pytest.approx(-23, abs=1)
    with pytest.raises(SsdptError, match="only a source of kind pushed accepts sound"):
        monitor.api.push("replayed", noise, 8000, 1)
    with pytest.raises(KeyError):
        monitor.api.push("nobody", noise, 8000, 1)


def test_a_changed_configuration_is_used_and_a_broken_one_is_not(opened, tmp_path):
    path = tmp_path / "monitor.yaml"

    def write(*ids, **more):
        machines = [{"id": id, "source": {"kind": "pushed"}} for id in ids]
        path.write_text(yaml.safe_dump({"name": "Hall", "machines": machines, **more}))

    write("a", "b")
    monitor = opened(read_monitor_config(path), path)
    write("b", "c")
    assert monitor.reload() == ["a removed", "c added"]
    assert set(monitor.machines.ids()) == {"b", "c"}
    kept = monitor.machines["b"]
    hook = {"kind": "webhook", "url": "http://127.0.0.1:9/hook"}
    write("b", "c", outputs=[hook])
    assert monitor.reload() == ["outputs updated"]
    assert b'ssdpt_output_healthy{output="webhook' in monitor.metrics.text()
    write("b", "b")
    with pytest.raises(SsdptError, match="two machines have the id b"):
        monitor.reload()
    write("b", "x y")
    with pytest.raises(
        SsdptError, match=r"monitor\.yaml: machine x y: .*at most 64 lower-case letters"
    ):
        monitor.reload()
    assert set(monitor.machines.ids()) == {"b", "c"}
    assert monitor.machines["b"] is kept
    assert monitor.api.add_machine(pushed("d")) == "d"
    with pytest.raises(SsdptError, match="already a machine with the id d"):
        monitor.api.add_machine(pushed("d"))
    write("b", "c", outputs=[hook])
    assert monitor.reload() == []
    opened.close()
    assert set(opened(read_monitor_config(path), path).machines.ids()) == {"b", "c", "d"}
    opened.close()
    (tmp_path / "data" / "machines.json").write_text("{")
    with pytest.raises(SsdptError, match="repair the file or remove it"):
        opened(read_monitor_config(path), path)


def test_no_sound_is_kept_where_none_may_be(opened, tmp_path):
    config = MonitorConfig(
        machines=(pump(fault_after=20.0),), speed=SPEED, retention={"keep_audio": False}
    )
    monitor = opened(config)
    learn(monitor)
    event = wait_until(lambda: monitor.store.events())[0]
    wait_until(lambda: monitor.machines["pump-1"].last.time > event.began + 15)
    finish_jobs(monitor)
    assert monitor.store.attachment(event.id, "audio") is None
    with pytest.raises(SsdptError, match="there is no normal sound to compare with"):
        monitor.api.normal_sample("pump-1")
    kept = [path.suffix for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not {".flac", ".wav", ".npz"} & set(kept)
