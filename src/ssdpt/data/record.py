"""Record normal sound from a microphone into a folder that `fit` takes as it is."""

from __future__ import annotations

import io
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from ssdpt.common.files import atomic_path
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.portaudio import sounddevice
from ssdpt.errors import SsdptError
from ssdpt.types import Floats

_BLOCK_SECONDS = 0.5  # how often the level is shown
_FULL_SCALE = 0.999
_SILENT_DBFS = -80.0  # below what a working microphone gives
_LOWEST_DBFS = -120.0


def record(
    out: Path,
    minutes: float,
    *,
    device: int | str | None = None,
    sample_rate: int = 16000,
    channel: int = 0,
    clip_seconds: float = 10.0,
    reporter: Reporter = SILENT,
) -> list[Path]:
    """Record `minutes` of sound as consecutive clips into `out`/normal; return the files.

    Each clip is a 16-bit FLAC file of `clip_seconds`, written as soon as it is full. Ctrl-C ends
    the recording and keeps the clip begun. A device that cannot give `sample_rate` Hz is recorded
    at its own rate. `device` is a number or part of a name, `channel` counts from 0.
    """
    if not (math.isfinite(minutes) and minutes > 0):
        raise SsdptError(f"cannot record {minutes} minutes; give a number above 0")
    if not (math.isfinite(clip_seconds) and clip_seconds >= _BLOCK_SECONDS):
        raise SsdptError(f"cannot record clips of {clip_seconds} s; give at least {_BLOCK_SECONDS}")
    audio = sounddevice()
    rate = _choose_rate(audio, device, sample_rate, channel, reporter)
    writer = _ClipWriter(out / "normal", rate, round(clip_seconds * rate), reporter)
    left = round(minutes * 60 * rate)
    block = round(_BLOCK_SECONDS * rate)
    lost = 0
    try:
        with (
            reporter.task("recording", minutes * 60) as task,
            audio.InputStream(
                device=device, samplerate=rate, channels=channel + 1, dtype="float32"
            ) as microphone,
        ):
            while left > 0:
                frames, overflowed = microphone.read(min(block, left))
                samples = np.array(frames[:, channel], dtype=np.float32)
                lost += bool(overflowed)
                left -= len(samples)
                writer.add(samples)
                task.advance(len(samples) / rate, f"{level_dbfs(samples):.0f} dBFS")
    except KeyboardInterrupt:
        reporter.say("stopped; what was recorded is kept")
    except audio.PortAudioError as error:
        writer.close()
        raise SsdptError(
            f"microphone {_name(device)}: the recording broke off ({error}); "
            f"{len(writer.paths)} clips are kept in {writer.folder}"
        ) from error
    finally:
        writer.close()
    if lost:
        reporter.warn(f"the computer was too busy {lost} times and lost sound there")
    return writer.paths


def level_dbfs(samples: Floats) -> float:
    """Root mean square of `samples` in decibels below full scale, without its mean; ≥ −120."""
    spread = float(np.std(samples, dtype=np.float64))
    return max(_LOWEST_DBFS, 20 * math.log10(spread)) if spread > 0 else _LOWEST_DBFS


class _ClipWriter:
    """Collects samples and writes a file whenever a clip is full."""

    def __init__(self, folder: Path, rate: int, length: int, reporter: Reporter) -> None:
        self.folder = folder
        self.paths: list[Path] = []
        self._rate = rate
        self._length = length
        self._reporter = reporter
        self._held: list[Floats] = []
        self._start = time.strftime("%Y%m%d-%H%M%S")
        self._number = 0
        self._warned: set[str] = set()

    def add(self, samples: Floats) -> None:
        self._held.append(samples)
        joined = np.concatenate(self._held)
        while len(joined) >= self._length:
            self._write(joined[: self._length])
            joined = joined[self._length :]
        self._held = [joined]

    def close(self) -> None:
        rest = np.concatenate(self._held) if self._held else np.empty(0, np.float32)
        self._held = []
        if len(rest):
            self._write(rest)

    def _write(self, samples: Floats) -> None:
        path = self._next_path()
        encoded = io.BytesIO()
        soundfile.write(encoded, samples, self._rate, format="FLAC", subtype="PCM_16")
        with atomic_path(path) as temporary:
            temporary.write_bytes(encoded.getvalue())
        self.paths.append(path)
        if level_dbfs(samples) < _SILENT_DBFS:
            self._warn_once("silent", f"{path}: silent; check the microphone and its switch")
        if np.count_nonzero(np.abs(samples) >= _FULL_SCALE) > 1:
            self._warn_once("clipped", f"{path}: clipped; lower the gain or move the microphone")

    def _next_path(self) -> Path:
        while True:
            self._number += 1
            path = self.folder / f"{self._start}-{self._number:04d}.flac"
            if not path.exists():
                return path

    def _warn_once(self, kind: str, message: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            self._reporter.warn(message)


def _choose_rate(
    audio: Any, device: int | str | None, sample_rate: int, channel: int, reporter: Reporter
) -> int:
    """The wanted rate where the device can, else its own; refuses a device that is not there."""
    try:
        about = audio.query_devices(device, "input")
    except (audio.PortAudioError, ValueError) as error:
        raise SsdptError(
            f"microphone {_name(device)}: not found ({error}); "
            f"connect one, or list them with: python -m sounddevice"
        ) from error
    there = int(about["max_input_channels"])
    if not 0 <= channel < there:
        raise SsdptError(
            f"microphone {_name(device)}: there is no channel {channel}; "
            f"it has {there}, counted from 0"
        )
    try:
        audio.check_input_settings(
            device=device, channels=channel + 1, dtype="float32", samplerate=sample_rate
        )
    except (audio.PortAudioError, ValueError):
        default_rate = int(about["default_samplerate"])
        reporter.warn(
            f"microphone {_name(device)}: cannot record at {sample_rate} Hz; recording at its "
            f"default {default_rate} Hz, which is resampled when read"
        )
        return default_rate
    return sample_rate


def _name(device: int | str | None) -> str:
    return "(the default)" if device is None else str(device)
