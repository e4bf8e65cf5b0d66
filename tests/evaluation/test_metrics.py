from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc as area_under
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from ssdpt.evaluation.metrics import (
    EPSILON,
    Estimate,
    auc,
    bootstrap,
    decision_rates,
    interval,
    pauc,
    pauc_printed,
    roc,
    weighted_areas,
)
from ssdpt.evaluation.tables import harmonic

# Few distinct values, so that ties within and across the labels are the rule.
coarse = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 3.0])
fine = st.floats(-100, 100, allow_subnormal=False)


@st.composite
def labelled(draw, most=40):
    normals = draw(st.integers(1, most))
    anomalies = draw(st.integers(1, most))
    size = normals + anomalies
    scores = draw(st.lists(draw(st.sampled_from([coarse, fine])), min_size=size, max_size=size))
    order = draw(st.permutations(range(size)))
    return np.array([i < anomalies for i in order]), np.array(scores)


@given(labelled())
def test_areas_equal_scikit_learn(clips):
    labels, scores = clips
    area, partial = weighted_areas(labels, scores, np.ones((1, len(labels)), np.int64))
    assert area[0] == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert partial[0] == pytest.approx(roc_auc_score(labels, scores, max_fpr=0.1), abs=1e-12)
    assert auc(labels, scores) == roc_auc_score(labels, scores)
    assert pauc(labels, scores) == roc_auc_score(labels, scores, max_fpr=0.1)


@given(labelled(most=15), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.1, 0.5]))
def test_weights_mean_how_often_a_clip_was_drawn(clips, seed, max_fpr):
    labels, scores = clips
    weights = np.random.default_rng(seed).integers(0, 4, (3, len(labels)))
    weights[:, [np.argmax(labels), np.argmin(labels)]] += 1
    area, partial = weighted_areas(labels, scores, weights, max_fpr)
    for row in range(3):
        drawn = np.repeat(labels, weights[row]), np.repeat(scores, weights[row])
        assert area[row] == pytest.approx(roc_auc_score(*drawn), abs=1e-12)
        assert partial[row] == pytest.approx(roc_auc_score(*drawn, max_fpr=max_fpr), abs=1e-12)


@given(labelled())
def test_printed_pauc_is_the_double_sum_of_the_paper(clips):
    labels, scores = clips
    normal = sorted(scores[~labels], reverse=True)
    anomalous = scores[labels]
    counted = len(normal) // 10
    if counted == 0:
        assert math.isnan(pauc_printed(labels, scores))
        return
    wins = sum(float(a - n > 0) for n in normal[:counted] for a in anomalous)
    expected = wins / (counted * len(anomalous))
    assert pauc_printed(labels, scores) == pytest.approx(expected, abs=1e-12)


def test_printed_pauc_of_chance_is_a_twentieth_and_mcclish_a_half():
    generator = np.random.default_rng(0)
    labels = np.arange(20000) % 2 == 1
    scores = generator.random(20000)
    assert pauc_printed(labels, scores) == pytest.approx(0.05, abs=0.01)
    assert pauc(labels, scores) == pytest.approx(0.5, abs=0.01)
    # Without ties, and with p·N₋ whole, McClish's form is the printed one on another scale.
    printed, p = pauc_printed(labels, scores), 0.1
    assert pauc(labels, scores) == pytest.approx(
        0.5 * (1 + (p * printed - p**2 / 2) / (p - p**2 / 2)), abs=1e-12
    )


def test_printed_pauc_counts_a_share_that_floating_point_rounds_down():
    labels = np.array([False] * 100 + [True])
    scores = np.append(np.arange(100.0), 71.5)  # beats the lowest of the 29 highest: 71
    assert pauc_printed(labels, scores, max_fpr=0.29) == pytest.approx(1 / 29)


@pytest.mark.parametrize("labels", [[True, True], [False, False]])
def test_one_kind_of_clip_gives_no_area(labels):
    for measure in (auc, pauc, pauc_printed):
        assert math.isnan(measure(labels, [0.1, 0.2]))


