"""Whitening with a shared reference, and what siblings emphasise."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.section_model import view_of
from ssdpt.scoring.whitening import covariance, emphasis, mixed, whitening


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


def test_siblings_stretch_the_direction_in_which_they_differ():
    centres = np.array([[4.0, 0.0, 0.0], [-4.0, 0.0, 0.0]])
    stretched = emphasis(centres)
    np.testing.assert_allclose(stretched @ [1, 0, 0], [np.sqrt(1 + 32), 0, 0])
    np.testing.assert_allclose(stretched @ [0, 1, 0], [0, 1, 0])
    np.testing.assert_array_equal(emphasis(centres[:1]), np.eye(3))


@pytest.mark.parametrize("away", [2.0, 20.0])
def test_a_view_tells_how_far_siblings_lie(away):
    own = {"source": draws(80, np.ones(5))}
    sibling = {"source": draws(80, np.ones(5), seed=1) + away}
    settings = {"reference_clips": 0.0, "neighbours": 16, "domains_apart": True}
    view, distance = view_of(own, [sibling], None, **settings, emphasised=False)
    _, nothing = view_of(own, [], None, **settings, emphasised=False)
    assert nothing == 1.0
    assert distance == pytest.approx(float(np.median(view.z_scores(sibling["source"]))))
    assert (distance > 30) == (away == 20.0)
