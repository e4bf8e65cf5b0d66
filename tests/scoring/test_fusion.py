"""Scores of several detectors to one: z-scores of normal clips, averaged."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.fusion import MOST_CLIPS, Scale, fuse, onto_timeline, spread_evenly
from ssdpt.types import Timeline


def line(count, hop, duration):
    return Timeline(
        start=(np.arange(count) * hop).astype(np.float32),
        duration=duration,
        value=np.zeros(count, np.float32),
    )


def test_a_scale_makes_normal_scores_mean_0_and_sd_1():
    normal = np.random.default_rng(0).normal(-25, 3, 60)
    z = Scale.of(normal).z_scores(normal)
    assert z.mean() == pytest.approx(0, abs=1e-12)
    assert z.std() == pytest.approx(1)


@pytest.mark.parametrize("normal", [[4.0], [4.0, 4.0, 4.0]])
def test_scores_that_do_not_differ_give_a_finite_scale(normal):
    z = Scale.of(np.array(normal)).z_scores(np.array([4.0, 5.0]))
    assert z[0] == 0
    assert 1 < z[1] < np.inf


def test_members_count_alike_whatever_their_units():
    rng = np.random.default_rng(1)
    normal, test = rng.normal(size=(3, 40)), rng.normal(size=(3, 7))
    plain = fuse(test, [Scale.of(row) for row in normal])
    factor, shift = np.array([[1.0], [1e3], [1e-2]]), np.array([[0.0], [-5e3], [7.0]])
    other = fuse(factor * test + shift, [Scale.of(row) for row in factor * normal + shift])
    assert plain.shape == (7,)
    np.testing.assert_allclose(other, plain, rtol=1e-9)
    expected = np.mean((test - normal.mean(1, keepdims=True)) / normal.std(1, keepdims=True), 0)
    np.testing.assert_allclose(plain, expected)


def test_a_scale_for_every_member_is_asked_for():
    with pytest.raises(ValueError, match="zip"):
        fuse(np.zeros((2, 3)), [Scale(0.0, 1.0)])


@pytest.mark.parametrize("count", [1, 2, MOST_CLIPS, MOST_CLIPS + 1, 1003])
def test_the_clips_of_a_scale_are_spread_evenly(count):
    chosen = spread_evenly(count)
    assert len(chosen) == len(set(chosen)) == min(count, MOST_CLIPS)
    assert chosen[0] == 0
    assert chosen[-1] == count - 1
    steps = np.diff(chosen)
    assert len(steps) == 0 or steps.max() - steps.min() <= 1


def test_a_timeline_onto_itself_stays_as_it_is():
    own = line(9, 0.5, 2.0)
    values = np.random.default_rng(2).normal(size=9).astype(np.float32)
    np.testing.assert_array_equal(onto_timeline(values, own, own), values)


def test_values_stand_at_the_middles_of_segments():
    """Middles of the long segments: 2, 4, 6 s; of the short ones: 0.5, 2.5, 4.5, 6.5 s."""
    long, short = line(3, 2.0, 4.0), line(4, 2.0, 1.0)
    values = onto_timeline(np.array([10.0, 20.0, 40.0], np.float32), long, short)
    np.testing.assert_allclose(values, [10.0, 12.5, 25.0, 40.0])
    assert values.dtype == np.float32


def test_one_long_segment_counts_for_all_short_ones():
    values = onto_timeline(np.array([3.0], np.float32), line(1, 1.0, 9.0), line(5, 0.1, 1.0))
    np.testing.assert_array_equal(values, np.full(5, 3.0))
