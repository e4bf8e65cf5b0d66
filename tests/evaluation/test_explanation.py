"""What stands out of a map, in seconds, in Hz and in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssdpt.evaluation.explanation import Explanation, stands_out
from ssdpt.scoring.bands import Band

FREQUENCIES = np.linspace(100, 1000, 10, dtype=np.float32)


def test_the_strongest_part_is_found_in_time_and_frequency():
    heat = np.full((50, 10), 0.1, np.float32)
    heat[20:30, 4:6] = 5
    heat[45, 9] = 6  # a single hot spot is less than a lasting tone
    seconds, hertz = stands_out(heat, FREQUENCIES, 0.1)
    assert seconds == pytest.approx((2.0, 3.0))
    assert hertz == pytest.approx((450, 650))


def test_a_flickering_tone_is_one_stretch():
    heat = np.zeros((100, 10), np.float32)
    heat[:, 4] = np.where(np.arange(100) % 3 == 0, 1, 5)
    seconds, _ = stands_out(heat, FREQUENCIES, 0.03)
    assert seconds == pytest.approx((0, 3))


def test_it_may_touch_the_edges_or_be_nowhere():
    heat = np.ones((5, 10), np.float32)
    seconds, hertz = stands_out(heat, FREQUENCIES, 0.1)
    assert seconds == pytest.approx((0, 0.5))
    assert hertz == pytest.approx((100, 1000))
    assert stands_out(np.zeros((5, 10), np.float32), FREQUENCIES, 0.1) == (None, None)


def test_words():
    nothing = Explanation(
        frames=np.zeros((100, 10), np.float32),
        heat=np.zeros((100, 10), np.float32),
        frequencies=FREQUENCIES,
        frame_seconds=0.1,
        start=5.0,
        seconds=None,
        hertz=None,
        bands=(),
    )
    assert (nothing.place, nothing.band_words, nothing.end) == ("", "", 15.0)
    burst = replace(nothing, seconds=(6.0, 7.5), hertz=(450.0, 1250.0))
    assert burst.place == "6.0–7.5 s, 450 Hz–1.25 kHz"
    steady = replace(burst, seconds=(5.0, 15.0), bands=(Band(450, 650, 0.5), Band(80, 95, 0.123)))
    assert steady.place == "throughout, 450 Hz–1.25 kHz"
    assert steady.band_words == "450 Hz–650 Hz (50 %), 80 Hz–95 Hz (12 %)"
