"""Of very many points of normal clips some are references; a small domain keeps its own."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.bank import Bank
from ssdpt.scoring.section_model import view_of
from ssdpt.scoring.thinning import MOST_REFERENCES, thinned, thinned_domains


def _clips(count, points=10, seed=0):
    rng = np.random.default_rng(seed)
    return list(rng.normal(size=(count, points, 4)))


def _points(clips):
    return np.concatenate(clips)


def test_few_points_stay_as_they_are():
    clips = _clips(5)
    np.testing.assert_array_equal(_points(thinned(clips, 50)), _points(clips))
    assert thinned([], 50) == []


@pytest.mark.parametrize("most", [5, 17, 49])
def test_of_many_points_some_are_kept_spread_over_all_clips(most):
    clips = [np.full((10, 1), float(number)) for number in range(5)]
    left = thinned(clips, most)
    assert sum(map(len, left)) == most
    assert [float(clip[0, 0]) for clip in left] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert max(map(len, left)) - min(map(len, left)) <= 1


def test_clips_of_which_nothing_is_kept_are_left_out():
    assert len(thinned(_clips(5), 2)) == 2


def test_a_small_domain_keeps_its_points_and_the_large_one_makes_room():
    clips = {"source": _clips(99), "target": _clips(2, seed=1)}
    left = thinned_domains(clips, 100)
    assert list(left) == ["source", "target"]
    np.testing.assert_array_equal(_points(left["target"]), _points(clips["target"]))
    assert len(_points(left["source"])) == 80


def test_domains_that_are_large_alike_have_half_each():
    left = thinned_domains({"source": _clips(30), "target": _clips(20)}, 100)
    assert [len(_points(clips)) for clips in left.values()] == [50, 50]


@pytest.mark.parametrize("apart", [False, True])
def test_a_view_of_many_clips_has_no_more_references_and_all_of_the_small_domain(apart):
    clips = {"source": _clips(MOST_REFERENCES // 10 + 50), "target": _clips(10, seed=1)}
    view = view_of(
        clips, None, averaged=False, reference_clips=0, neighbours=4, domains_apart=apart
    )
    groups = view.bank.domains
    sizes = {domain: len(references.points) for domain, references in groups.items()}
    most = MOST_REFERENCES
    assert sizes == ({"source": most, "target": 100} if apart else {"source": most})
    # The points of the target domain are references themselves: nothing is nearer.
    nearest = groups["target" if apart else "source"].distances(
        _points(view.points(clips["target"]))
    )
    assert nearest.max() < 1e-3


def test_a_bank_of_many_points_is_thinned():
    bank = Bank.of({"source": _clips(MOST_REFERENCES // 10 + 1)}, neighbours=4)
    references = bank.domains["source"]
    assert len(references.points) == MOST_REFERENCES
    assert np.isfinite([references.scale.mean, references.scale.sd]).all()