def test_harmonic_mean_is_floored():
    means = harmonic(np.array([[0.5, 1.0], [0.0, 1.0]]))
    assert means == pytest.approx([2 / 3, 2 * EPSILON])


@given(labelled(), st.sampled_from([-2.0, 0.0, 0.25, 3.0, 200.0]))
def test_decision_rates_equal_scikit_learn(clips, threshold):
    labels, scores = clips
    rates = decision_rates(labels, scores, threshold)
    precision, recall, f1, _ = precision_recall_fscore_support(
        labels, scores > threshold, average="binary", zero_division=0
    )
    assert (rates.precision, rates.recall, rates.f1) == pytest.approx((precision, recall, f1))
    assert rates.false_alarms == int(((scores > threshold) & ~labels).sum())
    assert rates.misses == int(((scores <= threshold) & labels).sum())
    assert rates.false_alarm_rate == pytest.approx(rates.false_alarms / rates.normals)


def test_a_score_at_the_threshold_is_normal_and_thresholds_may_differ_by_clip():
    rates = decision_rates([True, True, False], [1.0, 2.0, 1.5], [1.0, 1.9, 1.0])
    assert (rates.misses, rates.false_alarms) == (1, 1)
    assert decision_rates([], [], []).f1 == 0.0


def bootstrap_interval(labels, scores, measure="auc", *, seed=0, resamples=1000):
    """AUC or pAUC with its 95 % interval, as the result tables compute it."""

    def areas(weights):
        return weighted_areas(labels, scores, weights)[measure == "pauc"][:, None]

    draws = bootstrap(areas, labels.tolist(), seed=seed, resamples=resamples)
    value = (pauc if measure == "pauc" else auc)(labels, scores)
    return Estimate(value, *interval(value, draws))


def test_interval_contains_the_value_is_reproducible_and_narrows():
    generator = np.random.default_rng(3)

    def clips(number):
        labels = np.arange(number) % 2 == 1
        return labels, generator.standard_normal(number) + labels

    few, many = clips(40), clips(2000)
    for measure in ("auc", "pauc"):
        wide, narrow = (bootstrap_interval(*x, measure, seed=5) for x in (few, many))
        assert wide == bootstrap_interval(*few, measure, seed=5)
        assert wide != bootstrap_interval(*few, measure, seed=6)
        assert wide.low < wide.value < wide.high
        assert narrow.high - narrow.low < 0.4 * (wide.high - wide.low)
    assert bootstrap_interval(*few).value == roc_auc_score(*few)


def test_interval_of_a_perfect_detector_is_a_point():
    perfect = bootstrap_interval(np.array([False, False, True, True]), [0, 1, 2, 3])
    assert (perfect.low, perfect.value, perfect.high) == (1.0, 1.0, 1.0)


def test_interval_has_the_stated_coverage():
    generator = np.random.default_rng(0)
    labels = np.arange(80) % 2 == 1
    covered = 0
    for seed in range(150):
        scores = generator.standard_normal(80) + labels
        estimate = bootstrap_interval(labels, scores, seed=seed, resamples=200)
        covered += estimate.low <= 0.7602 <= estimate.high  # Φ(1/√2)
    assert 0.87 <= covered / 150 <= 0.99


def test_resampling_keeps_strata_and_works_in_blocks(monkeypatch):
    strata = ["a"] * 3 + ["b"] * 5
    seen = []

    def statistic(weights):
        seen.append(len(weights))
        assert (weights[:, :3].sum(axis=1) == 3).all()
        assert (weights[:, 3:].sum(axis=1) == 5).all()
        assert weights.dtype == np.int64
        return weights[:, :1].astype(float)

    monkeypatch.setattr("ssdpt.evaluation.metrics._BLOCK_CELLS", 80)
    draws = bootstrap(statistic, strata, seed=1, resamples=25)
    assert seen == [10, 10, 5]
    assert draws.shape == (25, 1)
    assert draws.std() > 0

    # Of more clips than a block has cells, one resample at a time.
    monkeypatch.setattr("ssdpt.evaluation.metrics._BLOCK_CELLS", 7)
    seen.clear()
    assert bootstrap(statistic, strata, seed=1, resamples=3).shape == (3, 1)
    assert seen == [1, 1, 1]


