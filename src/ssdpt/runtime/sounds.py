"""Clips for comparing an export with torch where the user gives none.

Noise with the mean spectrum of the machine's own recordings, with and without the sounds of
faults. They need not sound real: both sides score the same clips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ssdpt.config.tree import Config
from ssdpt.features.logmel import mel_frequencies
from ssdpt.types import Clip, Floats, Label, Recording

_NO_SPECTRUM_DB = -40.0  # flat, for models without stored spectra
_FAULT_DB = (-6.0, 0.0, 6.0, 12.0, 20.0)  # of the fault against the whole clip
_LABELS: tuple[Label, ...] = ("normal", "anomaly")

Spectra = Mapping[str, Sequence[float]]  # (bins,) in dB by section


def synthesise(
    config: Config, spectra: Spectra, sections: Sequence[str], seconds: Sequence[float]
) -> list[Recording]:
    """A normal and a faulty clip of every length, in memory, `sections` in turn.

    A section without a spectrum (an unknown one) sounds like the mean of those that have one.
    """
    rng = np.random.default_rng(config.seed)
    rate = config.audio.sample_rate
    flat = [_NO_SPECTRUM_DB] * config.features.n_mels
    mean = np.mean(list(spectra.values()) or [flat], axis=0)
    recordings = []
    for number, length in enumerate(seconds):
        section = sections[number % len(sections)]
        level = np.asarray(spectra.get(section, mean))
        for label in _LABELS:
            samples = _noise(level, config, round(length * rate), rng)
            if label == "anomaly":
                samples = _with_fault(samples, rate, number, rng)
            clip = Clip(samples, rate, section, name=f"{label}-{number:02d}")
            recordings.append(replace(Recording.of_clip(clip, ""), label=label))
    return recordings


def _noise(level: np.ndarray, config: Config, count: int, rng: np.random.Generator) -> Floats:
    """Gaussian noise whose mel power is `level` (bins,) in dB on average, (count,)."""
    rate, n_fft = config.audio.sample_rate, config.features.n_fft
    white = np.fft.rfft(rng.standard_normal(count))
    wanted = np.interp(
        np.fft.rfftfreq(count, 1 / rate), mel_frequencies(config.features, rate), level
    )
    # A filter of unit area over bins rate / n_fft wide; a Hann window keeps 3/8 of the power.
    power = 10 ** (wanted / 10) * (rate / n_fft) / (n_fft * 3 / 8)
    shaped = np.fft.irfft(white * np.sqrt(power), count)
    return _within_scale(shaped * 10 ** (rng.normal(0, 1) / 20))


def _with_fault(samples: Floats, rate: int, number: int, rng: np.random.Generator) -> Floats:
    """A whine, blows or a hiss, each at several strengths."""
    time = np.arange(len(samples)) / rate
    strength = 10 ** (_FAULT_DB[number // 3 % len(_FAULT_DB)] / 20) * float(samples.std())
    tone = np.sin(2 * np.pi * rng.uniform(0.05, 0.45) * rate * time)
    blows = np.exp(-30 * (time % rng.uniform(0.1, 0.4)))
    fault = (tone, blows * tone, rng.standard_normal(len(samples)) * tone)[number % 3]
    return _within_scale(samples + strength * np.sqrt(2) * fault)


def _within_scale(samples: np.ndarray) -> Floats:
    peak = float(np.abs(samples).max())
    return (samples / max(peak, 1.0)).astype(np.float32)
