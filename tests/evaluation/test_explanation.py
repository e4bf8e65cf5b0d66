"""The most anomalous part of a map, in seconds, in Hz and as text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssdpt.evaluation.explanation import Explanation, most_anomalous_range
from ssdpt.scoring.bands import Band

FREQUENCIES = np.linspace(100, 1000, 10, dtype=np.float32)


def test_the_strongest_part_is_found_in_time_and_frequency():
    heat = np.full((50, 10), 0.1, np.float32)
    heat[20:30, 4:6] = 5
    heat[45, 9] = 6  # a single point is less than a lasting tone
    seconds, hertz = most_anomalous_range(heat, FREQUENCIES, 0.1)
    assert seconds == pytest.approx((2.0, 3.0))
    assert hertz == pytest.approx((450, 650))


def test_a_fluctuating_tone_is_one_range():
    heat = np.zeros((100, 10), np.float32)
    heat[:, 4] = np.where(np.arange(100) % 3 == 0, 1, 5)
    seconds, _ = most_anomalous_range(heat, FREQUENCIES, 0.03)
    assert seconds == pytest.approx((0, 3))


def test_the_range_may_touch_the_edges_or_be_missing():
    heat = np.ones((5, 10), np.float32)
    seconds, hertz = most_anomalous_range(heat, FREQUENCIES, 0.1)
    assert seconds == pytest.approx((0, 0.5))
    assert hertz == pytest.approx((100, 1000))
    assert most_anomalous_range(np.zeros((5, 10), np.float32), FREQUENCIES, 0.1) == (None, None)


def test_text():
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
    assert (nothing.peak_text, nothing.band_text, nothing.end) == ("", "", 15.0)
    burst = replace(nothing, seconds=(6.0, 7.5), hertz=(450.0, 1250.0))
    assert burst.peak_text == "6.0–7.5 s, 450 Hz–1.25 kHz"
    steady = replace(burst, seconds=(5.0, 15.0), bands=(Band(450, 650, 0.5), Band(80, 95, 0.123)))
    assert steady.peak_text == "throughout, 450 Hz–1.25 kHz"
    assert steady.band_text == "450 Hz–650 Hz (50 %), 80 Hz–95 Hz (12 %)"
