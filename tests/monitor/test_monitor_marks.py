"""Thresholds from a machine's own running: as many false alerts as were asked for."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.ndimage import uniform_filter1d

from ssdpt.alarms.block_maxima import BLOCK_SECONDS, LEAST, MOST, BlockMaxima
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine
from ssdpt.alarms.thresholds import thresholds_for
from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import fit_tail

STEP = 5.0  # seconds between scores
WEEK = round(7 * 24 * 3600 / STEP)


@pytest.fixture(scope="module")
def tail():
    return fit_tail([np.random.default_rng(0).normal(0, 1, 60)], DecisionConfig(), 0)


def scores(weeks, seed):
    """Smoothed scores of a machine whose noise lasts some seconds."""
    noise = np.random.default_rng(seed).standard_normal(weeks * WEEK)
    return 2.0 * uniform_filter1d(noise, 4)


def limits(tail, marks, per_week):
    return thresholds_for(tail, marks, AlarmSettings(per_week=per_week), clip_seconds=10.0)


def alerts(found, values):
    """How often a level begins."""
    keeper, count, before = AlarmStateMachine(AlarmSettings()), 0, "normal"
    for number, score in enumerate(values.tolist()):
        level = keeper.update(number * STEP, score, found)
        count += before == "normal" != level
        before = level
    return count


def heard(marks, values):
    for number, score in enumerate(values.tolist()):
        marks.update(1e9 + number * STEP, number * STEP, score, STEP, normal=True)
    return marks


def test_a_week_of_running_gives_as_many_false_alerts_as_were_asked_for(tail):
    marks = heard(BlockMaxima(AlarmSettings().shortest), scores(1, seed=1))
    assert len(marks.highest) == 1008
    by_clips, by_marks = (limits(tail, known, per_week=20.0) for known in (BlockMaxima(3.0), marks))
    found = alerts(by_marks, scores(1, seed=2))
    assert 8 <= found <= 50
    assert not 8 <= alerts(by_clips, scores(1, seed=2)) <= 50
    assert by_marks.words.startswith("about 20 false alerts a week, by 7.0 days of its own")
    assert not by_marks.extrapolated
    # So often that ten minutes hold several: clips tell it better.
    assert "normal clips" in limits(tail, marks, per_week=1000.0).words


def test_what_is_rarer_than_the_days_can_show_is_told_so(tail):
    marks = heard(BlockMaxima(3.0), scores(1, seed=1)[: round(86400 / STEP)])
    assert len(marks.highest) == LEAST
    found = limits(tail, marks, per_week=1.0)
    assert found.extrapolated
    assert "7.0 times rarer than so many days can show" in found.words
    assert "an alarm is ten times rarer" in limits(tail, marks, per_week=20.0).words


def test_before_a_day_the_clips_set_the_limits_and_after_four_weeks_they_stay():
    marks = BlockMaxima(3.0)
    assert marks.tail() is None
    zeros = [0.0] * (LEAST - 1)
    marks.recall({"highest": zeros, "means": zeros, "times": zeros})
    heard(marks, np.full(round(BLOCK_SECONDS / STEP), 2.0))
    assert marks.tail() is not None
    marks.recall({"highest": [1.0] * MOST, "means": [0.5] * MOST, "times": [0.0] * MOST})
    heard(marks, np.full(1000, 9.0))
    assert max(marks.highest) == 1.0
    assert marks.tail()[1] == 0.5
    again = BlockMaxima(3.0)
    again.recall(json.loads(json.dumps(marks.to_json())))
    assert again.tail() == marks.tail()
    marks.forget()
    assert marks.tail() is None


def listen(marks, begin, end, score=1.0, normal=True):
    """Seconds at one score."""
    for second in range(begin, end):
        marks.update(1e9 + second, float(second), score, 1.0, normal=normal)


def test_a_score_counts_that_lasted():
    marks = BlockMaxima(3.0)
    for second in range(600):
        score = 5.0 if second in (100, 200, 201) else 1.0
        marks.update(1e9 + second, float(second), score, 1.0, normal=True)
    assert marks.highest == [1.0]
    listen(marks, 600, 700)
    listen(marks, 700, 705, 5.0)
    listen(marks, 705, 1200)
    assert marks.highest == [1.0, 5.0]


def test_an_alert_by_chance_counts_and_one_that_goes_on_does_not():
    marks = BlockMaxima(3.0)
    listen(marks, 0, 300)
    listen(marks, 300, 360, 5.0, normal=False)
    listen(marks, 360, 600)
    assert marks.highest == [5.0]
    listen(marks, 600, 900)
    listen(marks, 900, 1500, 9.0, normal=False)  # at its end ten minutes are full
    listen(marks, 1500, 2099)
    assert marks.highest == [5.0]
    listen(marks, 2099, 2101)
    assert marks.highest == [5.0, 1.0]
    # Someone says that the first was a fault.
    marks.drop(1e9 + 300, 1e9 + 360)
    assert marks.highest == [1.0]
    assert marks.means == [1.0]


def test_more_alerts_are_never_a_higher_limit(tail):
    marks = heard(BlockMaxima(3.0), 0.5 * scores(1, seed=1))
    rates = np.geomspace(0.1, 10080, 60)
    found = [limits(tail, marks, float(rate)).alert for rate in rates]
    assert (np.diff(found) <= 1e-9).all()
