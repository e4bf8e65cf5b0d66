"""Sounds made by formula, for tests that need a clip with known properties."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

RATE = 16000


def hum(seconds: float = 10.0, seed: int = 0, rate: int = RATE) -> np.ndarray:
    """A motor's hum in noise, (samples,) float32; another seed, another take."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    tones = sum(np.sin(2 * np.pi * 50 * k * time + rng.uniform(0, 6.28)) / k for k in range(1, 12))
    return (0.05 * tones + 0.02 * rng.standard_normal(len(time))).astype(np.float32)


def write_clip(path: Path, samples: np.ndarray | None = None, rate: int = RATE, **kind) -> Path:
    """Write `samples` (by default ten seconds of hum, another take for every name)."""
    if samples is None:
        samples = hum(seed=sum(path.name.encode()), rate=rate)
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, **kind)
    return path


def write_folder(folder: Path, clips: int = 6, seconds: float = 2.0) -> Path:
    """A machine of one's own: FOLDER/normal/take-0.wav and so on."""
    for number in range(clips):
        write_clip(folder / "normal" / f"take-{number}.wav", hum(seconds, seed=number))
    return folder
