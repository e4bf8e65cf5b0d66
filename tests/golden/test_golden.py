"""Golden scores: committed models, and the alarms made of their scores, must not change.

Scores agree within 1e-6 of their size; levels, that is verdicts, are the same.
"""

from __future__ import annotations

import json

import pytest
from make_golden import ALARMS, MODELS, SCORES, SYSTEMS, alarms, scores


@pytest.fixture(scope="module")
def current():
    return scores()


def test_committed_models_score_as_they_did(current):
    golden = json.loads(SCORES.read_text("utf-8"))
    assert list(current) == list(golden)
    for name, before in golden.items():
        now = current[name]
        # float32 sums in another order on another CPU: of networks, a few units of 1e-6
        near = {"rel": 1e-6, "abs": 1e-6} if "gmm" in name or "texture" in name else {"rel": 1e-5}
        assert now["value"] == pytest.approx(before["value"], **near), name
        assert now["parts"] == pytest.approx(before["parts"], **near), name
        assert now["threshold"] == pytest.approx(before["threshold"], rel=1e-6), name
        assert now["p_value"] == pytest.approx(before["p_value"], rel=1e-3), name
        assert now["level"] == before["level"], name


def test_alarms_of_a_committed_history_of_scores_are_as_they_were():
    golden = [json.loads(line) for line in ALARMS.read_text("utf-8").splitlines()]
    history = alarms()
    assert [row["level"] for row in history] == [row["level"] for row in golden]
    for now, before in zip(history, golden, strict=True):
        for name in ("smoothed", "p_value", "alert", "alarm"):
            assert now[name] == pytest.approx(before[name], rel=1e-6, abs=1e-9)


def test_the_golden_history_has_every_level():
    rows = [json.loads(line) for line in ALARMS.read_text("utf-8").splitlines()]
    assert {row["level"] for row in rows} == {"normal", "alert", "alarm"}


def test_the_golden_scores_tell_clips_and_sections_apart(current):
    for system in SYSTEMS:
        values = [
            score["value"] for name, score in current.items() if name.startswith(f"{system} ")
        ]
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_golden_models_are_small(system):
    assert sum(path.stat().st_size for path in (MODELS / system).iterdir()) < 3_000_000
