"""The first hour after a baseline: one question instead of twenty alarms, and no fault learned."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fixed_thresholds import fixed_thresholds
from ssdpt.alarms.commissioning import ASK_AFTER, HOUR, Commissioning, growing, without_outliers

LIMITS = fixed_thresholds(alert=10.0, alarm=15.0, alert_exit=8.0, alarm_exit=12.0)
SPREAD = 1.0
RNG = np.random.default_rng(0)


def run(commissioning, seconds, score, *, changed=False, grows=0.0):
    """So many seconds around this score; the second at which the hour was over and normal."""
    done = None
    for number in range(int(seconds)):
        value = score + grows * number + 0.3 * RNG.standard_normal()
        over = commissioning.update(
            1000.0 + number, 1.0, value, value, LIMITS, SPREAD, changed=changed
        )
        done = number if over and done is None else done
    return done


@pytest.fixture
def commissioning():
    return Commissioning()


def test_a_machine_that_is_high_from_the_start_is_asked_about_once_and_no_event_begins(
    commissioning,
):
    run(commissioning, ASK_AFTER - 1, 12.0)
    assert commissioning.holds
    assert not commissioning.asking
    run(commissioning, 5, 12.0)
    assert commissioning.asking
    assert commissioning.holds
    assert commissioning.since == 999.0
    # It stays asked, and nothing is taken as normal by itself, however long it takes.
    assert run(commissioning, 2 * HOUR, 12.0) is None
    assert commissioning.asking


def test_near_the_threshold_is_asked_about_too(commissioning):
    run(commissioning, 2 * ASK_AFTER, LIMITS.alert_exit + 1.0)
    assert commissioning.asking


def test_what_is_normal_at_first_and_high_later_is_an_ordinary_event(commissioning):
    run(commissioning, 10, 1.0)
    run(commissioning, 300, 14.0)
    assert not commissioning.holds
    assert not commissioning.asking
    assert run(commissioning, HOUR, 1.0) is None  # and the hour was not a healthy one


def test_a_score_that_grows_from_the_start_is_not_steady(commissioning):
    run(commissioning, 2 * ASK_AFTER, 11.0, grows=0.2)
    assert not commissioning.asking
    assert not commissioning.holds


def test_a_sudden_change_while_asked_ends_the_question(commissioning):
    run(commissioning, 2 * ASK_AFTER, 12.0)
    assert commissioning.own_limit(SPREAD) == pytest.approx(12.0 + 6 * SPREAD, abs=0.5)
    run(commissioning, 1, 30.0, changed=True)
    assert not commissioning.asking
    assert not commissioning.holds


def test_a_machine_that_is_normal_again_is_not_asked_about_for_ever(commissioning):
    run(commissioning, 2 * ASK_AFTER, 12.0)
    run(commissioning, 500, 1.0)
    assert commissioning.asking
    run(commissioning, 200, 1.0)
    assert not commissioning.asking


def test_a_normal_hour_sets_the_thresholds(commissioning):
    assert run(commissioning, HOUR + 10, 3.0) == pytest.approx(HOUR, abs=2)
    assert len(commissioning.scores) == pytest.approx(360, abs=2)
    assert run(commissioning, HOUR, 3.0) is None  # once


@pytest.mark.parametrize("grows", [0.001, 0.003])
def test_a_fault_that_grows_over_the_hour_does_not(commissioning, grows):
    assert run(commissioning, HOUR + 10, 0.0, grows=grows) is None


def test_a_change_point_within_the_hour_does_not(commissioning):
    run(commissioning, 600, 1.0)
    run(commissioning, 1, 1.0, changed=True)
    assert run(commissioning, HOUR, 1.0) is None


def test_an_answer_ends_it(commissioning):
    run(commissioning, 2 * ASK_AFTER, 12.0)
    commissioning.answer()
    assert not commissioning.asking
    assert not commissioning.holds


def test_it_goes_on_after_a_restart(commissioning):
    run(commissioning, HOUR / 2, 3.0)
    again = Commissioning.from_json(json.loads(json.dumps(commissioning.to_json())))
    assert run(again, HOUR / 2 + 10, 3.0) == pytest.approx(HOUR / 2, abs=2)
    asked = Commissioning()
    run(asked, 2 * ASK_AFTER, 12.0)
    again = Commissioning.from_json(json.loads(json.dumps(asked.to_json())))
    assert again.asking
    assert again.since == asked.since
    assert again.own_limit(SPREAD) == asked.own_limit(SPREAD)


def test_growing_compares_the_thirds():
    assert not growing([], 1.0)
    assert not growing([1.0, 5.0, 1.0, 5.0, 1.0, 5.0], 3.0)
    assert growing(np.linspace(0, 4, 30), 1.0)
    assert not growing(np.linspace(4, 0, 30), 1.0)


def test_single_odd_scores_set_no_threshold():
    scores = [*RNG.normal(3.0, 1.0, 300), 40.0, 50.0]
    kept = without_outliers(scores)
    assert len(kept) == 300
    assert kept.max() < 10
