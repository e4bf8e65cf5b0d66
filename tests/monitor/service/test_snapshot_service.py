"""The service with machines that send snapshots: learned, judged, restarted, changed."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
import soundfile
from bearing import EVERY, RATE, bearing

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, SensorSettings, read_monitor_config
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.sources.replay_source import ReplaySettings
from ssdpt.monitor.sources.snapshot_message import SnapshotMessage
from waiting import wait_until

SENSOR = SensorSettings(unit="g", full_scale=50, axes=("x", "y"), snapshots=True)


def pump(**changes):
    settings = MachineSettings(id="pump", name="Pump", source=PushedSettings(), sensor=SENSOR)
    return settings.model_copy(update=changes)


class Sender:
    """Sends snapshots of two axes, taken every ten seconds of the last hours."""

    def __init__(self, service):
        self.service = service
        self.began = time.time() - 20_000
        self.sent = 0

    def send(self, count=1, burst=0.0, service=None):
        service = service or self.service
        for _ in range(count):
            before = service.loop.readings
            frames = np.stack([bearing(2 * self.sent), bearing(2 * self.sent + 1, burst)], axis=1)
            service.api.push("pump", frames, RATE, 2, self.began + EVERY * self.sent)
            self.sent += 1
            wait_until(lambda before=before, service=service: service.loop.readings > before)


def state(service):
    return service.api.machine_status("pump").state


def test_learned_judged_and_kept_over_a_restart(opened):
    service = opened(MonitorConfig(machines=(pump(),)))
    sender = Sender(service)
    sender.send()
    assert state(service) == "starting"
    service.api.start_learning("pump", 5)
    sender.send(10)
    status = service.api.machine_status("pump")
    assert status.state == "learning"
    assert 0 < status.learning.seconds < status.learning.target_seconds == 300
    opened.close()
    # Learning starts again where the service was stopped meanwhile.
    service = opened(MonitorConfig(machines=(pump(),)))
    assert state(service) == "learning"
    sender.send(42, service=service)
    wait_until(lambda: service.api.machine_status("pump").baseline)
    sender.send(20, service=service)
    status = service.api.machine_status("pump")
    assert status.state == "normal"
    assert status.sensor.unit == "g"
    assert status.sensor.axes == ("x", "y")
    assert len(status.bands) == 8
    assert "baseline learned from" in service.log.notes[-1]
    sender.send(20, burst=0.2, service=service)
    assert state(service) == "alarm"
    event = service.api.machine_status("pump").last_event
    assert " on axis y: " in event.message
    wait_until(lambda: service.store.attachment(event.id, "audio"))
    samples, rate = soundfile.read(service.store.attachment(event.id, "audio"))
    assert rate == RATE
    assert len(samples) % 1280 == 0
    wait_until(lambda: service.store.attachment(event.id, "spectrogram"))
    baseline = status.baseline
    opened.close()
    service = opened(MonitorConfig(machines=(pump(),)))
    assert service.api.machine_status("pump").baseline == baseline
    sender.send(3, burst=0.2, service=service)
    assert state(service) == "alarm"
    assert service.api.machine_status("pump").last_event.id == event.id
    assert service.api.machine_status("pump").last_event.ended is None
    sender.send(45, service=service)
    assert state(service) == "normal"


def test_other_alarm_settings_keep_the_capture_and_the_baseline(opened, tmp_path):
    path = tmp_path / "monitor.yaml"
    text = """
machines:
  - id: pump
    source: {{kind: pushed}}
    sensor: {{unit: g, full_scale: 50, axes: [x, y], snapshots: {snapshots}}}
    alarm: {{exit_share: {share}}}
