"""The first configuration file, and the microphones to choose from."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from ssdpt.errors import SsdptError
from ssdpt.monitor import first_config as module
from ssdpt.monitor.config import read_monitor_config
from ssdpt.monitor.first_config import add_first_machine, first_config, local_timezone
from ssdpt.monitor.service.added_machines import AddedMachines
from ssdpt.monitor.sources.microphones import microphones


def test_the_file_is_read_as_it_was_meant(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(first_config("Werk: Süd #1", "Asia/Tokyo", path.name), "utf-8")
    config = read_monitor_config(path)
    assert (config.name, config.timezone) == ("Werk: Süd #1", "Asia/Tokyo")
    assert config.machines == ()
    with pytest.raises(SsdptError, match="is not a time zone"):
        first_config("Works", "Mars", path.name)


def test_the_first_machine_takes_the_place_of_no_other(tmp_path):
    path = tmp_path / "data" / "machines.json"
    add_first_machine(path, {"kind": "network", "url": "rtsp://camera/audio"})
    add_first_machine(path, {"kind": "simulated", "machine": "fan"})
    first, second = AddedMachines(path).machines
    assert (first.id, first.name, first.source.url) == (
        "machine-1",
        "Machine 1",
        "rtsp://camera/audio",
    )
    assert (second.id, second.source.kind) == ("machine-2", "simulated")


def test_the_time_zone_of_the_computer(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LOCALTIME", tmp_path / "localtime")
    monkeypatch.setattr(module, "_TIMEZONE", tmp_path / "timezone")
    monkeypatch.delenv("TZ", raising=False)
    assert local_timezone() == "UTC"
    (tmp_path / "timezone").write_text("America/Lima\n")
    assert local_timezone() == "America/Lima"
    monkeypatch.setattr(module, "_ZONES", tmp_path / "zones")
    zone = tmp_path / "zones" / "Europe" / "Berlin"
    zone.parent.mkdir(parents=True)
    zone.touch()
    (tmp_path / "localtime").symlink_to(zone)
    assert local_timezone() == "Europe/Berlin"
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert local_timezone() == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "CET-1CEST")  # a rule, and no name
    assert local_timezone() == "Europe/Berlin"


class SoundCards(ModuleType):
    """Stands in for the sounddevice module."""

    PortAudioError = OSError

    def query_devices(self, device=None, kind=None):
        names = (("Speaker", 0), ("USB", 1), ("Twin", 2), ("Twin", 2))
        devices = [
            {
                "index": number,
                "name": name,
                "max_input_channels": channels,
                "default_samplerate": 48000.0,
            }
            for number, (name, channels) in enumerate(names)
        ]
        return devices[1] if kind else devices

    def _terminate(self):
        pass

    _initialize = _terminate


def test_microphones_have_names_that_find_them_again(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", SoundCards("sounddevice"))
    found = [(each.device, each.name, each.is_default) for each in microphones()]
    assert found == [("USB", "USB", True), ("2", "Twin", False), ("3", "Twin", False)]


def test_without_the_extra_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SsdptError, match="needs the package sounddevice"):
        microphones()
