"""Noise of flow, friction and rooms, shaped in frequency and modulated in time."""

from __future__ import annotations

import numpy as np

from ssdpt.data.simulator.timebase import (
    PADDED,
    SECONDS,
    Shape,
    Spectrum,
    Times,
    Wave,
    hertz,
    seconds,
)

HUMPS_DB = 1.8


def slope(db_per_octave: float, low_hz: float = 30.0, high_hz: float = 8000.0) -> Shape:
    """Amplitude falling by `db_per_octave`, with soft edges at `low_hz` and `high_hz`."""
    ratio = np.maximum(hertz(), 10.0) / 1000.0
    shape = ratio ** np.float32(-db_per_octave / 6.02)
    shape /= np.sqrt(1 + (low_hz / np.maximum(hertz(), 1.0)) ** 4)
    shape /= np.sqrt(1 + (hertz() / high_hz) ** 6)
    return shape.astype(np.float32)


def turbulence(
    rng: np.random.Generator, db_per_octave: tuple[float, float], low_hz: float
) -> Shape:
    """A falling amplitude shape with random humps and dips that differ in each clip.

    What flows, rolls or brushes never sounds exactly the same in two recordings.
    """
    knots = np.geomspace(60.0, 8000.0, 18)
    humps = np.interp(hertz()[::64], knots, rng.normal(0.0, HUMPS_DB, knots.size))
    fine = np.interp(hertz(), hertz()[::64], 10.0 ** (humps / 20.0))
    return slope(rng.uniform(*db_per_octave), low_hz) * fine.astype(np.float32)


def noise_spectrum(rng: np.random.Generator, shape: Shape) -> Spectrum:
    """Gaussian noise with this amplitude shape, as a spectrum; its wave has an RMS of 1."""
    bins = shape.size
    scale = PADDED / (2.0 * np.sqrt(np.sum(np.square(shape, dtype=np.float64)) + 1e-30))
    draw = rng.standard_normal((bins, 2), dtype=np.float32).view(np.complex64)[:, 0]
    spectrum: Spectrum = draw * (shape * np.float32(scale))
    return spectrum


def noise(rng: np.random.Generator, shape: Shape) -> Wave:
    """Gaussian noise with this amplitude shape, RMS 1, (PADDED,) samples."""
    wave: Wave = np.fft.irfft(noise_spectrum(rng, shape), PADDED).astype(np.float32)
    return wave


def wander(rng: np.random.Generator, rate_hz: float, spread_db: float) -> Wave:
    """A slowly varying gain around 1 with a standard deviation of `spread_db`, (PADDED,)."""
    knots = np.arange(0.0, SECONDS + 2.0 / rate_hz, 1.0 / rate_hz)
    level = rng.normal(0.0, spread_db, knots.size)
    gain: Wave = (10.0 ** (np.interp(seconds(), knots, level) / 20.0)).astype(np.float32)
    return gain


def bursts(starts: Times, ends: Times, edge_s: float = 0.015) -> Wave:
    """A gate that is 1 from each start to its end and 0 elsewhere, with soft edges, (PADDED,)."""
    gate = np.zeros(PADDED, dtype=np.float32)
    for start, end in zip(starts, ends, strict=True):
        first, last = np.searchsorted(seconds(), [start - edge_s, end + edge_s])
        time = seconds()[first:last]
        rise = np.clip((time - start + edge_s) / edge_s, 0.0, 1.0)
        fall = np.clip((end + edge_s - time) / edge_s, 0.0, 1.0)
        gate[first:last] = np.maximum(gate[first:last], np.minimum(rise, fall))
    return gate
