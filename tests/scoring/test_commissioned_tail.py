"""Thresholds by the first clips after a fit, and the guard against learning a fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import KnownRecordings, fit_tail
from ssdpt.scoring.commissioning import assess, commissioned_tail

DATE = "2026-03-01"
THRESHOLDS = (2.0, 4.0)
KNOWN = KnownRecordings(median=0.0, spread=1.0)


TAIL = fit_tail([np.random.default_rng(0).standard_normal(60)], DecisionConfig(), 0)


def fitted(known=KNOWN):
    return replace(TAIL, recordings=1, provisional=True, known_recordings=known)


def drawn(seed, centre=5.0, spread=1.0, count=10):
    return centre + spread * np.random.default_rng(seed).standard_normal(count)


@pytest.mark.parametrize("known", [KNOWN, None])
@pytest.mark.parametrize("rate", [0.1, 0.01])
def test_new_clips_of_that_day_exceed_it_as_often_as_requested(rate, known):
    above = []
    for seed in range(300):
        tail = commissioned_tail(drawn(seed), fitted(known), THRESHOLDS, DATE)
        above.append((drawn(1000 + seed, count=200) > tail.threshold(rate)).mean())
    assert np.mean(above) == pytest.approx(rate, rel=0.3)


def test_it_is_no_longer_provisional_and_remembers_what_was_before():
    tail = commissioned_tail(drawn(0), fitted(), THRESHOLDS, DATE)
    assert not tail.provisional
    assert (tail.recordings, tail.clips) == (2, 70)
    assert tail.commissioned.date == DATE
    assert (tail.commissioned.alert_before, tail.commissioned.alarm_before) == THRESHOLDS


def test_clips_that_score_below_those_of_the_fit_do_not_lower_the_centre():
    low = commissioned_tail(drawn(0, centre=-5.0), fitted(), THRESHOLDS, DATE)
    assert low.threshold(0.5) == pytest.approx(KNOWN.median, abs=0.1)


def test_the_spread_of_the_fit_counts_as_ten_clips():
    scores = drawn(0, spread=0.01)
    tail = commissioned_tail(scores, fitted(), THRESHOLDS, DATE)
    assert 0.5 < tail.threshold(0.1) - tail.threshold(0.5) < 1.3


def test_one_high_score_does_not_move_the_centre():
    scores = drawn(0)
    high = np.append(scores[:-1], 100.0)
    tails = [commissioned_tail(item, fitted(), THRESHOLDS, DATE) for item in (scores, high)]
    assert tails[1].threshold(0.5) - tails[0].threshold(0.5) < 0.5


class TestGuard:
    def check(self, scores, among=None):
        return assess(scores, drawn(0) if among is None else among, THRESHOLDS, KNOWN)

    def test_clips_like_those_of_the_fit_are_taken_without_a_question(self):
        assessment = self.check(drawn(1, centre=0.5))
        assert (assessment.left_out, assessment.question) == ((), "")

    def test_a_steady_difference_is_one_question(self):
        assessment = self.check(drawn(1, centre=6.0))
        assert assessment.left_out == ()
        assert "steadily" in assessment.question
        assert "is it healthy?" in assessment.question

    @pytest.mark.parametrize("faults", [1, 2, 3])
    def test_a_minority_that_stands_out_is_left_out(self, faults):
        scores = [*drawn(1, centre=0.5, count=10 - faults), *[30.0] * faults]
        assessment = self.check(scores)
        assert assessment.left_out == tuple(range(10 - faults, 10))
        assert assessment.question == ""

    def test_two_kinds_of_clips_are_a_question(self):
        assessment = self.check([*drawn(1, centre=0.5, count=6), *[30.0] * 4])
        assert "4 of these 10 clips stand out" in assessment.question
        assert assessment.left_out == ()

    def test_clips_that_differ_from_each_other_are_a_question(self):
        assessment = self.check(drawn(1, centre=0.5), among=drawn(0, spread=20.0))
        assert "differ from each other" in assessment.question
