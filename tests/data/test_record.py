"""Recording, with a fake microphone."""

from __future__ import annotations

import contextlib
import errno
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ssdpt.common.progress import Reporter, Task
from ssdpt.data.audio import probe, read
from ssdpt.data.layouts import read_layout
from ssdpt.data.record import level_dbfs, record
from ssdpt.errors import SsdptError


class PortAudioError(Exception):
    pass


class Microphone(ModuleType):
    """Stands in for the sounddevice module; it records `sound` on its last channel."""

    PortAudioError = PortAudioError

    def __init__(self) -> None:
        super().__init__("sounddevice")
        self.channels = 2
        self.rates = {16000, 48000}
        self.there = True
        self.gain = 0.1
        self.stop_after: int | None = None
        self.break_after: int | None = None
        self.overflow = False

    def query_devices(self, device: Any, kind: str) -> dict[str, Any]:
        assert kind == "input"
        if not self.there:
            raise PortAudioError("Error querying device -1")
        return {"max_input_channels": self.channels, "default_samplerate": 48000.0}

    def check_input_settings(self, *, samplerate: int, **_: Any) -> None:
        if samplerate not in self.rates:
            raise PortAudioError("Invalid sample rate")

    @contextlib.contextmanager
    def InputStream(self, *, channels: int, samplerate: int, **_: Any) -> Iterator[Any]:
        outer = self
        generator = np.random.default_rng(0)

        class Stream:
            done = 0

            def read(self, frames: int) -> tuple[Any, bool]:
                if outer.stop_after is not None and self.done >= outer.stop_after:
                    raise KeyboardInterrupt
                if outer.break_after is not None and self.done >= outer.break_after:
                    raise PortAudioError("Device unavailable")
                self.done += frames
                block = np.zeros((frames, channels), np.float32)
                block[:, -1] = outer.gain * generator.standard_normal(frames)
                return np.clip(block, -1, 1), outer.overflow

        yield Stream()


class Listener(Reporter):
    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.levels: list[str] = []
        self.seconds = 0.0

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    @contextlib.contextmanager
    def task(self, description: str, total: float | None = None) -> Iterator[Task]:
        outer = self

        class Shown(Task):
            def advance(self, steps: float = 1, note: str = "") -> None:
                outer.seconds += steps
                outer.levels.append(note)

        yield Shown()


@pytest.fixture
def microphone(monkeypatch: pytest.MonkeyPatch) -> Microphone:
    fake = Microphone()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake


def test_clips_are_written_and_read_as_normal(microphone: Microphone, tmp_path: Path) -> None:
    listener = Listener()
    paths = record(tmp_path / "saw", 0.25, channel=1, clip_seconds=6, reporter=listener)
    assert [probe(path).seconds for path in paths] == [6.0, 6.0, 3.0]
    assert listener.seconds == pytest.approx(15)
    assert set(listener.levels) == {"-20 dBFS"}
    assert listener.warnings == []
    dataset = read_layout(tmp_path / "saw")
    assert {(r.machine, r.label) for r in dataset.recordings} == {("saw", "normal")}
    joined = np.concatenate([read(path) for path in paths])
    expected = 0.1 * np.random.default_rng(0).standard_normal(len(joined))
    np.testing.assert_allclose(joined, expected, atol=1 / 32768)


def test_a_second_recording_overwrites_nothing(microphone: Microphone, tmp_path: Path) -> None:
    first = record(tmp_path, 0.05, channel=1, clip_seconds=1)
    second = record(tmp_path, 0.05, channel=1, clip_seconds=1)
    assert len({*first, *second}) == 6
    assert len(list((tmp_path / "normal").iterdir())) == 6


def test_ctrl_c_keeps_the_clip_begun(microphone: Microphone, tmp_path: Path) -> None:
    microphone.stop_after = 7 * 16000
    paths = record(tmp_path, 10, channel=1, clip_seconds=5)
    assert [probe(path).seconds for path in paths] == [5.0, 2.0]


def test_a_microphone_pulled_out_loses_nothing(microphone: Microphone, tmp_path: Path) -> None:
    microphone.break_after = 7 * 16000
    with pytest.raises(SsdptError, match=r"broke off \(Device unavailable\); 2 clips are kept"):
        record(tmp_path, 10, channel=1, clip_seconds=5)
    assert len(list((tmp_path / "normal").iterdir())) == 2


def test_silence_and_clipping_are_reported_once(microphone: Microphone, tmp_path: Path) -> None:
    listener = Listener()
    record(tmp_path, 0.1, channel=0, clip_seconds=2, reporter=listener)
    microphone.gain = 0
    assert len(listener.warnings) == 0
    record(tmp_path, 0.1, channel=0, clip_seconds=2, reporter=listener)
    assert [text.partition(": ")[2][:6] for text in listener.warnings] == ["silent"]
    assert listener.levels[-1] == "-120 dBFS"
    microphone.gain = 2
    record(tmp_path, 0.1, channel=0, clip_seconds=2, reporter=listener)
    assert "clipped; lower the gain" in listener.warnings[1]
    assert len(listener.warnings) == 2


def test_lost_sound_is_reported(microphone: Microphone, tmp_path: Path) -> None:
    microphone.overflow = True
    listener = Listener()
    record(tmp_path, 0.05, reporter=listener)
    assert "lost sound" in listener.warnings[0]


def test_a_device_without_the_rate_records_at_its_own(
    microphone: Microphone, tmp_path: Path
) -> None:
    microphone.rates = {48000}
    listener = Listener()
    (path,) = record(tmp_path, 0.05, reporter=listener)
    assert probe(path).sample_rate == 48000
    assert "cannot record at 16000 Hz; recording at its default 48000 Hz" in listener.warnings[0]


def test_no_microphone_no_channel(microphone: Microphone, tmp_path: Path) -> None:
    with pytest.raises(SsdptError, match="microphone usb: there is no channel 2; it has 2"):
        record(tmp_path, 1, device="usb", channel=2)
    microphone.there = False
    with pytest.raises(SsdptError, match=r"not found .* connect one"):
        record(tmp_path, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ImportError("No module named 'sounddevice'"), r"pip install 'ssdpt\[live\]'"),
        (OSError("PortAudio library not found"), "apt install libportaudio2"),
    ],
)
def test_what_to_install_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, advice: str
) -> None:
    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(SsdptError, match=advice):
        record(tmp_path, 1)


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), float("inf")])
def test_impossible_lengths(microphone: Microphone, tmp_path: Path, minutes: float) -> None:
    with pytest.raises(SsdptError, match="cannot record"):
        record(tmp_path, minutes)


def test_impossible_clip_length(microphone: Microphone, tmp_path: Path) -> None:
    with pytest.raises(SsdptError, match="cannot record clips"):
        record(tmp_path, 1, clip_seconds=0)


def test_a_full_disk_is_a_sentence(
    microphone: Microphone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SsdptError, match="the disk is full"):
        record(tmp_path, 0.1, clip_seconds=2)
    assert list((tmp_path / "normal").iterdir()) == []


def test_level() -> None:
    time = np.arange(16000) / 16000
    sine = np.sin(2 * np.pi * 100 * time).astype(np.float32)
    assert level_dbfs(sine) == pytest.approx(-3.01, abs=0.01)
    assert level_dbfs(np.full(10, 0.5, np.float32)) == -120