"""
    path.write_text(text.format(share=0.8, snapshots="true"))
    service = opened(read_monitor_config(path), path)
    sender = Sender(service)
    service.api.start_learning("pump", 4)
    sender.send(42)
    wait_until(lambda: service.api.machine_status("pump").baseline)
    capture = service.machines["pump"].capture
    path.write_text(text.format(share=0.7, snapshots="true"))
    service.reload()
    assert service.machines["pump"].capture is capture
    sender.send(2)
    assert state(service) == "normal"
    assert service.api.machine_status("pump").thresholds.alert_exit == pytest.approx(0.7)
    # The same machine as a stream has another capture, and learns anew.
    path.write_text(text.format(share=0.7, snapshots="false"))
    service.reload()
    assert service.machines["pump"].capture is not capture
    assert service.api.machine_status("pump").baseline is None


def test_snapshots_as_json(opened):
    service = opened(MonitorConfig(machines=(pump(),)))
    axes = {name: tuple((50 * bearing(1)).tolist()) for name in ("y", "x")}
    message = SnapshotMessage(sample_rate=RATE, unit="g", axes=axes)
    assert service.api.push_snapshot("pump", message) == pytest.approx(0.1)
    wait_until(lambda: service.loop.readings)
    reading = service.machines["pump"].last
    assert reading.level_dbfs == pytest.approx(-31, abs=0.5)
    with pytest.raises(SsdptError, match="either values, of one axis"):
        service.api.push_snapshot("pump", SnapshotMessage(sample_rate=RATE))


def test_a_stream_takes_no_json(opened):
    service = opened(MonitorConfig(machines=(pump(sensor=SensorSettings()),)))
    with pytest.raises(SsdptError, match="takes no snapshots as JSON"):
        service.api.push_snapshot("pump", SnapshotMessage(sample_rate=RATE, values=(1.0,)))


def test_a_life_is_replayed_fast(opened, tmp_path):
    sizes = np.concatenate([np.zeros(60), np.linspace(0, 0.3, 60)])
    life = np.concatenate([bearing(number, size) for number, size in enumerate(sizes)])
    path = tmp_path / "life.flac"
    soundfile.write(path, life, RATE)
    source = ReplaySettings(path=path, snapshot=0.1, every=10, speed=1000)
    sensor = SENSOR.model_copy(update={"axes": ()})
    service = opened(MonitorConfig(machines=(pump(source=source, sensor=sensor),), speed=1000))
    service.api.start_learning("pump", 5)
    wait_until(lambda: service.loop.readings == 120)
    assert state(service) == "alarm"
    (event,) = service.store.events(kind="anomaly") or [
        service.api.machine_status("pump").last_event
    ]
    assert event.level == "alarm"


def test_a_stream_keeps_the_sample_rate_of_its_sensor(opened):
    sensor = SensorSettings(unit="m/s²", sample_rate=25_600)
    service = opened(MonitorConfig(machines=(pump(sensor=sensor),)))
    status = service.api.machine_status("pump").sensor
    assert (status.sample_rate, status.unit, status.full_scale) == (25_600, "m/s²", 500.0)
    assert service.machines["pump"].capture.rate == 25_600


def sample_rms(service):
    samples, rate = soundfile.read(io.BytesIO(service.api.normal_sample("pump")), always_2d=True)
    assert (rate, samples.shape[1]) == (RATE, 1)
    return float(np.sqrt(np.mean(samples**2)))


def test_normal_sample_is_of_the_baseline_and_outlives_a_restart(opened):
    service = opened(MonitorConfig(machines=(pump(),)))
    sender = Sender(service)
    with pytest.raises(SsdptError, match="no normal sound to compare with yet"):
        service.api.normal_sample("pump")
    service.api.start_learning("pump", 5)
    sender.send(45)
    wait_until(lambda: service.api.machine_status("pump").baseline)
    learned = sample_rms(service)
    sender.send(20, burst=0.2)  # the second axis knocks: the sample shown is of that one
    assert state(service) in ("alert", "alarm")
    assert sample_rms(service) == pytest.approx(learned, rel=0.1)
    wait_until(lambda: service.store.sample("pump"))
    opened.close()
    service = opened(MonitorConfig(machines=(pump(),)))
    assert sample_rms(service) == pytest.approx(learned, rel=0.1)
