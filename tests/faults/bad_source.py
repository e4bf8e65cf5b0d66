"""Sources that stall, lie about their rate, or send what is no sound."""

from __future__ import annotations

import io
import random
import struct
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import soundfile

from faults.experiment import Outcome
from faults.plant import Plant, machine_settings
from faults.service_experiment import ServiceExperiment
from sounds import RATE, hum
from waiting import wait_until

_BAD = "pump"
_FOLDER = "compressor"
_NOT_A_NUMBER = np.full(RATE, np.nan, np.float32)


class BadSource(ServiceExperiment):
    """Two machines get bad sound; the third is monitored as if they were not there."""

    name = "bad-source"
    trials = 16

    def prepare(self, folder: Path, stack: ExitStack) -> dict[str, Any]:
        self._recordings = folder / "recordings"
        self._recordings.mkdir()
        pushed = machine_settings(_BAD, {"kind": "pushed", "max_silence": 2})
        watched = machine_settings(_FOLDER, {"kind": "folder", "path": str(self._recordings)})
        return {"machines": [machine_settings(), pushed, watched]}

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        bodies = _BODIES[number % len(_BODIES)]
        for body, kind in bodies(random):
            reply = self._push(body, kind)
            outcome.expect(reply < 500, f"{kind}: the service answers {reply}")
            name = f"{number}-{random.randrange(10**9)}.wav"
            (self._recordings / f".{name}").write_bytes(body)
            (self._recordings / f".{name}").rename(self._recordings / name)
        self.hold(random.uniform(3, 5), outcome)  # longer than it may be silent
        # It comes back by itself as soon as it sends sound.
        wait_until(lambda: self._is_heard(self.plant), "the bad source is heard again")

    def _is_heard(self, plant: Plant) -> bool:
        self._push(_wave(hum(1.0)), "audio/wav")
        return bool(plant.ask("GET", f"v1/machines/{_BAD}")["source"]["connected"])

    def _push(self, body: bytes, kind: str) -> int:
        url = f"{self.plant.address}v1/machines/{_BAD}/audio"
        reply = httpx.post(url, content=body, headers={"Content-Type": kind}, timeout=30.0)
        return reply.status_code


def _stalled(random: random.Random) -> list[tuple[bytes, str]]:
    return []


def _no_numbers(random: random.Random) -> list[tuple[bytes, str]]:
    infinite = np.where(np.arange(RATE) % 100, 0.1, np.inf).astype(np.float32)
    return [(_wave(_NOT_A_NUMBER, "FLOAT"), "audio/wav"), (_wave(infinite, "FLOAT"), "audio/wav")]


def _wrong_rate(random: random.Random) -> list[tuple[bytes, str]]:
    """Ten seconds that claim to be one, hundreds, or none."""
    sound = hum(10.0)
    raw = np.clip(sound * 32768, -32768, 32767).astype(">i2").tobytes()
    rates = random.sample((0, 1, 999, 1000, 8000, 160_000, 384_000, 10**9), 4)
    headers = [(raw, f"audio/L16;rate={rate};channels=1") for rate in rates]
    wave = bytearray(_wave(sound))
    wave[24:28] = struct.pack("<I", random.choice((1, 1000, 160_000, 2**32 - 1)))
    return [*headers, (bytes(wave), "audio/wav")]


def _garbage(random: random.Random) -> list[tuple[bytes, str]]:
    whole = _wave(hum(2.0))
    cut, noise = whole[: random.randrange(len(whole))], random.randbytes(5000)
    return [(cut, "audio/wav"), (noise, "audio/flac"), (b"", "audio/wav")]


_BODIES = (_stalled, _no_numbers, _wrong_rate, _garbage)


def _wave(samples: np.ndarray, subtype: str = "PCM_16") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, subtype=subtype, format="WAV")
    return file.getvalue()
