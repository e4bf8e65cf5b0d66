"""The frequency bands that stand out in an anomaly map."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.bands import hertz, top_bands

FREQUENCIES = np.linspace(100, 2000, 20, dtype=np.float32)


def test_bands_come_strongest_first_with_their_shares():
    heat = np.full((50, 20), 0.1, np.float32)
    heat[:, 3:5] = 1.1
    heat[::5, 10] = 15.1  # seldom, but strong: 3 on average
    heat[:, 15] = 0.2  # 0.1 of 5.1, not worth a line
    strongest, second = top_bands(heat, FREQUENCIES)
    assert (strongest.low_hz, strongest.high_hz) == pytest.approx((1050, 1150))
    assert (second.low_hz, second.high_hz) == pytest.approx((350, 550))
    assert strongest.share == pytest.approx(3 / 5.1, rel=1e-4)
    assert second.share == pytest.approx(2 / 5.1, rel=1e-4)
    assert len(top_bands(heat, FREQUENCIES, number=1)) == 1


def test_the_shoulder_of_a_band_is_none_of_its_own():
    profile = np.zeros(20, np.float32)
    profile[4:9] = [10, 9, 4, 3, 2]
    profile[9:12] = [3, 6, 1]
    low, high = top_bands(np.tile(profile, (5, 1)), FREQUENCIES)
    assert (low.low_hz, low.high_hz) == pytest.approx((450, 650))
    assert (high.low_hz, high.high_hz) == pytest.approx((950, 1150))


def test_an_even_map_has_no_bands():
    assert top_bands(np.ones((5, 20), np.float32), FREQUENCIES) == ()


def test_hertz_as_text():
    assert [hertz(value) for value in (49.6, 999, 1000, 1234, 12345)] == [
        *("50 Hz", "999 Hz", "1 kHz", "1.23 kHz", "12.3 kHz")
    ]
