"""Golden scores: a committed model must go on saying what it said."""

from __future__ import annotations

import json

import pytest
from make_golden import MODEL, SCORES, scores


@pytest.fixture(scope="module")
def found():
    return scores()


def test_a_committed_model_scores_as_it_did(found):
    golden = json.loads(SCORES.read_text("utf-8"))
    assert list(found) == list(golden)
    for name, before in golden.items():
        now = found[name]
        assert now["value"] == pytest.approx(before["value"], rel=1e-4, abs=1e-5), name
        assert now["parts"] == pytest.approx(before["parts"], rel=1e-4, abs=1e-5), name
        assert now["threshold"] == pytest.approx(before["threshold"], rel=1e-6), name
        assert now["p_value"] == pytest.approx(before["p_value"], rel=1e-3), name
        assert now["level"] == before["level"], name


def test_the_golden_scores_tell_clips_and_sections_apart(found):
    values = [score["value"] for score in found.values()]
    assert len(set(values)) == len(values)


def test_the_golden_model_is_small():
    assert sum(path.stat().st_size for path in MODEL.iterdir()) < 40_000
