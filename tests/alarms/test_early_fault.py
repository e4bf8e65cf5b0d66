"""Early faults: limits of level, bands and score while thresholds are provisional."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.alarms.early_fault import EarlyFaultJudge, score_limits, score_spread
from ssdpt.alarms.indicator_baseline import IndicatorBaseline
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.config.settings import DecisionConfig
from ssdpt.features.indicators import BANDS, Indicators
from ssdpt.scoring.calibrate import fit_tail

SETTINGS = AlarmSettings()
EDGES = np.geomspace(30.0, 8000.0, BANDS + 1)


def second(level=-30.0, bands=None):
    """Indicators; `bands`: dB above −40 by number."""
    bands_db = np.full(BANDS, -40.0, np.float32)
    for band, above in (bands or {}).items():
        bands_db[band] += above
    return Indicators(level, 12.0, 3.0, bands_db, np.full(BANDS, 3.0, np.float32))


BASELINE = IndicatorBaseline.learn([second()] * 60, 0.0)
SCORES = np.random.default_rng(0).normal(7.0, 2.0, 30)
LIMITS = score_limits(fit_tail([SCORES], DecisionConfig(), 0), SETTINGS, 0.0)


def run(judge, steps, score=7.0, **changes):
    """Verdicts on so many seconds."""
    verdicts = []
    for _ in range(steps):
        judge.add_second(second(**changes))
        verdicts.append(judge.update(1.0, score, LIMITS))
    return verdicts


def first_alert(verdicts):
    return next((n for n, one in enumerate(verdicts, 1) if one.level == "alert"), None)


@pytest.fixture
def judge():
    return EarlyFaultJudge(SETTINGS, BASELINE)


@pytest.mark.parametrize(
    ("changes", "rule"), [({"level": -22.0}, "level"), ({"bands": {2: 8.0}}, "band")]
)
def test_twice_the_amplitude_for_ten_seconds_is_an_alert(judge, changes, rule):
    run(judge, 20)
    verdicts = run(judge, 15, **changes)
    assert first_alert(verdicts) == 10
    assert verdicts[-1].rule == rule
    assert [one.began for one in verdicts if one.began is not None] == [10.0]


def test_what_is_shorter_or_smaller_is_none(judge):
    run(judge, 20)
    assert first_alert(run(judge, 9, bands={2: 20.0}) + run(judge, 30)) is None
    assert first_alert(run(judge, 60, level=-25.0, bands={1: 5.0})) is None


def test_knocks_and_jumps_of_other_things_in_the_hall_are_none(judge):
    for number in range(60):
        verdict = run(judge, 1, level=-10.0 if number % 5 == 0 else -30.0)[0]
        assert verdict.level == "normal"


def test_a_score_far_above_all_that_were_learned_is_an_alert_after_the_minimum_duration(judge):
    assert max(SCORES) < LIMITS.alert < 7.0 + 8 * 2.0
    run(judge, 5, score=LIMITS.alert - 1)
    verdicts = run(judge, 10, score=LIMITS.alert + 1)
    assert first_alert(verdicts) == 1 + SETTINGS.min_duration
    assert verdicts[-1].rule == "score"
    # It ends when the score has been well below for a while.
    assert run(judge, 12)[-1].level == "normal"


def test_a_few_odd_clips_do_not_hide_a_fault():
    odd = np.concatenate([SCORES, [25.0]])
    with_odd = fit_tail([odd], DecisionConfig(), 0)
    without = fit_tail([SCORES], DecisionConfig(), 0)
    assert with_odd.threshold(1e-5) > 2 * without.threshold(1e-5)  # the extrapolated threshold
    assert score_spread(with_odd) < 1.6 * score_spread(without)
    assert score_limits(with_odd, SETTINGS, 0.0).alert < 30.0


def test_limits_move_with_the_thresholds():
    tail = fit_tail([SCORES], DecisionConfig(), 0)
    moved = score_limits(tail, SETTINGS, 5.0)
    assert moved.alert == pytest.approx(LIMITS.alert + 5.0)


def test_it_says_what_has_changed(judge):
    run(judge, 15, bands={3: 9.0})
    (finding,) = judge.findings(second(bands={3: 9.0}), EDGES)
    assert (finding.code, finding.db) == ("band", 9.0)
    assert finding.low_hz == pytest.approx(EDGES[3], abs=0.1)
    assert run(judge, 30)
    assert judge.findings(second(), EDGES) == ()


def test_where_thresholds_are_known_only_change_points_are_of_interest(judge):
    run(judge, 5)
    verdicts = []
    for _ in range(15):
        judge.add_second(second(bands={0: 10.0}))
        verdicts.append(judge.update(1.0, LIMITS.alert + 9, LIMITS, active=False))
    assert {one.level for one in verdicts} == {"normal"}
    assert [one.began for one in verdicts if one.began is not None] == [10.0]


def test_nothing_lasts_across_a_stop(judge):
    run(judge, 9, bands={2: 20.0}, score=LIMITS.alert + 1)
    judge.pause()
    assert judge.level == "normal"
    assert first_alert(run(judge, 9, bands={2: 20.0})) is None


def test_before_a_baseline_of_indicators_scores_alone_are_judged():
    judge = EarlyFaultJudge(SETTINGS, None)
    assert first_alert(run(judge, 30, bands={2: 40.0})) is None
    assert first_alert(run(judge, 10, score=99.0)) is not None


def test_other_settings_do_not_end_an_alert(judge):
    run(judge, 15, bands={2: 9.0})
    after = EarlyFaultJudge(SETTINGS, BASELINE)
    after.continue_from(judge)
    assert run(after, 1, bands={2: 9.0})[0].level == "alert"
