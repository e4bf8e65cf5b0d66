"""Condition indicators against signals whose values are known."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.features.indicators import BANDS, IndicatorMeter, band_edges

RATE, SAMPLES = 25600, 2560
METER = IndicatorMeter(RATE, SAMPLES)
TIME = np.arange(SAMPLES) / RATE


def test_full_scale_tone_is_0_db_and_lies_in_its_band() -> None:
    tone = np.sin(2 * np.pi * 1000 * TIME).astype(np.float32)
    measured = METER.of(tone)
    assert measured.level_db == pytest.approx(0, abs=0.01)
    assert measured.crest_db == pytest.approx(3.01, abs=0.01)
    assert measured.kurtosis == pytest.approx(1.5, abs=0.01)
    band = int(np.searchsorted(METER.edges, 1000) - 1)
    assert np.argmax(measured.bands_db) == band
    assert measured.bands_db[band] == pytest.approx(0, abs=0.1)


def test_bands_of_noise_sum_to_its_level() -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, SAMPLES).astype(np.float32)
    measured = METER.of(noise + 0.3)  # a constant offset does not count
    total = 10 * np.log10(np.sum(10 ** (measured.bands_db / 10)))
    assert measured.level_db == pytest.approx(-17, abs=0.3)
    assert total == pytest.approx(measured.level_db, abs=0.5)
    assert measured.kurtosis == pytest.approx(3, abs=0.4)


def test_knock_raises_kurtosis_and_crest() -> None:
    quiet = np.random.default_rng(0).normal(0, 0.01, SAMPLES).astype(np.float32)
    knocked = quiet.copy()
    knocked[500:505] += 0.5
    assert METER.of(knocked).kurtosis > 50
    assert METER.of(knocked).crest_db > METER.of(quiet).crest_db + 10


def test_kurtosis_of_a_band_is_that_of_the_filtered_signal() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, SAMPLES)
    hz = np.fft.rfftfreq(SAMPLES, 1 / RATE)
    low, high = METER.edges[6:8]
    knocks = np.zeros(SAMPLES)
    knocks[::640] = 3.0
    lines = np.fft.rfft(noise + knocks)
    filtered = np.fft.irfft(np.where((hz >= low) & (hz < high), lines, 0))
    expected = np.mean(filtered**4) / np.mean(filtered**2) ** 2
    measured = METER.of((noise + knocks).astype(np.float32)).bands_kurtosis
    assert expected > 4
    assert measured[6] == pytest.approx(expected, rel=0.05)
    plain = METER.of(noise.astype(np.float32)).bands_kurtosis
    assert plain[4:] == pytest.approx(3, abs=0.8)
    assert plain[0] == 3  # three lines of the transform


def test_silence_has_finite_values() -> None:
    silent = METER.of(np.zeros(SAMPLES, np.float32))
    assert np.isfinite([silent.level_db, silent.crest_db, silent.kurtosis]).all()
    assert np.isfinite(silent.bands_db).all()
    assert (silent.bands_kurtosis == 3).all()


@pytest.mark.parametrize(("rate", "samples"), [(2000, 200), (16000, 16000), (51200, 5120)])
def test_every_band_holds_lines_of_the_transform(rate: int, samples: int) -> None:
    edges = band_edges(rate, samples)
    assert len(edges) == BANDS + 1
    assert edges[-1] == pytest.approx(rate / 2)
    assert np.diff(edges).min() >= 2 * rate / samples - 1e-9
