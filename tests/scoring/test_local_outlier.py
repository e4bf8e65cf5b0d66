"""Local outlier factors, and that copies or a single reference do not break them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor

from ssdpt.scoring.local_outlier import LocalOutliers, covering, outliers_of


def points(count, seed=0, width=8):
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


@pytest.mark.parametrize(("count", "k"), [(50, 4), (50, 1), (50, 20), (5, 4), (3, 4), (2, 4)])
def test_it_is_the_factor_of_scikit_learn(count, k):
    references, new = points(count), points(20, seed=1) * 2
    theirs = LocalOutlierFactor(n_neighbors=min(k, count - 1), novelty=True)
    theirs.fit(references.astype(np.float64))
    expected = -theirs.score_samples(new.astype(np.float64))
    np.testing.assert_allclose(LocalOutliers(references, k).factors(new), expected, rtol=1e-6)


def test_a_point_amid_the_references_is_about_one_and_one_far_away_is_far_above():
    inside, outside = LocalOutliers(points(200), 10).factors(
        np.array([[0.0] * 8, [9.0] * 8], np.float32)
    )
    assert 0.7 < inside < 1.2
    assert outside > 5


def test_what_is_local_counts_not_how_far_apart_clips_are_everywhere():
    near, far = points(50), 30 + 5 * points(50, seed=1)
    outliers = LocalOutliers(np.concatenate([near, far]), 4)
    step = np.full((1, 8), 1.5, np.float32)
    beside_near = outliers.factors(near.mean(0) + 3 * step)
    beside_far = outliers.factors(far.mean(0) + 3 * step)
    assert beside_near > 1.5 * beside_far


@pytest.mark.parametrize("copies", [2, 5, 40])
def test_copies_give_finite_factors(copies):
    references = np.concatenate([np.repeat(points(1), copies, axis=0), points(10, seed=2)])
    factors = LocalOutliers(references, 4).factors(np.concatenate([references, points(5)]))
    assert np.isfinite(factors).all()
    same = LocalOutliers(np.repeat(points(1), copies, axis=0), 4)
    near, far = same.factors(np.concatenate([points(1), points(1) + 1]))
    assert np.isfinite([near, far]).all()
    assert far > near


def test_a_single_reference_borrows_the_spread_of_others():
    lone = points(1)
    others, alone = outliers_of([points(50, seed=3), lone], 4)
    spread = np.median(others.reachability())
    at, near, far = alone.factors(np.concatenate([lone, lone + 0.01, lone + 5]))
    assert at == near == pytest.approx(1)
    assert far == pytest.approx(np.sqrt(8 * 25) / spread, rel=1e-5)
    assert np.isfinite(outliers_of([lone], 4)[0].factors(points(3))).all()


def test_what_covers_is_spread_out_and_has_no_copies():
    cloud = np.concatenate([points(100) * 0.1, points(3, seed=1) + 10])
    chosen = covering(cloud, 10)
    assert chosen == covering(cloud, 10) == sorted(set(chosen))
    assert len(chosen) == 10
    assert {100, 101, 102} <= set(chosen)  # the few that lie apart
    assert covering(cloud, 1000) == list(range(103))
    assert len(covering(np.repeat(cloud[:4], 3, axis=0), 1000)) == 4
    assert covering(cloud[:1], 5) == [0]
