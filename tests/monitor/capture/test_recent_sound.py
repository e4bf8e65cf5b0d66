"""The last minutes of sound that can be kept."""

from __future__ import annotations

import numpy as np

from ssdpt.monitor.capture.recent_sound import RecentSound

RATE = 16000


def test_ten_minutes_take_less_than_20_megabytes():
    recent = RecentSound(600.0, RATE)
    assert recent._ring._rows.nbytes < 20e6
    minute = np.sin(np.arange(60 * RATE, dtype=np.float32))
    for number in range(11):
        recent.add(minute, 60.0 * number)
    samples, begin = recent.between(recent.end - 600, recent.end)
    assert (len(samples), begin) == (600 * RATE, 60.0)
    np.testing.assert_allclose(samples[: 60 * RATE], minute, atol=1 / 32767)


def test_it_begins_after_a_gap_and_louder_than_full_scale_is_clipped():
    recent = RecentSound(10.0, RATE)
    recent.add(np.full(RATE, 2.0, np.float32), 0.0)
    recent.skip(3.0)
    recent.add(np.full(RATE, 0.5, np.float32), 4.0)
    assert recent.between(0.0, 1.0)[0].max() == 1.0
    samples, begin = recent.between(2.0, 5.0)
    assert (len(samples), begin) == (RATE, 4.0)
