"""Level, silence and clipping of a stretch of sound."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.features.loudness import Loudness


def test_a_full_scale_sine_is_at_0_dbfs_and_clips():
    sine = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000).astype(np.float32)
    loudness = Loudness.of(sine)
    assert loudness.dbfs == pytest.approx(0, abs=0.01)
    assert loudness.clipped > 0.01
    assert Loudness.of(0.01 * sine).dbfs == pytest.approx(-40, abs=0.01)
    assert Loudness.of(np.zeros(100)).silent
    assert not Loudness.of(0.01 * sine).silent
