"""The tail: the share of new samples above a threshold is the requested rate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import aligned, calibrate, fit_tail
from ssdpt.scoring.distributions import empirical_tail

RATES = np.array([0.01, 0.05, 0.1])
SOURCE, TARGET = ("00", "source"), ("00", "target")
DISTRIBUTIONS = {
    "bell": stats.norm(),
    "gamma": stats.gamma(4, -3, 0.7),
    "exponential": stats.expon(),
    "log-normal": stats.lognorm(0.5),
    "Gumbel": stats.gumbel_r(),
    "heavy on both sides": stats.t(5),
}


def ratios(truth, clips, repeats, **changes):
    """Measured rate over requested rate: (repeats, rates), from so many samples of `clips`."""
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(repeats):
        tail = fit_tail([truth.rvs(size=clips, random_state=rng)], DecisionConfig(**changes), 0)
        rates.append([truth.sf(tail.threshold(rate)) for rate in RATES])
    return np.array(rates) / RATES


def outside(ratio):
    return ((ratio < 0.5) | (ratio > 2)).mean(0)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_thousand_clips_keep_one_per_cent(name):
    measured = ratios(DISTRIBUTIONS[name], 1000, 6)
    assert outside(measured).max() == 0
    np.testing.assert_allclose(measured.mean(0), 1, atol=0.3)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_two_hundred_clips_keep_five_per_cent_and_mostly_one(name):
    truth, rng = DISTRIBUTIONS[name], np.random.default_rng(0)
    drawn = (truth.rvs(size=200, random_state=rng) for _ in range(100))
    rare, *often = outside(np.array([truth.sf(empirical_tail(x, RATES)) for x in drawn]) / RATES)
    assert max(often) <= 0.04
    assert rare <= 0.3  # two clips of two hundred are behind it: no method can promise more


def test_scores_of_two_kinds_are_no_gamma_and_keep_it_all_the_same():
    class TwoPlaces:
        def rvs(self, size, random_state):
            return random_state.normal(size=size) + 4 * (random_state.random(size) < 0.3)

        def sf(self, score):
            return 0.7 * stats.norm.sf(score) + 0.3 * stats.norm.sf(score - 4)

    assert outside(ratios(TwoPlaces(), 1000, 4)).max() == 0
    assert outside(ratios(TwoPlaces(), 1000, 4, method="gamma"))[0] == 1  # this test can fail


class TestDomains:
    rng = np.random.default_rng(0)
    source = rng.gamma(4, 0.5, 198)
    target = rng.normal(20, 1, 4)  # two in a hundred, and far above all others

    def tail(self, *groups):
        return fit_tail(list(groups), DecisionConfig(), 0)

    def test_few_high_target_clips_count_as_the_few_they_are(self):
        alone, both = self.tail(self.source), self.tail(self.source, self.target)
        assert both.clips == 202
        for rate in (0.05, 0.1):
            # the target's clips are all above: the source's part of the rate is what is left
            share = (rate - 4 / 202) / (198 / 202)
            assert both.threshold(rate) == pytest.approx(alone.threshold(share), rel=0.01)
        # as one heap they stretch the tail of the source until 5 % are hardly ever reached
        heap = self.tail(np.concatenate([self.source, self.target]))
        truth = stats.gamma(4, scale=0.5)
        assert truth.sf(heap.threshold(0.05)) < 0.01
        assert truth.sf(both.threshold(0.05)) == pytest.approx(0.03, abs=0.015)

    def test_nor_are_they_ignored(self):
        both = self.tail(self.source, self.target)
        assert 18 < both.threshold(0.01) < 22
        assert both.p_value(20.0) == pytest.approx(0.01, abs=0.006)

    def test_equal_domains_are_as_one(self):
        scores = np.random.default_rng(1).gamma(4, 0.5, (2, 500))
        apart, one = self.tail(*scores), self.tail(scores.ravel())
        for rate in RATES:
            assert apart.threshold(rate) == pytest.approx(one.threshold(rate), rel=0.05)

    def test_sections_take_their_own_domains(self):
        scores = {
            SOURCE: list(self.source),
            TARGET: list(self.target),
            ("01", "source"): list(self.source + 100),
        }
        calibration = calibrate(scores, DecisionConfig(), cross_fitted=True, seed=0)
        assert calibration.sections["00"] == self.tail(self.source, self.target)
        assert calibration.sections["01"] == self.tail(self.source + 100)
        assert calibration.pooled.clips == 400


class TestAlignment:
    def folds(self, offsets, clips=20):
        rng = np.random.default_rng(0)
        return [{SOURCE: list(offset + rng.normal(size=clips))} for offset in offsets]

    @staticmethod
    def regular(quotient, clips=(-2.0, -1.0, 0.0, 1.0, 2.0)):
        """Three folds whose means vary `quotient` times as much as luck lets them."""
        luck = np.var(clips, ddof=1) / len(clips)
        means = np.sqrt(quotient * luck) * np.array([-1.0, 0.0, 1.0])
        return means, [{SOURCE: [float(mean + clip) for clip in clips]} for mean in means]

    @pytest.mark.parametrize("scale", [1.0, 1e-3])
    def test_what_luck_explains_of_the_difference_stays(self, scale):
        means, folds = self.regular(20.0)
        folds = [{SOURCE: [scale * score for score in fold[SOURCE]]} for fold in folds]
        moved = np.array(aligned(folds, kept=None)[SOURCE]).reshape(3, -1).mean(axis=1)
        np.testing.assert_allclose(moved, scale * means / 20, rtol=1e-6, atol=1e-12)

    @pytest.mark.parametrize(("quotient", "differ"), [(12.5, False), (13.5, True)])
    def test_one_in_a_thousand_is_the_limit_of_luck(self, quotient, differ):
        """F with 2 and 12 degrees of freedom exceeds 12.97 once in a thousand times."""
        assert stats.f.isf(0.001, 2, 12) == pytest.approx(12.97, abs=0.01)
        _, folds = self.regular(quotient)
        before = [score for fold in folds for score in fold[SOURCE]]
        assert (aligned(folds, kept=None)[SOURCE] != before) is differ

    def test_two_folds_of_two_clips_suffice_and_one_fold_is_left_as_it_is(self):
        folds = [{SOURCE: [0.0, 0.001]}, {SOURCE: [100.0, 100.001]}]
        assert np.ptp(aligned(folds, kept=0)[SOURCE]) < 0.1
        assert aligned(folds[:1], kept=0) == folds[0]

    def test_models_on_scales_that_lie_apart_are_brought_to_the_kept_one(self):
        moved = np.array(aligned(self.folds([0, 10, -10, 5]), kept=1)[SOURCE])
        assert moved.mean() == pytest.approx(10, abs=0.6)
        assert moved.std() == pytest.approx(1, abs=0.2)
        at_the_mean = np.array(aligned(self.folds([0, 10, -10, 5]), kept=None)[SOURCE])
        assert at_the_mean.mean() == pytest.approx(1.25, abs=0.6)

    def test_the_luck_of_the_clips_is_left_alone(self):
        plain = self.folds([0] * 10)
        assert aligned(plain, kept=0)[SOURCE] == [x for fold in plain for x in fold[SOURCE]]

    def test_single_clips_and_equal_scores_stay_as_they_are(self):
        assert aligned([{SOURCE: [1.0]}, {TARGET: [9.0]}], kept=0) == {SOURCE: [1.0], TARGET: [9.0]}
        assert aligned([{SOURCE: [2.0] * 3}] * 2, kept=1) == {SOURCE: [2.0] * 6}
