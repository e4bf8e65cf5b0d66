"""Thresholds from the acceptable number of false alerts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ssdpt.alarms.block_maxima import FEWEST_BLOCKS, BlockMaxima
from ssdpt.alarms.settings import FEWEST_FALSE_ALERTS, MOST_FALSE_ALERTS, AlarmSettings
from ssdpt.alarms.thresholds import thresholds_for
from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import Tail, block_tail, fit_tail

LEVELS = ("alert", "alarm", "alert_exit", "alarm_exit")


@pytest.fixture(scope="module")
def tail() -> Tail:
    scores = np.random.default_rng(0).normal(0, 1, 200)
    return fit_tail([scores], DecisionConfig(), 0)


def thresholds_from(tail, per_week, blocks=None):
    alarm_settings = AlarmSettings(false_alerts_per_week=per_week)
    return thresholds_for(tail, blocks or BlockMaxima(3.0), alarm_settings, clip_seconds=10.0)


def day_of_blocks(location, spread, seed):
    """Block maxima of a day, as they are kept over a restart."""
    highest = np.random.default_rng(seed).gumbel(location, spread, FEWEST_BLOCKS)
    blocks = BlockMaxima(3.0)
    means = (highest - 1.0).tolist()
    blocks.restore({"highest": highest.tolist(), "means": means, "times": [0.0] * FEWEST_BLOCKS})
    return blocks


def test_fewer_false_alerts_need_higher_thresholds_and_a_provisional_one_says_so(tail):
    often, seldom = thresholds_from(tail, 6048), thresholds_from(tail, 1)  # 1 clip in 10; in 60480
    assert often.alert == pytest.approx(tail.threshold(0.1))
    assert not often.provisional
    assert often.message == "about 6048 false alerts per week, from 200 normal clips"
    assert seldom.provisional
    assert seldom.message == (
        "Provisional threshold for 1 false alert per week: only 200 normal clips learned. "
        "It improves after a day of normal running."
    )
    assert often.alert < seldom.alert < seldom.alarm
    for thresholds in (often, seldom):
        assert thresholds.usual_score < thresholds.alert_exit < thresholds.alert
        assert thresholds.alert <= thresholds.alarm
        assert thresholds.alarm_exit < thresholds.alarm


def test_a_shift_moves_all_thresholds(tail):
    before = thresholds_from(tail, 1)
    after = before.shifted(2.5)
    for name in (*LEVELS, "usual_score"):
        assert getattr(after, name) - getattr(before, name) == pytest.approx(2.5)
    assert after.message == before.message


def test_thresholds_cannot_be_changed_and_have_no_other_fields(tail):
    thresholds = thresholds_from(tail, 1)
    with pytest.raises(ValidationError):
        thresholds.alert = 0.0
    with pytest.raises(ValidationError):
        type(thresholds)(**thresholds.model_dump(), usual=0.0)


@settings(max_examples=60, deadline=None)
@given(
    location=st.floats(-2, 6),
    spread=st.floats(0.01, 3),
    seed=st.integers(0, 50),
    rates=st.lists(
        st.floats(FEWEST_FALSE_ALERTS, MOST_FALSE_ALERTS, allow_subnormal=False),
        min_size=2,
        max_size=6,
    ),
    a_day_of_running=st.booleans(),
)
def test_accepting_more_false_alerts_never_raises_a_threshold(
    location, spread, seed, rates, a_day_of_running
):
    clips = block_tail(np.random.default_rng(seed).normal(0, 1, 200))
    blocks = day_of_blocks(location, spread, seed) if a_day_of_running else None
    rows = [thresholds_from(clips, rate, blocks) for rate in sorted(rates)]
    for name in LEVELS:
        assert np.all(np.diff([getattr(row, name) for row in rows]) <= 1e-9), name
    for row in rows:
        assert row.usual_score <= row.alert_exit <= row.alert <= row.alarm
        assert row.alert_exit <= row.alarm_exit <= row.alarm


def test_the_alarm_threshold_does_not_rise_where_clips_take_over_from_blocks(tail):
    # Blocks set thresholds up to about 200 false alerts per week. Here they lie below the clips'.
    blocks = day_of_blocks(0.0, 0.05, seed=0)
    fewer, more = (thresholds_from(tail, rate, blocks) for rate in (200.0, 205.0))
    assert "of normal running" in fewer.message
    assert "normal clips" in more.message
    assert more.alarm <= fewer.alarm
    assert more.alarm_exit <= fewer.alarm_exit


def test_no_improvement_is_promised_after_the_day_of_running_is_over(tail):
    thresholds = thresholds_from(tail, 205.0, day_of_blocks(0.0, 0.05, seed=0))
    assert thresholds.provisional
    assert thresholds.message == (
        "Provisional threshold for 205 false alerts per week: only 200 normal clips learned."
    )


def normal_blocks(count):
    """So many block maxima, evenly spread."""
    blocks = BlockMaxima(3.0)
    highest = np.linspace(1.0, 2.0, count).tolist()
    blocks.restore({"highest": highest, "means": [0.5] * count, "times": [0.0] * count})
    return blocks


def test_half_of_the_clips_score_below_the_usual_score_and_no_alert_lies_below_it(tail):
    assert thresholds_from(tail, 1).usual_score == tail.threshold(0.5)
    # A clip of 100 s, ten thousand times a week: more often than there are clips.
    settings = AlarmSettings(false_alerts_per_week=MOST_FALSE_ALERTS)
    every_clip = thresholds_for(tail, BlockMaxima(3.0), settings, clip_seconds=100.0)
    assert every_clip.alert == every_clip.usual_score == tail.threshold(0.5)
    assert every_clip.alarm == tail.threshold(0.05)


def test_as_rare_as_one_in_all_that_was_learned_is_no_extrapolation():
    # Six of a week's 1,008 blocks are one in 168, which 167 blocks or clips just show.
    own = thresholds_from(block_tail(np.arange(200.0)), 6, normal_blocks(167))
    assert not own.provisional
    assert "the alarm threshold is ten times rarer" in own.message
    clips = block_tail(np.linspace(1.0, 2.0, 167))
    settings = AlarmSettings(false_alerts_per_week=6)
    of_clips = thresholds_for(clips, BlockMaxima(3.0), settings, clip_seconds=600.0)
    assert not of_clips.provisional
    assert of_clips.message == "about 6 false alerts per week, from 167 normal clips"
    fewer = thresholds_from(block_tail(np.arange(200.0)), 6, normal_blocks(166))
    assert fewer.provisional


def test_blocks_set_thresholds_up_to_one_alert_in_five_blocks(tail):
    assert "of normal running" in thresholds_from(tail, 201.6, normal_blocks(1008)).message
    assert "normal clips" in thresholds_from(tail, 201.7, normal_blocks(1008)).message


def test_a_message_says_what_thresholds_rest_on_in_round_numbers(tail):
    rare = thresholds_from(tail, 1, normal_blocks(183)).message  # 1.27 days
    assert rare.startswith("about 1 false alert per week, from 1.3 days of normal running")
    assert "5.5 times rarer" in rare  # 1,008 / 184 = 5.48
    alarm = thresholds_from(tail, 20, normal_blocks(183)).message
    assert alarm.startswith("about 20 false alerts per week, from 1.3 days of normal running")
