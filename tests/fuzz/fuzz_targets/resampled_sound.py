"""Samples of any value and rate, past the decoder: as a file and as pushed sound, resampled.

Ten bytes choose the rates, the channels, the format and the pieces; the others are the samples.
"""

from __future__ import annotations

import struct
import threading

import numpy as np
import soundfile
from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources.pushed_source import PushedSettings, PushedSource

_HEADER = struct.Struct("<IBBBBH")  # rate, its unit, rate of the machine, channels, format, pieces
_RATES = (8000, 16000, 22050, 44100, 48000, 96000, 192_000, 1000)  # Hz
_MOST_PIECES = 20
_TAIL = 1.0  # seconds of silence at another rate after the sound, so that nothing is held back


class Target(FuzzTarget):
    """What comes out are numbers, as long as what went in."""

    share = 60
    longest = 8192
    words = (
        *(b"\x00\x00\x80\x7f", b"\x00\x00\xc0\x7f", b"\xff\xff\x7f\x7f", b"\x01\x00\x00\x00"),
        *(b"\x80\x3e\x00\x00", b"\x44\xac\x00\x00", b"\x80\x84\x1e\x00", b"\x00\x80", b"\xff\x7f"),
    )

    def run(self, data: bytes) -> None:
        if len(data) < _HEADER.size:
            return
        rate, exact, own, channels, form, pieces = _HEADER.unpack(data[: _HEADER.size])
        rate, channels = (rate if exact % 2 else _RATES[rate % len(_RATES)]), 1 + channels % 3
        body = data[_HEADER.size :]
        dtype = np.dtype("<i2" if form % 2 else "<f4")
        count = len(body) // (dtype.itemsize * channels)
        samples = np.frombuffer(body[: count * channels * dtype.itemsize], dtype)
        frames = samples.reshape(-1, channels)
        own_rate = _RATES[own % len(_RATES)]
        pushed = _said(lambda: self._push(frames, rate, own_rate, 1 + pieces % _MOST_PIECES))
        read = _said(lambda: self._read(frames, rate, own_rate))
        for resampled in (pushed, read):
            if resampled is not None:
                _check(resampled, len(frames) * own_rate / max(rate, 1))

    def _push(self, frames: np.ndarray, rate: int, own_rate: int, pieces: int) -> np.ndarray:
        """The samples that a machine hears which is sent these."""
        source, begin = PushedSource(PushedSettings(), own_rate), 1.79e9
        for piece in np.array_split(frames, pieces):
            source.push(piece, rate, frames.shape[1], begin)
            begin += len(piece) / rate
        other = 16000 if rate != 16000 else 8000
        source.push(np.zeros(round(_TAIL * other), np.float32), other, 1, begin + 10)
        stop, heard = threading.Event(), [np.empty(0, np.float32)]
        for chunk in source.chunks(stop):
            if chunk.time > begin + 5:
                stop.set()
                break
            heard.append(chunk.samples)
        samples = np.concatenate(heard)
        if len(samples) and np.abs(samples).max() > 1:
            raise Violation("pushed sound beyond 1")
        return samples

    def _read(self, frames: np.ndarray, rate: int, own_rate: int) -> np.ndarray | None:
        """The samples of a file that holds these; None where there can be none."""
        if not 0 < rate < 2**31:
            return None
        path = self.folder / "clip.wav"
        subtype = "FLOAT" if frames.dtype.kind == "f" else "PCM_16"
        soundfile.write(path, frames, rate, subtype=subtype)
        return audio.read(path, own_rate)


def _said(work):
    """The result; None where a sentence says why there is none."""
    try:
        return work()
    except SsdptError as error:
        if wrong := wrong_in(str(error), "the sentence"):
            raise Violation(wrong[0]) from error
        return None


def _check(samples: np.ndarray, expected: float) -> None:
    if not np.isfinite(samples).all():
        raise Violation("resampled sound that is not numbers")
    if abs(len(samples) - expected) > 2 + _MOST_PIECES:
        raise Violation(f"{len(samples)} samples, not {expected:.0f}")
