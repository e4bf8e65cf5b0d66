"""Lines, bands, peaks and rhythms of known signals."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.features.condition_spectrum import SpectrumMeter

RATES = (2000, 16000, 25600, 51200)


def sine(hz: float, rate: int, seconds: float, amplitude: float = 0.5) -> np.ndarray:
    return (amplitude * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate)) / rate)).astype(
        np.float32
    )


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("seconds", [0.1, 1.0, 12.3])
def test_a_sine_reads_its_level_in_line_band_and_whole(rate: int, seconds: float) -> None:
    meter = SpectrumMeter(rate)
    hz = 440.0 if rate == 2000 else 3000.0
    spectrum = meter.of([sine(hz, rate, seconds)])
    band = int(np.searchsorted(meter.edges, hz)) - 1
    assert spectrum.level_db == pytest.approx(-6.02, abs=0.1)
    assert spectrum.lines_db.max() == pytest.approx(-6.02, abs=0.3)
    assert spectrum.hz[spectrum.lines_db.argmax()] == pytest.approx(hz, abs=spectrum.hz[1])
    if np.isfinite(spectrum.bands_db[band]):
        assert spectrum.bands_db[band] == pytest.approx(-6.02, abs=0.5)
        assert np.nanargmax(spectrum.bands_db) == band


def test_bands_of_noise_sum_to_its_level() -> None:
    rng = np.random.default_rng(0)
    spectrum = SpectrumMeter(16000).of([rng.normal(0, 0.1, 160000).astype(np.float32)])
    whole = 10 * np.log10(np.nansum(10 ** (spectrum.bands_db / 10)))
    assert whole == pytest.approx(spectrum.level_db, abs=0.2)


def test_a_short_snapshot_leaves_out_what_it_cannot_resolve() -> None:
    rng = np.random.default_rng(0)
    meter = SpectrumMeter(25600)
    snapshots = [rng.normal(0, 0.1, 2560).astype(np.float32) for _ in range(12)]
    spectrum = meter.of(snapshots)
    assert np.isnan(spectrum.bands_db[meter.edges[1:] < 1000]).all()
    assert np.isfinite(spectrum.bands_db[meter.edges[:-1] > 1100]).all()
    resolved = np.isfinite(spectrum.rhythm_db[-1])
    assert meter.rate_edges[:-1][resolved].min() >= 25
    assert spectrum.windows == 12


def test_knocks_raise_peaks_more_than_the_mean() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, 64000)
    knocking = noise.copy()
    ring = 0.3 * np.exp(-np.arange(400) / 100) * np.sin(2 * np.pi * 3000 / 16000 * np.arange(400))
    for first in range(2000, 63000, 8000):
        knocking[first : first + 400] += ring
    meter = SpectrumMeter(16000)
    band = int(np.searchsorted(meter.edges, 3000)) - 1
    before, after = (meter.of([wave.astype(np.float32)]) for wave in (noise, knocking))
    mean = after.bands_db[band] - before.bands_db[band]
    assert after.peaks_db[band] - before.peaks_db[band] > mean + 5


def test_the_rhythm_of_a_swelling_band() -> None:
    rng = np.random.default_rng(0)
    time = np.arange(64000) / 16000
    wave = (rng.normal(0, 0.1, 64000) * np.sqrt(1 + 0.8 * np.sin(2 * np.pi * 9 * time))).astype(
        np.float32
    )
    rates, strength = SpectrumMeter(16000).rhythm([wave], 18)
    inner = rates > 1
    assert rates[inner][strength[inner].argmax()] == pytest.approx(9, abs=0.3)
    assert strength[inner].max() == pytest.approx(20 * np.log10(0.8), abs=2)
