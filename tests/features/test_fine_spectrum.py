"""Spectra that are read line by line."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.diagnosis.analysis import analyse
from ssdpt.diagnosis.lines import LineSet
from ssdpt.errors import SsdptError
from ssdpt.features.fine_spectrum import envelope_bands, envelope_spectrum, fine_spectrum

RATE = 16000
NO_LINES = LineSet(speed_rpm=None, speed_origin="unknown", lines=())


def tones(*hz, seconds=10.0):
    time = np.arange(round(seconds * RATE)) / RATE
    return sum(0.1 * np.sin(2 * np.pi * one * time) for one in hz).astype(np.float32)


def test_tones_two_hertz_apart_are_two_lines_at_their_level():
    spectrum = fine_spectrum([tones(100.0, 102.0)], RATE, 10 * RATE)
    assert spectrum.spacing_hz == 0.5
    first, between, second = spectrum.levels_db[[200, 202, 204]]
    assert first == pytest.approx(-20, abs=0.5)
    assert second == pytest.approx(-20, abs=0.5)
    assert between < first - 6


def test_fewer_points_keep_the_peaks():
    spectrum = fine_spectrum([tones(1234.5)], RATE, 10 * RATE)
    shown = spectrum.up_to(8000, 1000)
    assert len(shown.levels_db) <= 1000
    assert shown.levels_db.max() == spectrum.levels_db.max()


def modulated(rate):
    time = np.arange(10 * RATE) / RATE
    noise = np.random.default_rng(0).standard_normal(len(time))
    return (0.05 * noise * (1 + 0.8 * np.sin(2 * np.pi * rate * time))).astype(np.float32)


def test_the_envelope_shows_how_often_a_sound_swells():
    envelope = envelope_spectrum([modulated(87.3)], RATE, 10 * RATE, (2000.0, 4000.0))
    strongest = int(envelope.levels_db[10:].argmax()) + 10
    assert strongest * envelope.spacing_hz == pytest.approx(87.3, abs=0.05)
    assert (len(envelope.levels_db) - 1) * envelope.spacing_hz == pytest.approx(500, abs=0.2)


def test_the_band_with_knocks_is_chosen_unless_a_person_does():
    wave = 0.01 * np.random.default_rng(0).standard_normal(10 * RATE)
    ringing = np.exp(-np.arange(200) / 40) * np.sin(2 * np.pi * 3000 / RATE * np.arange(200))
    for first in range(0, 10 * RATE - 200, 800):
        wave[first : first + 200] += 0.1 * ringing
    sound = [wave.astype(np.float32)]
    automatic = analyse(sound, RATE, NO_LINES, normal=[modulated(5.0)]).envelope
    assert automatic.band_hz == (2000.0, 4000.0)
    assert automatic.automatic
    assert len(automatic.normal) == len(automatic.levels)
    chosen = analyse(sound, RATE, NO_LINES, band_hz=700.0).envelope
    assert (chosen.band_hz, chosen.automatic) == ((500.0, 1000.0), False)


def test_what_is_short_has_wider_lines_or_no_envelope():
    short = analyse([tones(1000.0, seconds=0.1)] * 5, RATE, NO_LINES)
    assert short.spectrum.spacing_hz == 10.0
    assert envelope_bands(RATE, RATE // 100) == ()
    with pytest.raises(SsdptError, match="not enough sound"):
        analyse([tones(100.0, seconds=0.01)], RATE, NO_LINES)
