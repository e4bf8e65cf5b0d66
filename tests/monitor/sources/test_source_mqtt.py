"""Snapshots from a real broker that comes and goes."""

from __future__ import annotations

import json
import subprocess
import threading

import numpy as np
import pytest

from free_ports import free_port
from receivers import Broker, Subscriber, certificate
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, SensorSettings
from ssdpt.monitor.service.check import check_connections
from ssdpt.monitor.sources import open_snapshots
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.monitor.sources.mqtt_source import MqttSourceSettings
from ssdpt.monitor.sources.snapshot import Unusable
from waiting import wait_until

needs_mosquitto = pytest.mark.needs_mosquitto
SENSOR = SensorSettings(unit="g", full_scale=50, axes=("x", "y"), snapshots=True)
TOPIC = "plant/pump-3/vibration"
PASSWORD = "correct horse battery"


@pytest.fixture
def broker(tmp_path):
    with Broker(tmp_path) as broker:
        yield broker


class Reader:
    """Reads a source on a thread of its own, as the service does."""

    def __init__(self, **settings):
        settings = MqttSourceSettings(host="127.0.0.1", topic=TOPIC, **settings)
        self.source = open_snapshots(settings, SENSOR)
        self.items = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        for item in self.source.snapshots(self._stop):
            self.items.append(item)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


def message(number, **more):
    axes = {"x": [float(number)] * 4, "y": [1.0, 2.0, 3.0, 4.0]}
    content = {"time": 1.7e9 + number, "sample_rate": 25_600, "unit": "g", "axes": axes}
    return json.dumps(content | more).encode()


def times(reader):
    return [item.time - 1.7e9 for item in reader.items]


@needs_mosquitto
def test_every_message_is_one_snapshot(broker):
    with Subscriber(broker.port, "other") as sender, Reader(port=broker.port) as reader:
        wait_until(lambda: reader.source.status.connected)
        assert f"subscribed to {TOPIC}" in reader.source.status.message
        for number in range(20):
            sender.say(TOPIC, message(number))
        wait_until(lambda: len(reader.items) == 20)
        assert times(reader) == list(range(20))
        assert reader.items[5].axes == ("x", "y")
        np.testing.assert_allclose(reader.items[5].samples[0], 0.1, rtol=1e-6)
        sender.say(TOPIC, b"hello")
        wait_until(lambda: len(reader.items) == 21)
        assert reader.items[-1] == Unusable("neither JSON nor a WAV or FLAC file")
        assert reader.source.status.rate_in == 25_600
    assert not reader.source.status.connected


@needs_mosquitto
def test_it_comes_back_and_what_came_meanwhile_is_kept_under_a_name_of_its_own(broker):
    with Reader(port=broker.port, client_id="ssdpt-pump-3") as reader:
        wait_until(lambda: reader.source.status.connected)
        broker.stop()
        wait_until(lambda: not reader.source.status.connected)
        assert "retrying in" in reader.source.status.message
        broker.start()
        wait_until(lambda: reader.source.status.connected)
        assert reader.source.status.reconnects == 1
    with Subscriber(broker.port, "other") as sender:
        for number in range(3):
            sender.say(TOPIC, message(number))
        with Reader(port=broker.port, client_id="ssdpt-pump-3") as again:
            wait_until(lambda: len(again.items) == 3)
            assert times(again) == [0, 1, 2]


@needs_mosquitto
def test_what_was_retained_is_old(broker):
    with Subscriber(broker.port, "other") as sender:
        sender.say(TOPIC, message(1), retain=True)
        with Reader(port=broker.port) as reader:
            wait_until(lambda: reader.source.status.connected)
            sender.say(TOPIC, message(2))
            wait_until(lambda: reader.items)
            assert times(reader) == [2]


@needs_mosquitto
def test_it_signs_in_over_an_encrypted_line(tmp_path):
    key, cert = certificate(tmp_path)
    users = tmp_path / "users"
    subprocess.run(["mosquitto_passwd", "-c", "-b", users, "ann", PASSWORD], check=True)
    secret = tmp_path / "secret"
    secret.write_text(PASSWORD)
    lines = (f"password_file {users}", f"certfile {cert}", f"keyfile {key}")
    settings = {"host": "localhost", "topic": TOPIC, "user": "ann", "tls": True, "ca_file": cert}
    with Broker(tmp_path, *lines, "allow_anonymous false") as broker:
        settings |= {"port": broker.port, "password_file": secret}
        source = open_snapshots(MqttSourceSettings(**settings), SENSOR)
        assert source.probe(30.0) == f"mqtt localhost:{broker.port}: subscribed to {TOPIC}"
        secret.write_text("wrong")
        refused = open_snapshots(MqttSourceSettings(**settings), SENSOR)
        with pytest.raises(SourceLost, match="no connection") as caught:
            refused.probe(30.0)
        assert "wrong" not in str(caught.value)


def test_a_broker_that_is_not_there_is_reported_by_the_check():
    settings = MqttSourceSettings(host="127.0.0.1", port=free_port(), topic=TOPIC)
    machine = MachineSettings(id="a", source=settings, sensor=SENSOR)
    (result,) = check_connections(MonitorConfig(machines=(machine,)))
    assert not result.ok
    assert f"mqtt 127.0.0.1:{settings.port}: no connection" in result.message


def test_mistakes_are_reported_before_it_connects(tmp_path):
    with pytest.raises(SsdptError, match="ca_file without tls"):
        open_snapshots(MqttSourceSettings(topic=TOPIC, ca_file=tmp_path), SENSOR)
    secret = tmp_path / "secret"
    secret.write_text("x")
    with pytest.raises(SsdptError, match="password_file needs user"):
        open_snapshots(MqttSourceSettings(topic=TOPIC, password_file=secret), SENSOR)
    assert not MqttSourceSettings(topic=TOPIC).reads_local_files
    assert MqttSourceSettings(topic=TOPIC, password_file=secret).reads_local_files