def test_labels_and_scores_may_be_plain_whole_numbers():
    labels, scores = [0, 0, 1, 0, 1], [1, 2, 3, 4, 5]
    assert auc(labels, scores) == pytest.approx(5 / 6)
    assert pauc(labels, scores, 0.5) == roc_auc_score(labels, scores, max_fpr=0.5)
    assert pauc_printed(labels, scores, 0.5) == 0.5  # one of two is above the highest normal
    assert pauc_printed(labels, scores, 1.0) == pytest.approx(5 / 6)
    for numbers in (scores, np.arange(5, dtype=np.uint8)):  # which knows no negative numbers
        area, _ = weighted_areas(labels, numbers, np.ones((1, 5), np.int64))
        assert area[0] == pytest.approx(5 / 6)
    rates = decision_rates(labels, scores, 2)
    assert (rates.normals, rates.anomalies, rates.false_alarms, rates.misses) == (3, 2, 1, 0)
    assert rates.false_alarm_rate == pytest.approx(1 / 3)
    assert (rates.precision, rates.recall) == pytest.approx((2 / 3, 1.0))


@pytest.mark.parametrize("labels", [[True, True], [False, False], []])
def test_one_kind_of_clip_defines_no_area(labels):
    scores = [1.0, 2.0][: len(labels)]
    for area in (auc, pauc):
        assert math.isnan(area(labels, scores))
    if not labels or labels[0] is False:
        assert math.isnan(pauc_printed(labels, scores, 0.5))


def test_ratios_without_clips_are_zero():
    rates = decision_rates([True], [1.0], 2.0)
    assert (rates.precision, rates.recall, rates.f1, rates.false_alarm_rate) == (0, 0, 0, 0)
    perfect = decision_rates([True, False], [3.0, 1.0], 2.0)
    assert (perfect.precision, perfect.recall, perfect.f1) == (1.0, 1.0, 1.0)


@given(labelled())
def test_the_roc_curve_rises_from_corner_to_corner_and_encloses_the_auc(clips):
    false_positive, true_positive = roc(*clips)
    assert (false_positive[0], true_positive[0]) == (0, 0)
    assert (false_positive[-1], true_positive[-1]) == (1, 1)
    assert (np.diff(false_positive) >= 0).all()
    assert (np.diff(true_positive) >= 0).all()
    assert area_under(false_positive, true_positive) == pytest.approx(auc(*clips))


def test_a_roc_curve_of_whole_numbers():
    false_positive, true_positive = roc([0, 1, 0, 1], [1, 2, 3, 4])
    assert area_under(false_positive, true_positive) == 0.75


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (50.0, (2.5, 97.5)),  # the mean of the draws
        (60.0, (12.5, 100.0)),  # shifted, but no higher than the highest draw
        (45.0, (0.0, 92.5)),
        (200.0, (152.5, 200.0)),  # or than the value itself
        (-20.0, (-20.0, 27.5)),
    ],
)
def test_the_interval_is_the_central_part_of_the_draws_about_the_value(value, expected):
    assert interval(value, range(101)) == pytest.approx(expected)


def test_every_clip_of_a_stratum_is_drawn_alike_wherever_it_stands():
    strata = ["a", "b", "a", "b", "b", "a", "b"]
    weights = bootstrap(lambda drawn: drawn.astype(float), strata, seed=3)
    assert weights.shape == (1000, 7)
    for name in ("a", "b"):
        own = [stratum == name for stratum in strata]
        assert (weights[:, own].sum(axis=1) == sum(own)).all()
    np.testing.assert_allclose(weights.mean(axis=0), 1.0, atol=0.12)
    assert (weights >= 0).all()
    assert not np.array_equal(weights[0], weights[1])  # each resample is one of its own
    again = bootstrap(lambda drawn: drawn.astype(float), strata, seed=3)
    np.testing.assert_array_equal(again, weights)
