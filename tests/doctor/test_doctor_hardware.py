"""Hardware: each thing that can be missing or faulty."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from ssdpt.data import portaudio
from ssdpt.doctor import hardware
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources import microphones as microphone_list


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def test_the_base_install_says_what_it_cannot_tell(without_packages: None, tmp_path: Path) -> None:
    findings = {one.name: one for one in hardware.hardware(tmp_path)}
    assert {name for name, one in findings.items() if one.state == "missing"} == {
        "GPU",
        "C compiler",
        "microphone",
    }
    assert "extra train" in findings["GPU"].detail
    assert "extra live" in findings["microphone"].detail


def test_a_full_disk_and_a_small_memory_are_faults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100e6))
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 250_000))
    assert hardware.disk(tmp_path).state == hardware.memory().state == "faulty"
    assert hardware.disk(tmp_path).detail == "0.1 GB free in this folder"
    assert "export" in hardware.memory().remedy


def test_without_a_compiler_scores_are_the_same_and_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdpt.nn.native.is_native", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("SSDPT_NATIVE", raising=False)
    assert "apt install gcc" in hardware.compiler().remedy
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/cc")
    assert "does not run here" in hardware.compiler().detail
    monkeypatch.setenv("SSDPT_NATIVE", "0")
    assert "SSDPT_NATIVE=0" in hardware.compiler().detail


def test_microphones_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [SimpleNamespace(name="USB microphone"), SimpleNamespace(name="Line in")]
    monkeypatch.setattr(microphone_list, "microphones", lambda: names)
    assert hardware.microphone().detail == "USB microphone, Line in"
    monkeypatch.setattr(microphone_list, "microphones", lambda: [])
    assert hardware.microphone().state == "missing"
    assert "ssdpt help sources" in hardware.microphone().remedy


def test_a_missing_portaudio_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise OSError("PortAudio library not found")

    monkeypatch.setattr(portaudio.importlib, "import_module", fail)
    with pytest.raises(SsdptError):
        portaudio.sounddevice()
    finding = hardware.microphone()
    assert (finding.state, "libportaudio2" in finding.detail) == ("faulty", True)
