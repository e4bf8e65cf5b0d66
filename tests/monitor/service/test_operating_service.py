"""Operating data in a running service: pushed, reloaded, checked."""

from __future__ import annotations

import threading

import pytest

from free_ports import free_port
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import read_monitor_config
from ssdpt.monitor.service.check import check_connections
from waiting import wait_until

MACHINE = "zone: UTC\nmachines: [{id: fan, source: {kind: simulated}%s}]\n"


def receivers():
    return [one for one in threading.enumerate() if one.name == "ssdpt-operating-data"]


def test_operating_data_is_pushed_replaced_and_removed_while_the_service_runs(opened, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(MACHINE % ", operating_data: {kind: pushed, settle_seconds: 0}")
    service = opened(read_monitor_config(path), path)
    assert any("'zone' is called 'timezone'" in note for note in service.log.notes)
    api = service.api
    api.push_operating_data("fan", running=False, speed_rpm=0, load_percent=None)
    wait_until(lambda: api.machine_status("fan").state == "off", "it is off")
    with pytest.raises(SsdptError, match="a speed of 1,000,000,000 rpm is not plausible"):
        api.push_operating_data("fan", running=True, speed_rpm=1e9, load_percent=None)
    wait_until(lambda: api.machine_status("fan").state == "starting", "it runs")
    assert "1 value left out" in api.machine_status("fan").operating_data_source.message

    topics = f"{{kind: mqtt, host: 127.0.0.1, port: {free_port()}, running: {{topic: a}}}}"
    path.write_text(MACHINE % f", operating_data: {topics}")
    assert "fan changed" in service.reload()
    source = wait_until(lambda: api.machine_status("fan").operating_data_source)
    assert source.kind == "mqtt"
    wait_until(lambda: "retrying in" in api.machine_status("fan").operating_data_source.message)
    assert api.machine_status("fan").operating_data is None
    with pytest.raises(SsdptError, match="takes no operating data by HTTP"):
        api.push_operating_data("fan", running=True, speed_rpm=None, load_percent=None)
    assert len(receivers()) == 1

    path.write_text(MACHINE % "")
    service.reload()
    assert api.machine_status("fan").operating_data_source is None
    wait_until(lambda: not receivers(), "nothing is received any more")


def test_the_connection_is_part_of_the_check(tmp_path):
    path = tmp_path / "monitor.yaml"
    topics = f"{{kind: mqtt, host: 127.0.0.1, port: {free_port()}, running: {{topic: a}}}}"
    path.write_text(MACHINE % f", operating_data: {topics}")
    results = {one.name: one for one in check_connections(read_monitor_config(path))}
    assert not results["fan operating data"].ok
    assert "no connection" in results["fan operating data"].message
    path.write_text(MACHINE % ", operating_data: {kind: pushed}")
    results = {one.name: one for one in check_connections(read_monitor_config(path))}
    assert results["fan operating data"].ok
