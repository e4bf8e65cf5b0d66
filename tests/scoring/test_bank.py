"""Normal clips as references, and those that come after the fit."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.bank import Bank
from ssdpt.scoring.fusion import Scale
from ssdpt.scoring.references import References


def _cloud(count, *, size=6, at=0.0, seed=0, spread=1.0, points=1):
    """Clips of some points each, (clips, points, size)."""
    return at + spread * np.random.default_rng(seed).normal(size=(count, points, size))


@pytest.fixture
def bank():
    return Bank.of({"target": _cloud(8, at=9.0, seed=1), "source": _cloud(60)}, neighbours=5)


def test_the_largest_domain_comes_first_and_lends_the_others_its_scale(bank):
    assert list(bank.domains) == ["source", "target"]
    source, target = bank.domains.values()
    points = target.points.astype(np.float64)
    between = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(between, np.inf)
    own = (between / target.neighbour_distance).min(1)
    sd = np.sqrt((8 * own.var() + 30 * source.scale.sd**2) / 38)
    assert target.scale.sd == pytest.approx(sd)
    assert target.scale.mean == pytest.approx((8 * own.mean() + 2 * source.scale.mean) / 10)


def test_a_distance_counts_in_the_spacing_of_the_nearest_clip():
    references = References(np.array([[0.0], [10.0]]), np.array([1.0, 4.0]), Scale(1.0, 0.5))
    # 2 from the clip at 10, whose neighbours are far, is nearer than 2 from the other.
    np.testing.assert_allclose(
        references.distances(np.array([[2.0], [12.0], [8.0]])), [2.0, 0.5, 0.5]
    )
    np.testing.assert_allclose(references.z_scores([np.array([[2.0]])]), [2.0])


def test_the_distance_of_a_clip_is_the_mean_over_its_points():
    references = References(np.array([[0.0], [10.0]]), np.array([1.0, 4.0]), Scale(1.0, 0.5))
    clips = [np.array([[2.0], [12.0]]), np.array([[12.0]])]
    np.testing.assert_allclose(references.z_scores(clips), [(1.25 - 1) / 0.5, (0.5 - 1) / 0.5])


def test_points_of_one_clip_are_not_neighbours_of_each_other():
    clips = [np.array([[0.0], [0.1]]), np.array([[2.0], [2.1]]), np.array([[5.0]])]
    references = References.of(clips, neighbours=2)
    np.testing.assert_allclose(
        references.neighbour_distance, [2.05, 1.95, 1.95, 2.05, 2.95], rtol=1e-6
    )


@pytest.mark.parametrize("averaged", [False, True])
def test_over_time_a_score_has_the_score_of_the_clip_as_its_mean(bank, averaged):
    more = bank.with_more(list(_cloud(10, at=-20.0, seed=2)), "target", reference_clips=50.0)
    for at in (0.0, 9.0, -20.0, 40.0):
        (clip,) = _cloud(1, at=at, seed=5, points=10)
        clip[3] += 6.0
        over_time = more.z_over_time(clip, averaged)
        compared = clip.mean(0, keepdims=True) if averaged else clip
        assert over_time.shape == (10,)
        assert over_time.mean() == pytest.approx(more.z_scores([compared])[0], abs=1e-5)
        if at == 0.0:
            assert over_time.argmax() == 3


def test_neighbour_distance_is_the_mean_distance_to_the_nearest_others():
    references = References.of(np.array([[[0.0]], [[1.0]], [[3.0]], [[100.0]]]), neighbours=2)
    np.testing.assert_allclose(references.neighbour_distance, [2.0, 1.5, 2.5, 98.0])


def test_few_clips_borrow_their_scale():
    """In many dimensions a few clips lie almost equally far apart: that is no scale."""
    few, many = (References.of(_cloud(count, size=100), neighbours=16) for count in (3, 60))
    assert few.scale.sd > 0.1
    assert many.scale.sd < 0.1


def test_one_clip_borrows_spacing_and_scale():
    source = _cloud(60)
    bank = Bank.of({"source": source, "target": np.full((1, 1, 6), 50.0)}, neighbours=5)
    alone = bank.domains["target"]
    assert alone.scale == bank.domains["source"].scale
    pairs = [np.linalg.norm(one - other) for one in source for other in source]
    apart = np.median([distance for distance in pairs if distance > 0])
    assert alone.neighbour_distance[0] == pytest.approx(apart, rel=1e-5)


def test_without_any_other_clip_there_is_a_scale_still():
    bank = Bank.of({"source": np.zeros((1, 1, 3))}, neighbours=5)
    scores = bank.z_scores(np.array([[[0.0, 0.0, 0.0]], [[100.0, 0.0, 0.0]]]))
    assert np.isfinite(scores).all()
    assert scores[0] < 0 < scores[1]


def test_new_clips_leave_the_others_as_they_were(bank):
    more = bank.with_more(_cloud(10, at=-20.0, seed=2), "target", reference_clips=50.0)
    assert more.domains is bank.domains
    assert bank.added == ()
    far = _cloud(20, at=200.0, seed=3)
    everywhere = np.concatenate([_cloud(50, seed=4), _cloud(50, at=9.0, seed=5), far])
    assert (more.z_scores(everywhere) <= bank.z_scores(everywhere)).all()
    # What is usual for the fit stays so, and what is far from everything stays unusual.
    np.testing.assert_allclose(more.z_scores(everywhere[:100]), bank.z_scores(everywhere[:100]))
    assert (more.z_scores(far) > 50).all()


@pytest.mark.parametrize("clips", [1, 2, 4, 10])
def test_new_clips_and_those_like_them_become_usual(bank, clips):
    given = _cloud(clips, at=-20.0, seed=2)
    like = _cloud(30, at=-20.0, seed=3)
    more = bank.with_more(given, "target", reference_clips=50.0)
    assert (more.z_scores(given) < 0).all()
    assert np.median(bank.z_scores(like)) > 30
    assert np.median(more.z_scores(like)) < 3


def test_a_single_clip_does_not_open_the_door_wide(bank):
    more = bank.with_more(np.full((1, 1, 6), -20.0), "target", reference_clips=50.0)
    usual = bank.domains["source"].usual_distance()
    step = np.zeros((2, 1, 6))
    step[:, 0, 0] = usual, 3 * usual
    near, off = more.z_scores(np.full((1, 1, 6), -20.0) + step)
    assert near < 1.5
    assert off > 10


def test_copies_are_no_closer_than_clips_of_the_fit(bank):
    copies = np.repeat(np.full((1, 1, 6), -20.0), 3, axis=0)
    one = bank.with_more(copies[:1], "target", reference_clips=50.0)
    three = bank.with_more(copies, "target", reference_clips=50.0)
    like = _cloud(30, at=-20.0, seed=3)
    np.testing.assert_allclose(three.z_scores(like), one.z_scores(like))


def test_a_condition_is_measured_by_the_spread_of_its_own_clips(bank):
    wide = np.ones(6)
    wide[0] = 30.0  # in one direction the new clips differ far more than those of the fit
    given, like = (_cloud(20, seed=seed) * wide + 300.0 for seed in (2, 3))
    more = bank.with_more(given, "target", reference_clips=50.0)
    (condition,) = more.added
    assert abs(condition.directions[0, 0]) == pytest.approx(1.0, abs=0.01)
    assert condition.factors[0] < 0.2
    # A fault that moves clips where normal ones hardly differ is not hidden by that direction.
    fault = like + np.array([0.0, 12.0, 0.0, 0.0, 0.0, 0.0])
    assert np.median(more.z_scores(fault)) > np.median(more.z_scores(like)) + 5


def test_few_clips_are_believed_less_the_more_clips_the_fit_rests_on(bank):
    given = 10 * _cloud(10, at=-20.0, seed=2)
    strict, lenient = (bank.with_more(given, "target", clips).added[0] for clips in (10, 1000))
    assert (strict.factors < lenient.factors[: len(strict.factors)]).all()


def test_without_density_all_count_alike():
    bank = Bank.of({"source": _cloud(20)}, neighbours=0).with_more(_cloud(5), "target", 50.0)
    assert set(bank.added[0].references.neighbour_distance.tolist()) == {1.0}
