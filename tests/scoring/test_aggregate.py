"""Segment scores to a clip score: A = 1/B Σ (A_c + β·A_r), parts kept."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.aggregate import aggregate

PARTS = {
    "identity": np.array([1.0, 2.0, 6.0], np.float32),
    "reconstruction": np.array([10.0, 20.0, 60.0], np.float32),
}


def test_the_clip_is_the_mean_of_its_segments():
    score = aggregate(
        PARTS, {"identity": 1.0, "reconstruction": 0.5}, hop_seconds=0.1, segment_seconds=2.0
    )
    assert score.parts == {"identity": 3.0, "reconstruction": 30.0}
    assert score.value == pytest.approx(3.0 + 0.5 * 30.0)
    np.testing.assert_allclose(score.timeline.value, [6.0, 12.0, 36.0])
    assert np.mean(score.timeline.value) == pytest.approx(score.value)
    np.testing.assert_allclose(score.timeline.start, [0.0, 0.1, 0.2])
    assert score.timeline.duration == 2.0
    np.testing.assert_array_equal(score.timeline.parts["identity"], PARTS["identity"])


def test_hours_are_summed_as_exactly_as_seconds():
    many = np.full(2_000_000, 0.1, np.float32)
    score = aggregate({"a": many}, {"a": 1.0}, hop_seconds=0.03, segment_seconds=2.0)
    assert score.value == pytest.approx(float(np.float32(0.1)), rel=1e-9)
