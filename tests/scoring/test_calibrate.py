"""Thresholds from normal scores alone: the requested rate, and a note where clips are too few."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ssdpt.config.settings import DecisionConfig
from ssdpt.errors import SsdptError
from ssdpt.scoring.calibrate import Calibration, Commissioned, block_tail, calibrate, fit_tail
from ssdpt.scoring.distributions import empirical_tail, gamma_by_moments, gamma_fit_p_value

RATES = (0.5, 0.1, 0.05, 0.01, 0.001)
SOURCE = ("00", "source")


def sample(shape=4.0, location=-3.0, scale=0.7, count=5000, seed=0):
    return location + scale * np.random.default_rng(seed).standard_gamma(shape, count)


def tail_of(scores, **changes):
    return fit_tail([np.asarray(scores, float)], DecisionConfig(**changes), seed=0)


def bimodal(count=200, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(-5, 0.3, count // 2), rng.normal(5, 0.3, count // 2)])


def test_the_gamma_is_found_again():
    shape, location, scale = gamma_by_moments(sample(count=200_000))
    assert (shape, location, scale) == pytest.approx((4.0, -3.0, 0.7), rel=0.1)


@pytest.mark.parametrize("location", [-30.0, 0.0, 5.0])
def test_gamma_quantiles_are_scipys(location):
    tail = tail_of(sample(location=location), method="gamma")
    assert tail.method == "gamma"
    truth = stats.gamma(4.0, location, 0.7)
    for rate in RATES[:4]:
        assert tail.threshold(rate) == pytest.approx(truth.isf(rate), abs=0.2)
    fitted = stats.gamma(
        tail.parameters["shape"], tail.parameters["location"], tail.parameters["scale"]
    )
    for rate in RATES:
        # the table is finer than anyone's question
        assert tail.threshold(rate) == pytest.approx(fitted.isf(rate), abs=2e-3)


@pytest.mark.parametrize("method", ["gamma", "empirical"])
@pytest.mark.parametrize("rate", [0.1, 0.01])
def test_the_rate_holds_on_unseen_normal_clips(method, rate):
    tail = tail_of(sample(seed=1), method=method)
    unseen = sample(seed=2, count=100_000)
    assert np.mean(unseen > tail.threshold(rate)) == pytest.approx(rate, rel=0.2)


def test_the_paper_cuts_at_the_nine_tenth_quantile():
    calibration = calibrate({SOURCE: list(sample())}, DecisionConfig(), cross_fitted=False, seed=0)
    alert, alarm = calibration.thresholds()
    assert alert == pytest.approx(stats.gamma(4.0, -3.0, 0.7).isf(0.1), abs=0.05)
    assert alarm == pytest.approx(stats.gamma(4.0, -3.0, 0.7).isf(0.01), abs=0.15)


def test_a_gamma_that_does_not_fit_is_given_up_by_itself():
    few = bimodal(count=40)
    tail = tail_of(few)
    assert tail.method == "empirical"
    assert tail.fit_p_value < 0.01
    assert tail.threshold(0.1) == pytest.approx(np.quantile(few, 0.9), abs=0.2)
    assert tail_of(few, method="gamma").method == "gamma"


def test_from_fifty_clips_on_they_speak_for_themselves():
    assert tail_of(sample(count=49)).method == "gamma"
    assert tail_of(sample(count=50)).method == "empirical"
    assert tail_of(sample(count=50), method="gamma").method == "gamma"


def test_order_statistics_may_be_asked_for_with_any_number_of_clips():
    assert tail_of(sample(count=20), method="empirical").method == "empirical"
    blocks = block_tail(sample(count=20))
    assert blocks == replace(tail_of(sample(count=20), method="empirical"), fit_p_value=1.0)


def test_a_true_gamma_is_rarely_given_up():
    kept = sum(tail_of(sample(count=49, seed=seed)).method == "gamma" for seed in range(20))
    assert kept >= 18


def test_goodness_of_fit_is_a_fair_p_value():
    values = [gamma_fit_p_value(sample(count=40, seed=s), seed=s) for s in range(40)]
    assert min(values) > 0
    assert max(values) <= 1
    assert 0.2 < np.mean(values) < 0.8


def test_empirical_thresholds_are_order_statistics_then_a_tail():
    scores = np.arange(1.0, 101.0)
    got = empirical_tail(scores, np.array([0.505, 0.305]))
    np.testing.assert_allclose(got, [50, 70], atol=0.1)  # log-linear between two clips
    inside = empirical_tail(scores, np.array([0.1, 0.05]))
    np.testing.assert_allclose(inside, [90, 95], atol=2)
    beyond = empirical_tail(scores, np.array([0.001, 0.0001]))
    assert 100 < beyond[0] < beyond[1] < 130  # evenly spread scores end somewhere


def test_an_exponential_tail_is_followed():
    scores = np.random.default_rng(0).exponential(2.0, 5000)
    got = empirical_tail(scores, np.array([1e-3, 1e-4]))
    np.testing.assert_allclose(got, [-2 * np.log(1e-3), -2 * np.log(1e-4)], rtol=0.15)


@settings(max_examples=30, deadline=None)
@given(
    scores=st.lists(
        st.floats(-1e6, 1e6, allow_nan=False, allow_infinity=False), min_size=1, max_size=30
    ),
    method=st.sampled_from(["gamma", "empirical"]),
)
def test_any_scores_give_ordered_thresholds_and_p_values(scores, method):
    tail = fit_tail([np.array(scores)], DecisionConfig(method=method), seed=0)
    thresholds = [tail.threshold(rate) for rate in RATES]
    assert np.isfinite(thresholds).all()
    assert thresholds == sorted(thresholds)
    low, high = min(scores), max(scores)
    asked = [tail.p_value(score) for score in np.linspace(low - 10, high + 10, 50)]
    assert all(0 < p <= 1 for p in asked)
    assert all(a >= b - 1e-12 for a, b in pairwise(asked))


def test_p_values_and_thresholds_are_two_sides_of_one_table():
    tail = tail_of(sample())
    for rate in RATES:
        assert tail.p_value(tail.threshold(rate)) == pytest.approx(rate, rel=1e-3)
    assert tail.p_value(-1e9) == 1.0
    assert tail.p_value(1e9) == pytest.approx(1e-6)


def test_equal_scores_do_not_break_it():
    tail = tail_of([2.5] * 20)
    assert tail.threshold(0.1) == pytest.approx(2.5, abs=1e-6)


def test_no_or_infinite_scores_are_refused():
    for scores in ([], [1.0, np.inf], [np.nan]):
        with pytest.raises(SsdptError, match="finite"):
            tail_of(scores)


def test_a_section_with_enough_clips_has_its_own_threshold():
    scores = {
        ("00", "source"): list(sample(count=60)),
        ("01", "source"): list(10 + sample(count=60)),
        ("02", "source"): [1.0] * 5,
    }
    calibration = calibrate(scores, DecisionConfig(), cross_fitted=True, seed=0)
    assert set(calibration.sections) == {"00", "01"}
    assert calibration.thresholds("01")[0] == pytest.approx(
        10 + calibration.thresholds("00")[0], abs=1.5
    )
    pooled = calibration.thresholds()
    assert calibration.thresholds("02") == calibration.thresholds("99") == pooled
    assert calibration.pooled.clips == 125


def test_a_section_needs_exactly_as_many_clips_as_the_settings_say():
    scores = {
        ("00", "source"): list(sample(count=6)),
        ("01", "source"): list(sample(count=3)),
        ("01", "target"): list(sample(count=4)),
        ("02", "source"): list(sample(count=3)),
        ("02", "target"): list(sample(count=3)),
    }
    config = DecisionConfig(section_clips=7)
    assert set(calibrate(scores, config, cross_fitted=True, seed=0).sections) == {"01"}


def test_the_level_of_a_score_is_that_of_its_section():
    scores = {("00", "source"): list(sample()), ("01", "source"): list(10 + sample())}
    calibration = calibrate(scores, DecisionConfig(), cross_fitted=True, seed=0)
    usual = float(np.median(scores["01", "source"]))
    assert calibration.level(usual, "01") == "normal"
    assert calibration.level(usual, "00") == "alarm"
    lower = {SOURCE: list(sample()), ("", "source"): list(sample() - 10)}
    nameless = calibrate(lower, DecisionConfig(), cross_fitted=True, seed=0)
    assert nameless.tail(None) == nameless.tail("") == nameless.sections[""]


def test_levels_and_equality():
    calibration = calibrate({SOURCE: list(sample())}, DecisionConfig(), cross_fitted=False, seed=0)
    alert, alarm = calibration.thresholds("00")
    assert alert < alarm
    assert calibration.level(alert, "00") == "normal"
    assert calibration.level(np.nextafter(alert, np.inf), "00") == "alert"
    assert calibration.level(alarm, "00") == "alert"
    assert calibration.level(alarm + 1e-9, "00") == "alarm"


def test_what_few_clips_cannot_show():
    assert tail_of(sample(count=99)).smallest_observed_rate == 0.01


def test_it_survives_json():
    calibration = calibrate(
        {SOURCE: list(sample(count=60)), ("01", "source"): [1.0, 2.0]},
        DecisionConfig(),
        cross_fitted=True,
        seed=0,
    )
    text = json.dumps(calibration.to_json())
    assert Calibration.from_json(json.loads(text)) == calibration


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("pooled", "score"), [1.0]),
        (("pooled", "score"), "high"),
        (("pooled", "probability"), ["a"] * 122),
        (("pooled", "clips"), "many"),
        (("pooled", "surprise"), 1),
        (("sections",), []),
        (("false_alarm_rate",), 0),
        (("false_alarm_rate",), 1),
        (("alarm_ratio",), 0),
        (("alarm_ratio",), 1.5),
        (("pooled",), None),
    ],
)
def test_foreign_content_is_refused(place, value):
    scores = {SOURCE: [1.0, 2.0, 3.0]}
    tree = calibrate(scores, DecisionConfig(), cross_fitted=True, seed=0).to_json()
    *parents, leaf = place
    branch = tree
    for parent in parents:
        branch = branch[parent]
    branch[leaf] = value
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        Calibration.from_json(tree)


def test_alert_and_alarm_may_be_one_threshold():
    config = DecisionConfig(alarm_ratio=1.0)
    calibration = calibrate({SOURCE: list(sample())}, config, cross_fitted=True, seed=0)
    assert Calibration.from_json(calibration.to_json()) == calibration
    alert, alarm = calibration.thresholds()
    assert alert == alarm


def kept(**changes):
    """A calibration whose table was changed, as it comes out of its JSON."""
    calibration = calibrate({SOURCE: [1.0, 2.0, 3.0]}, DecisionConfig(), cross_fitted=True, seed=0)
    changed = replace(calibration, pooled=replace(calibration.pooled, **changes))
    return changed, lambda: Calibration.from_json(json.loads(json.dumps(changed.to_json())))


@pytest.mark.parametrize(
    "changes",
    [
        {"probability": (0.9, 0.1), "score": (1.0, 2.0)},  # the shortest table
        {"probability": (0.9, 0.5, 0.1), "score": (1.0, 1.0, 2.0)},  # equal scores
        {"clips": 1},
        {"commissioned": Commissioned("2026-03-01", 10, 1.5, 2.5)},
    ],
)
def test_whole_tables_of_any_kind_survive_json(changes):
    calibration, again = kept(**changes)
    assert again() == calibration
    assert again().pooled.commissioned == changes.get("commissioned")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"probability": (0.5,), "score": (1.0,)}, "table of tail probabilities is not whole"),
        ({"probability": (1.0, 0.1), "score": (1.0, 2.0)}, "table .* not whole"),
        ({"probability": (0.9, 0.0), "score": (1.0, 2.0)}, "table .* not whole"),
        ({"probability": (0.5, 0.5), "score": (1.0, 2.0)}, "table .* not whole"),
        ({"probability": (0.1, 0.9), "score": (1.0, 2.0)}, "table .* not whole"),
        ({"probability": (0.9, 0.1), "score": (2.0, 1.0)}, "table .* not whole"),
        ({"clips": 0}, "^no clips stand behind the table of tail probabilities$"),
    ],
)
def test_a_table_that_is_not_whole_is_refused(changes, reason):
    _, again = kept(**changes)
    with pytest.raises(ValueError, match=reason):
        again()


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_the_gamma_has_the_mean_spread_and_skewness_of_the_scores(scores):
    values = np.array(scores)
    shape, location, scale = gamma_by_moments(values)
    spread = max(values.std(ddof=1), 1e-9 * max(1.0, abs(values.mean())))
    assert location + shape * scale == pytest.approx(values.mean(), abs=1e-6 + 1e-3 * spread)
    assert np.sqrt(shape) * scale == pytest.approx(spread)
    skew = np.mean(((values - values.mean()) / spread) ** 3)
    assert 2 / np.sqrt(shape) == pytest.approx(np.clip(skew, 0.02, 3.0))


def test_the_gamma_of_too_few_or_equal_scores_is_narrow_and_not_nothing():
    for scores, centre in (([5.0], 5.0), ([5.0] * 9, 5.0), ([5000.0], 5000.0)):
        shape, location, scale = gamma_by_moments(np.array(scores))
        assert location + shape * scale == pytest.approx(centre)
        assert np.sqrt(shape) * scale == pytest.approx(1e-9 * centre)


def test_goodness_of_fit_from_the_best_to_the_worst():
    ranks = (np.arange(40) + 0.5) / 40
    perfect = stats.gamma(4.0, -3.0, 0.7).ppf(ranks)
    assert gamma_fit_p_value(perfect, seed=0) > 0.95
    assert gamma_fit_p_value(bimodal(), seed=0) == pytest.approx(1 / 201)
    some = sample(count=40)
    assert gamma_fit_p_value(some, seed=0) == gamma_fit_p_value(some, seed=0)
    assert len({gamma_fit_p_value(some, seed=seed) for seed in range(5)}) > 1


@pytest.mark.parametrize("seed", range(4))
def test_goodness_of_fit_is_how_many_samples_of_the_gamma_fit_no_better(seed):
    def statistic(clips):
        return stats.cramervonmises(clips, "gamma", gamma_by_moments(clips)).statistic

    scores = sample(count=8, seed=seed)
    shape, location, scale = gamma_by_moments(scores)
    draws = np.random.default_rng(seed).standard_gamma(shape, (200, 8)) * scale + location
    worse = sum(statistic(draw) >= statistic(scores) for draw in draws)
    assert gamma_fit_p_value(scores, seed) == pytest.approx((worse + 1) / 201)


@pytest.mark.parametrize(("clips", "top"), [(6, 5), (20, 5), (100, 15), (400, 60)])
@pytest.mark.parametrize("power", [0.3, 1.0, 4.0])
def test_beyond_the_highest_clips_lies_a_pareto_tail_of_their_l_moments(clips, top, power):
    scores = np.random.default_rng(clips).exponential(2.0, clips) ** power
    ordered = np.sort(scores)[::-1]
    base = (ordered[top - 1] + ordered[top]) / 2
    excess = ordered[:top] - base
    # The second L-moment is half the mean difference of two clips.
    pairs = np.abs(np.subtract.outer(excess, excess))[np.triu_indices(top, 1)]
    shape = np.clip((2 - excess.mean() / (pairs.mean() / 2)) * top / (top + 30), -0.5, 0.5)
    probabilities = top / clips * np.array([0.5, 0.1, 1e-3])
    expected = stats.genpareto(shape, base, excess.mean() * (1 - shape)).isf(
        probabilities * clips / top
    )
    np.testing.assert_allclose(empirical_tail(scores, probabilities), expected, rtol=1e-9)
    body = (np.arange(top, clips) + 0.5) / clips  # the k-th highest stands for (k − ½) / n
    np.testing.assert_allclose(empirical_tail(scores, body), ordered[top:])


def test_five_clips_have_no_tail_of_their_own():
    scores = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    np.testing.assert_array_equal(empirical_tail(scores, np.array([1e-6, 0.1])), [16.0, 16.0])
    assert empirical_tail(np.append(scores, 32.0), np.array([1e-6]))[0] > 32.0


def test_the_table_says_what_it_was_made_of():
    scores = sample(count=40)
    tail = tail_of(scores, method="gamma")
    shape, location, scale = gamma_by_moments(scores)
    assert tail.parameters == {"shape": shape, "location": location, "scale": scale}
    assert tail.fit_p_value == round(gamma_fit_p_value(scores, 0), 4)
    assert tail.clips == 40
    assert tail.probability[0] == 0.999
    assert tail.probability[-1] == pytest.approx(1e-6)
    assert tail_of([1.0, 2.0]).fit_p_value == 1.0  # two clips refute no distribution
    assert tail_of([1.0, 2.0, 4.0]).fit_p_value < 1.0


def test_of_two_domains_the_larger_one_names_the_method():
    few, many = sample(count=20, seed=1), sample(count=60, seed=2)
    for groups in ([few, many], [many, few]):
        tail = fit_tail(groups, DecisionConfig(), seed=0)
        assert (tail.method, tail.clips) == ("empirical", 80)
        assert tail.fit_p_value == tail_of(many).fit_p_value
    assert fit_tail([np.array([]), many], DecisionConfig(), seed=0) == tail_of(many)


def test_between_two_rows_of_the_table_it_is_straight_in_the_logarithm():
    calibration, _ = kept(probability=(0.9, 0.1, 0.001), score=(1.0, 2.0, 6.0))
    tail = calibration.pooled
    assert [tail.threshold(rate) for rate in (0.9, 0.3, 0.1, 0.01, 0.001)] == pytest.approx(
        [1.0, 1.5, 2.0, 4.0, 6.0]
    )
    assert (tail.threshold(0.99), tail.threshold(1e-9)) == (1.0, 6.0)  # the ends
    assert [tail.p_value(score) for score in (1.0, 1.5, 2.0, 4.0, 6.0)] == pytest.approx(
        [0.9, 0.3, 0.1, 0.01, 0.001]
    )
    assert (tail.p_value(0.999), tail.p_value(7.0)) == (1.0, 0.001)
    assert tail.alert_and_alarm(0.1, 0.1) == pytest.approx((2.0, 4.0))
