"""The fundamental of a rhythm in the spectrum of an envelope."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.features.rhythm import find_rhythm

RATES = np.arange(0, 400, 0.25)
EDGES = 0.6 * 2 ** (np.arange(110) / 12)
LIMITS = np.full(109, -24.0)


def spectrum(lines: dict[float, float]) -> np.ndarray:
    """Noise at −36 dB with lines of these rates and strengths."""
    strength = -36 + np.random.default_rng(0).normal(0, 1.5, RATES.size)
    for rate, level in lines.items():
        strength[round(rate / 0.25)] = level
    return strength


def test_a_line_alone_swells_and_harmonics_are_knocks() -> None:
    swelling = find_rhythm(RATES, spectrum({7.0: -6}), (EDGES, LIMITS))
    assert swelling is not None
    assert (swelling.per_second, swelling.sharp) == (pytest.approx(7.0, rel=0.01), False)
    knocking = find_rhythm(RATES, spectrum({7.0 * k: -6 - k for k in range(1, 9)}), (EDGES, LIMITS))
    assert knocking is not None
    assert (knocking.per_second, knocking.sharp) == (pytest.approx(7.0, rel=0.01), True)


def test_the_spacing_counts_even_where_a_harmonic_is_strongest() -> None:
    lines = {12.0: -14.0, 24.0: -12.0, 36.0: -8.0, 48.0: -13.0}
    rhythm = find_rhythm(RATES, spectrum(lines), (EDGES, LIMITS))
    assert rhythm is not None
    assert rhythm.per_second == pytest.approx(12.0, rel=0.01)


def test_a_rate_that_the_length_cannot_resolve_is_not_named() -> None:
    rates = np.arange(0, 400, 10.0)  # a tenth of a second of sound
    strength = np.full(rates.size, -36.0)
    strength[[1, 2, 3]] = -10.0, -9.0, -8.0
    rhythm = find_rhythm(rates, strength, (EDGES, LIMITS))
    assert rhythm is not None
    assert 25 <= rhythm.per_second <= 35  # between its lines: nearest to the third


def test_a_rhythm_that_normal_clips_have_is_not_found() -> None:
    limits = LIMITS.copy()
    limits[int(np.searchsorted(EDGES, 7.0)) - 1] = -6.0
    assert find_rhythm(RATES, spectrum({7.0: -6}), (EDGES, limits)) is None
    assert find_rhythm(RATES, spectrum({}), (EDGES, LIMITS)) is None
    assert find_rhythm(RATES, spectrum({7.0: -6}), (EDGES, np.full(109, np.nan))) is None
