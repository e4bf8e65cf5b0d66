"""Whitening with a shared reference, and a view that uses it."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.section_model import view_of
from ssdpt.scoring.whitening import covariance, mixed, whitening


def draws(count, scales, seed=0):
    return np.random.default_rng(seed).standard_normal((count, len(scales))) * scales


def test_whitened_clips_have_unit_spread():
    scales = np.array([1.0, 3.0, 0.5])
    points = draws(5000, scales)
    spread = np.cov((points @ whitening(covariance([points]))).T)
    np.testing.assert_allclose(spread, np.eye(3), atol=0.05)


def test_a_covariance_is_within_groups():
    """Where the groups lie does not count."""
    groups = [draws(500, np.ones(4), seed) + 100 * seed for seed in range(4)]
    np.testing.assert_allclose(covariance(groups), np.eye(4), atol=0.1)


def test_single_clips_show_no_spread():
    np.testing.assert_array_equal(covariance([np.ones((1, 3))]), np.eye(3))


def test_a_shared_reference_gives_its_shape_not_its_size():
    own, other = np.diag([1.0, 3.0]), np.diag([300.0, 100.0])
    np.testing.assert_allclose(mixed(own, other, 1.0), np.diag([3.0, 1.0]))
    np.testing.assert_allclose(mixed(own, other, 0.0), own)
    assert mixed(own, None, 0.5) is own


@pytest.mark.parametrize("averaged", [False, True])
def test_a_view_compares_rows_or_their_mean(averaged):
    random = np.random.default_rng(0)
    clips = {"source": list(random.standard_normal((80, 10, 5)))}
    settings = {"reference_clips": 0.0, "neighbours": 16, "domains_apart": True}
    view = view_of(clips, None, averaged=averaged, **settings)
    assert view.clips == 80
    assert len(view.bank.domains["source"].points) == (80 if averaged else 800)
    normal, shifted = (
        [rows + offset for rows in random.standard_normal((40, 10, 5))] for offset in (0.0, 1.0)
    )
    assert abs(np.median(view.z_scores(normal))) < 1
    # A shift of every row by one deviation stands out of their mean, not of single rows.
    shift = float(np.median(view.z_scores(shifted)))
    assert shift > 1
    assert (shift > 4) == averaged
