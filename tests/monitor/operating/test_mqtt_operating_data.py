"""Operating data from a real MQTT broker that comes and goes."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from receivers import Broker, Subscriber
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.operating import open_operating_data
from ssdpt.monitor.operating.mqtt_operating_data import MqttOperatingDataSettings
from ssdpt.monitor.sources.base import SourceLost
from waiting import wait_until

pytestmark = pytest.mark.needs_mosquitto


def settings(port, **changes):
    return MqttOperatingDataSettings.model_validate(
        {
            "host": "127.0.0.1",
            "port": port,
            "running": {"topic": "pump/state", "values": ["RUN"]},
            "speed_rpm": {"topic": "pump/drive", "pointer": "/drive/0/hz", "scale": 60},
            "load_percent": {"topic": "pump/drive", "pointer": "/load"},
            **changes,
        }
    )


@contextmanager
def receiving(given):
    source = open_operating_data(given)
    source.start()
    try:
        yield source
    finally:
        source.stop(5.0)
        assert source.status.message.startswith("stopped")


def reports(source, **expected):
    data = source.data
    return data is not None and all(
        getattr(data, name) == value for name, value in expected.items()
    )


def test_values_come_from_topics_and_pointers_and_bad_ones_are_left_out(tmp_path):
    with Broker(tmp_path) as broker, Subscriber(broker.port, "x") as plant:
        plant.say("pump/state", "RUN", retain=True)
        with receiving(settings(broker.port)) as source:
            wait_until(lambda: reports(source, running=True), "what was retained is known")
            plant.say("pump/drive", json.dumps({"drive": [{"hz": 24.5}], "load": 61}))
            wait_until(lambda: reports(source, speed_rpm=1470, load_percent=61), "the drive")
            assert source.status.connected
            assert "subscribed to pump/drive, pump/state" in source.status.message
            for bad in (b"\xff\xfe", b"{", b"[]", b'{"drive": [], "load": 62}', b"x" * 2_000_000):
                plant.say("pump/drive", bad)
            plant.say("pump/state", "STOP")
            wait_until(lambda: reports(source, running=False), "it has stopped")
            # What holds no value says nothing about it.
            assert reports(source, speed_rpm=1470, load_percent=62)
            plant.say("pump/drive", json.dumps({"drive": [{"hz": 1e8}], "load": float("nan")}))
            plant.say("pump/state", "RUN")
            wait_until(lambda: reports(source, running=True), "it runs again")
            assert reports(source, speed_rpm=None, load_percent=None)
            message = source.status.message
            assert "11 values left out, the last: 'nan' is not a finite number" in message


def test_a_broker_that_comes_back_is_found_again_and_values_are_unknown_meanwhile(tmp_path):
    broker = Broker(tmp_path)
    with receiving(settings(broker.port, max_age=None)) as source:
        wait_until(lambda: "retrying in" in source.status.message, "there is no broker")
        assert source.data is None
        with broker, Subscriber(broker.port, "x") as plant:
            wait_until(lambda: source.status.connected, "it is found")
            plant.say("pump/state", "RUN", retain=True)
            wait_until(lambda: reports(source, running=True), "it runs")
        wait_until(lambda: not source.status.connected, "the broker is gone")
        assert source.data.running is None
        with broker:
            wait_until(lambda: reports(source, running=True), "it is found again")


def test_the_connection_is_checked(tmp_path):
    broker = Broker(tmp_path)
    source = open_operating_data(settings(broker.port))
    with pytest.raises(SourceLost, match=r"mqtt 127\.0\.0\.1:\d+: no connection"):
        source.probe(5.0)
    with broker:
        assert "subscribed to" in source.probe(5.0)


def test_settings_that_cannot_work_are_refused(tmp_path):
    with pytest.raises(ValueError, match="names no value"):
        MqttOperatingDataSettings.model_validate({"kind": "mqtt"})
    (tmp_path / "secret").write_text("x")
    with pytest.raises(SsdptError, match="password_file needs user"):
        open_operating_data(settings(1883, password_file=tmp_path / "secret"))
    machine = {
        "id": "a",
        "source": {"kind": "pushed"},
        "operating_data": {"kind": "mqtt", "running": {"topic": "a"}},
    }
    again = MachineSettings.model_validate(machine).model_dump(mode="json")
    assert again["operating_data"]["running"]["topic"] == "a"
    assert MachineSettings.model_validate(again) == MachineSettings.model_validate(machine)
