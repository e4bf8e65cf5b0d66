"""The badge of the report."""

from __future__ import annotations

import pytest

from ssdpt.evaluation.metrics import Estimate, Rates
from ssdpt.evaluation.verdict import MISSES, MORE, TOO_MANY, verdict


def rates(false_alarms, normals=100):
    return Rates(normals, 100, false_alarms, 10, precision=0.5, recall=0.9, f1=0.6)


def auc(value):
    return Estimate(value, value - 0.02, value + 0.02)


@pytest.mark.parametrize(
    ("area", "false_alarms", "grade", "text"),
    [
        (0.97, 10, "excellent", "excellent"),
        (0.9, 15, "good", "good"),  # fifteen of a hundred may be luck
        (0.9, 22, "fair", f"fair, {MORE}"),
        (0.9, 62, "weak", TOO_MANY),
        (0.99, 62, "weak", TOO_MANY),
        (0.6, 22, "weak", f"weak, {MORE}"),
        (0.5, 10, "chance", "no better than chance"),
        (0.5, 62, "chance", f"no better than chance, {TOO_MANY}"),
    ],
)
def test_false_alarms_limit_the_verdict(area, false_alarms, grade, text):
    result = verdict(auc(area), rates(false_alarms), 0.1)
    assert (result.grade, result.text) == (grade, text)


@pytest.mark.parametrize(
    ("area", "misses", "text"),
    [
        (0.97, 100, f"fair, {MISSES}"),
        (0.9, 65, f"fair, {MISSES}"),
        (0.9, 55, "good"),  # forty-five of a hundred may be half of all
        (0.75, 100, "fair"),  # it does not separate much better
    ],
)
def test_a_threshold_that_misses_most_faults_limits_the_verdict(area, misses, text):
    missed = Rates(100, 100, 5, misses, precision=0.5, recall=1 - misses / 100, f1=0.1)
    assert verdict(auc(area), missed, 0.1).text == text


def test_without_an_auc_only_false_alarms_can_be_judged():
    assert verdict(None, rates(5), 0.1).grade == ""
    assert verdict(None, rates(62), 0.1).text == TOO_MANY
    assert verdict(auc(0.9), rates(0, normals=0), 0.1).grade == "good"


def test_few_clips_do_not_prove_too_many_false_alarms():
    assert verdict(auc(0.9), rates(2, normals=5), 0.1).text == "good"
