"""Operating data from asyncua's own OPC UA server, which stops, hangs and comes back."""

from __future__ import annotations

import pytest
from asyncua import ua
from opcua_server import OpcuaServer
from test_mqtt_operating_data import receiving, reports

from ssdpt.monitor.operating import opcua_operating_data as module
from ssdpt.monitor.operating import open_operating_data
from ssdpt.monitor.operating.opcua_operating_data import OpcuaOperatingDataSettings
from ssdpt.monitor.sources.base import SourceLost
from waiting import wait_until

pytestmark = pytest.mark.filterwarnings("default")  # asyncua's own, of its server


def settings(server, **changes):
    return OpcuaOperatingDataSettings.model_validate(
        {
            "endpoint": server.endpoint,
            "running": {"node": "ns=2;s=Running"},
            "speed_rpm": {"node": "ns=2;s=Speed", "scale": 60},
            "load_percent": {"node": "ns=2;s=Load"},
            **changes,
        }
    )


def test_changes_arrive_and_what_the_server_distrusts_is_unknown():
    with OpcuaServer() as server, receiving(settings(server)) as source:
        wait_until(lambda: reports(source, running=True, speed_rpm=1470, load_percent=61), "read")
        wait_until(lambda: source.status.connected, "it is subscribed")
        server.set("Speed", 16.5)
        server.set("Running", False)
        wait_until(lambda: reports(source, running=False, speed_rpm=990), "the changes arrive")
        server.set("Load", 1e9)
        wait_until(lambda: "a load of 1,000,000,000 %" in source.status.message, "it is left out")
        assert source.data.load_percent is None


@pytest.mark.parametrize(
    "status", ["BadSensorFailure", "UncertainLastUsableValue", "UncertainSensorNotAccurate"]
)
@pytest.mark.parametrize(("node", "value"), [("Load", 62.0), ("Running", False)])
def test_a_value_that_the_server_does_not_call_good_is_missing(node, value, status):
    name = {"Load": "load_percent", "Running": "running"}[node]
    with OpcuaServer() as server, receiving(settings(server)) as source:
        wait_until(lambda: reports(source, running=True, load_percent=61), "it is read")
        wait_until(lambda: source.status.connected, "it is subscribed")
        server.set(node, value, getattr(ua.StatusCodes, status))
        why = f"ns=2;s={node} is unknown: the server calls its value {status}"
        wait_until(lambda: why in source.status.message, "the status says so")
        assert reports(source, **{name: None}, speed_rpm=1470)
        server.set(node, value)
        wait_until(lambda: reports(source, **{name: value}), "it is good again")
        assert "is unknown" not in source.status.message


def test_a_server_that_restarts_or_hangs_is_found_again(monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT", 0.5)
    server = OpcuaServer()
    with receiving(settings(server, max_age=1.5)) as source:
        wait_until(lambda: "retrying in" in source.status.message, "there is no server")
        with server:
            wait_until(lambda: source.status.connected, "it is found")
            go_on = server.freeze()
            try:
                wait_until(lambda: not source.status.connected, "it hangs")
                assert "no answer" in source.status.message
                wait_until(lambda: reports(source, running=None), "its values are too old")
            finally:
                go_on.set()
            wait_until(lambda: reports(source, running=True), "it answers again")
        wait_until(lambda: reports(source, running=None, speed_rpm=None), "it is gone")
        with server:
            wait_until(lambda: reports(source, running=True), "it is back")


def test_a_value_that_does_not_change_stays_known():
    with OpcuaServer() as server, receiving(settings(server, max_age=0.9)) as source:
        wait_until(lambda: source.status.connected, "it is subscribed")
        first = source.data.at
        wait_until(lambda: source.data.at > first + 1, "it is read again and again")
        assert reports(source, running=True, speed_rpm=1470)


def test_signing_in_and_nodes_are_checked(tmp_path):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "wrong").write_text("wrong")
    with OpcuaServer(signs_in=True) as server:
        signed = settings(server, user="ssdpt", password_file=tmp_path / "secret")
        assert "reads ns=2;s=Running, ns=2;s=Speed" in open_operating_data(signed).probe(10)
        for wrong in (
            settings(server, user="ssdpt", password_file=tmp_path / "wrong"),
            settings(server),
        ):
            with pytest.raises(SourceLost, match="no connection"):
                open_operating_data(wrong).probe(10)
        unknown = signed.model_copy(
            update={"running": signed.running.model_copy(update={"node": "ns=2;s=Runing"})}
        )
        with pytest.raises(SourceLost, match="ns=2;s=Runing: BadNodeIdUnknown"):
            open_operating_data(unknown).probe(10)


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(ValueError, match="names no value"):
        OpcuaOperatingDataSettings.model_validate({"endpoint": "opc.tcp://plc:4840"})
    with pytest.raises(ValueError, match="write them in user"):
        OpcuaOperatingDataSettings.model_validate(
            {"endpoint": "opc.tcp://me:secret@plc:4840", "running": {"node": "ns=2;i=1"}}
        )
    with pytest.raises(ValueError, match="password_file needs user"):
        OpcuaOperatingDataSettings.model_validate(
            {
                "endpoint": "opc.tcp://plc:4840",
                "password_file": "x",
                "running": {"node": "ns=2;i=1"},
            }
        )
