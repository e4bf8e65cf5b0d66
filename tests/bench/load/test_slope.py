"""The slope of a series, with an interval that neighbouring values do not make too narrow."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.bench.load.slope import slope

HOURS = np.arange(1440.0) / 3600


def test_a_line_has_its_slope():
    line = slope(HOURS.tolist(), (100 + 10 * HOURS).tolist())
    assert (line.per_hour, line.low, line.high) == pytest.approx((10.0, 10.0, 10.0), abs=1e-6)
    assert not line.flat


def test_noise_is_flat():
    noise = 500 + np.random.default_rng(0).normal(0, 3, len(HOURS))
    line = slope(HOURS.tolist(), noise.tolist())
    assert line.flat
    assert line.low < 0 < line.high


def test_the_interval_is_honest_for_values_that_follow_each_other():
    flat = 0
    for seed in range(200):
        # Each value is mostly the one before: a hundred of them say little more than a few.
        steps = np.random.default_rng(seed).normal(0, 1, len(HOURS))
        values = np.zeros(len(HOURS))
        for at in range(1, len(values)):
            values[at] = 0.9 * values[at - 1] + steps[at]
        line = slope(HOURS.tolist(), values.tolist())
        flat += line.low <= 0 <= line.high
    assert flat >= 0.9 * 200  # of which 95 % are expected


def test_two_values_have_no_interval():
    assert slope([0.0, 1.0], [1.0, 2.0]) is None
