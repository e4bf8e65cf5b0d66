"""Thresholds from a machine's own running: as many false alerts as were requested."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.ndimage import uniform_filter1d

from ssdpt.alarms.block_maxima import BLOCK_SECONDS, FEWEST_BLOCKS, MOST_BLOCKS, BlockMaxima
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine
from ssdpt.alarms.thresholds import thresholds_for
from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import fit_tail

STEP = 5.0  # seconds between scores
WEEK = round(7 * 24 * 3600 / STEP)  # scores
START = 1e9  # seconds since 1970


@pytest.fixture(scope="module")
def tail():
    return fit_tail([np.random.default_rng(0).normal(0, 1, 60)], DecisionConfig(), 0)


def smoothed_scores(weeks, seed):
    """Scores of a machine whose noise lasts some seconds."""
    noise = np.random.default_rng(seed).standard_normal(weeks * WEEK)
    return 2.0 * uniform_filter1d(noise, 4)


def thresholds_from(tail, blocks, per_week):
    settings = AlarmSettings(false_alerts_per_week=per_week)
    return thresholds_for(tail, blocks, settings, clip_seconds=10.0)


def alerts(thresholds, scores):
    """How often a level begins."""
    machine, count, before = AlarmStateMachine(AlarmSettings()), 0, "normal"
    for number, score in enumerate(scores.tolist()):
        level = machine.update(number * STEP, score, thresholds)
        count += before == "normal" != level
        before = level
    return count


def blocks_of(scores, min_duration=3.0):
    """The block maxima of a machine that runs without an alert."""
    blocks = BlockMaxima(min_duration)
    add_scores(blocks, scores)
    return blocks


def add_scores(blocks, scores):
    for number, score in enumerate(scores.tolist()):
        blocks.update(START + number * STEP, number * STEP, score, STEP, normal=True)


def add_seconds(blocks, begin, end, score=1.0, normal=True):
    """Seconds at one score."""
    for second in range(begin, end):
        blocks.update(START + second, float(second), score, 1.0, normal=normal)


def test_a_week_of_running_gives_as_many_false_alerts_as_requested(tail):
    blocks = blocks_of(smoothed_scores(1, seed=1), AlarmSettings().min_duration)
    assert len(blocks.highest) == 1008
    from_clips = thresholds_from(tail, BlockMaxima(3.0), per_week=20.0)
    from_blocks = thresholds_from(tail, blocks, per_week=20.0)
    next_week = smoothed_scores(1, seed=2)
    assert 8 <= alerts(from_blocks, next_week) <= 50
    assert not 8 <= alerts(from_clips, next_week) <= 50
    basis = "about 20 false alerts per week, from 7 days of normal running"
    assert from_blocks.message.startswith(basis)
    assert not from_blocks.provisional
    # So often that one block has several alerts: single clips say more.
    assert "normal clips" in thresholds_from(tail, blocks, per_week=1000.0).message


def test_the_message_says_what_is_rarer_than_the_days_can_show(tail):
    blocks = blocks_of(smoothed_scores(1, seed=1)[: round(86400 / STEP)])
    assert len(blocks.highest) == FEWEST_BLOCKS
    thresholds = thresholds_from(tail, blocks, per_week=1.0)
    assert thresholds.provisional
    assert "7 times rarer than so few days can show" in thresholds.message
    message = thresholds_from(tail, blocks, per_week=20.0).message
    assert "the alarm threshold is ten times rarer, which is an extrapolation" in message


def test_blocks_set_thresholds_after_a_day_and_stay_as_they_are_after_four_weeks():
    blocks = BlockMaxima(3.0)
    assert blocks.tail() is None
    zeros = [0.0] * (FEWEST_BLOCKS - 1)
    blocks.restore({"highest": zeros, "means": zeros, "times": zeros})
    assert blocks.tail() is None
    add_scores(blocks, np.full(round(BLOCK_SECONDS / STEP), 2.0))
    assert blocks.tail() is not None
    full = {
        "highest": [1.0] * MOST_BLOCKS,
        "means": [0.5] * MOST_BLOCKS,
        "times": [0.0] * MOST_BLOCKS,
    }
    blocks.restore(full)
    add_scores(blocks, np.full(1000, 9.0))
    assert max(blocks.highest) == 1.0
    assert blocks.tail()[1] == 0.5
    restored = BlockMaxima(3.0)
    restored.restore(json.loads(json.dumps(blocks.to_json())))
    assert restored.tail() == blocks.tail()
    blocks.reset()
    assert blocks.tail() is None


def test_a_score_must_last_to_count():
    blocks = BlockMaxima(3.0)
    for second in range(600):
        score = 5.0 if second in (100, 200, 201) else 1.0
        blocks.update(START + second, float(second), score, 1.0, normal=True)
    assert blocks.highest == [1.0]
    add_seconds(blocks, 600, 700)
    add_seconds(blocks, 700, 705, 5.0)
    add_seconds(blocks, 705, 1200)
    assert blocks.highest == [1.0, 5.0]


def test_nothing_lasts_across_a_stop():
    blocks = BlockMaxima(3.0)
    add_seconds(blocks, 0, 100)
    add_seconds(blocks, 100, 103, 5.0)
    blocks.pause()
    add_seconds(blocks, 103, 106, 5.0)
    add_seconds(blocks, 106, 600)
    assert blocks.highest == [1.0]


def test_a_short_alert_counts_and_a_long_one_does_not():
    blocks = BlockMaxima(3.0)
    add_seconds(blocks, 0, 300)
    add_seconds(blocks, 300, 360, 5.0, normal=False)
    add_seconds(blocks, 360, 600)
    assert blocks.highest == [5.0]
    add_seconds(blocks, 600, 900)
    add_seconds(blocks, 900, 1500, 9.0, normal=False)  # ten minutes would be complete at its end
    add_seconds(blocks, 1500, 2099)
    assert blocks.highest == [5.0]
    add_seconds(blocks, 2099, 2101)
    assert blocks.highest == [5.0, 1.0]
    # A person marks the first alert as a fault.
    blocks.drop(START + 300, START + 360)
    assert blocks.highest == [1.0]
    assert blocks.means == [1.0]


def test_a_fault_in_the_current_block_is_left_out():
    blocks = BlockMaxima(3.0)
    add_seconds(blocks, 0, 300)
    add_seconds(blocks, 300, 310, 5.0, normal=False)
    add_seconds(blocks, 310, 320)
    blocks.drop(START + 300, START + 310)
    add_seconds(blocks, 320, 919)
    assert blocks.highest == []
    add_seconds(blocks, 919, 921)
    assert blocks.highest == [1.0]


def test_more_alerts_never_need_a_higher_threshold(tail):
    blocks = blocks_of(0.5 * smoothed_scores(1, seed=1))
    rates = np.geomspace(0.1, 10080, 60)
    thresholds = [thresholds_from(tail, blocks, float(rate)) for rate in rates]
    for name in ("alert", "alarm"):
        assert (np.diff([getattr(row, name) for row in thresholds]) <= 1e-9).all()


def test_a_block_has_the_mean_of_ten_minutes_and_the_time_of_its_end():
    blocks = BlockMaxima(3.0)
    for second in range(1800):
        score = 1.0 + second % 3 + 0.00012345  # 1, 2, 3
        blocks.update(START + 0.26 + second, float(second), score, 1.0, normal=True)
    assert blocks.means == [2.0001] * 3
    assert blocks.highest == [1.0001] * 3  # no higher score lasts
    assert blocks.times == [START + 599.3, START + 1199.3, START + 1799.3]


def test_a_whole_clip_after_a_gap_has_lasted():
    blocks = BlockMaxima(3.0)
    for number in range(1, 61):
        score, end = 5.0 if number == 30 else 1.0, 10.0 * number
        blocks.update(START + end, end, score, 10.0, normal=True, since=end - 10.0)
    assert blocks.highest == [5.0]


@pytest.mark.parametrize("before", ["start", "normal", "stop"])
def test_an_alert_of_five_minutes_counts_and_one_second_more_does_not(before):
    for seconds, highest in ((300, [5.0]), (301, [])):
        blocks = BlockMaxima(3.0)
        if before == "normal":
            add_seconds(blocks, 0, 10)
        elif before == "stop":  # an alert before it is another one
            add_seconds(blocks, 0, 10, 5.0, normal=False)
            blocks.pause()
        add_seconds(blocks, 10, 10 + seconds, 5.0, normal=False)
        add_seconds(blocks, 10 + seconds, 611)
        assert blocks.highest == highest


def full_blocks(count):
    """Blocks that ended ten minutes after each other, from 0 on; the scores count them."""
    blocks = BlockMaxima(3.0)
    numbers = [float(number) for number in range(count)]
    times = [BLOCK_SECONDS * number for number in numbers]
    blocks.restore({"highest": numbers, "means": numbers, "times": times})
    return blocks


def test_all_blocks_that_touch_a_fault_are_removed():
    blocks = full_blocks(8)
    blocks.drop(1800.0, 2400.0)  # the end of block 3 until that of block 4, where 5 begins
    assert blocks.highest == blocks.means == [0.0, 1.0, 2.0, 6.0, 7.0]
    assert blocks.times == [600 * number for number in blocks.highest]


@pytest.mark.parametrize(("end", "highest"), [(4200.0, [5.0]), (4200.5, []), (3000.0, [5.0])])
def test_the_current_block_goes_on_after_a_fault_before_it(end, highest):
    """The last of eight blocks was complete at 4200 s."""
    blocks = full_blocks(8)
    for second in range(400):
        blocks.update(4200.0 + second, float(second), 5.0, 1.0, normal=True)
    blocks.drop(2000.0, end)
    for second in range(400, 600):
        blocks.update(4200.0 + second, float(second), 5.0, 1.0, normal=True)
    assert [high for high in blocks.highest if high == 5.0 and blocks.times[-1] > 4200.5] == highest


def more_blocks(blocks, count):
    """The machine runs on."""
    last = blocks.times[-1]
    for number in range(1, count + 1):
        time = BLOCK_SECONDS * number
        blocks.update(last + time - 300, last + time - 300, 9.0, 300.0, normal=True)
        blocks.update(last + time, last + time, 9.0, 300.0, normal=True)


def test_the_tail_is_fitted_again_every_six_hours_of_running_and_at_the_end():
    blocks = full_blocks(FEWEST_BLOCKS)
    first = blocks.tail()
    assert first[1] == np.median(range(FEWEST_BLOCKS))
    more_blocks(blocks, 35)
    assert blocks.tail()[0] is first[0]
    more_blocks(blocks, 1)
    assert blocks.tail()[0].clips == FEWEST_BLOCKS + 36

    blocks = full_blocks(MOST_BLOCKS - 10)
    early = blocks.tail()[0]
    more_blocks(blocks, 9)
    assert blocks.tail()[0] is early
    more_blocks(blocks, 1)
    last = blocks.tail()[0]
    assert last.clips == MOST_BLOCKS
    assert blocks.tail()[0] is last


def test_the_tail_forgets_a_fault_at_once():
    blocks = full_blocks(FEWEST_BLOCKS + 5)
    assert blocks.tail()[0].clips == FEWEST_BLOCKS + 5
    blocks.drop(-1.0, 0.0)  # blocks 0 and 1
    assert blocks.tail()[0].clips == FEWEST_BLOCKS + 3
