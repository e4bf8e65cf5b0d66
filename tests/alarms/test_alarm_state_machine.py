"""Smoothing, and levels with entry and exit thresholds and minimum durations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixed_thresholds import fixed_thresholds
from ssdpt.alarms.lasting_score import LastingScore
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine, Smoother

THRESHOLDS = fixed_thresholds(alert=2.0, alarm=4.0, alert_exit=1.5, alarm_exit=3.5)
SETTINGS = AlarmSettings(min_duration=3.0, clear_after=5.0)
ENTRY = {"alert": THRESHOLDS.alert, "alarm": THRESHOLDS.alarm}
RANKS = {"normal": 0, "alert": 1, "alarm": 2}

# Runs of equal scores, in every region between the thresholds: (score, seconds).
RUNS = st.lists(
    st.tuples(st.sampled_from([0.0, 1.7, 3.0, 3.7, 5.0]), st.integers(1, 12)),
    min_size=1,
    max_size=12,
)


def levels(scores, settings=SETTINGS):
    """The level after each score, one a second."""
    machine = AlarmStateMachine(settings)
    return [machine.update(float(time), score, THRESHOLDS) for time, score in enumerate(scores)]


def test_a_level_begins_after_its_minimum_duration():
    assert levels([3, 3, 3, 3, 3]) == ["normal", "normal", "normal", "alert", "alert"]
    assert set(levels([3, 3, 3, 0, 3, 3, 3, 0])) == {"normal"}


def test_a_level_ends_some_seconds_below_its_exit_threshold():
    beginning = [3.0] * 4
    assert levels([*beginning, *[1.7] * 60])[-1] == "alert"
    assert levels([*beginning, *[1.0] * 7])[4:] == ["alert"] * 5 + ["normal"] * 2


def test_an_alarm_falls_to_an_alert_that_still_holds():
    history = levels([*[5.0] * 4, *[3.0] * 10])
    assert history[3] == "alarm"
    assert history[-1] == "alert"


def test_from_normal_straight_to_alarm_and_all_the_way_back():
    history = levels([*[9.0] * 4, *[-1.0] * 6])
    assert history[3] == "alarm"
    assert history[-1] == "normal"


def test_a_reset_ends_the_level_and_what_is_pending():
    machine = AlarmStateMachine(SETTINGS)
    for second in range(4):
        machine.update(float(second), 3.0, THRESHOLDS)
    assert machine.level == "alert"
    machine.reset()
    assert machine.level == "normal"
    assert machine.update(4.0, 3.0, THRESHOLDS) == "normal"


def test_the_smoothed_score_is_the_mean_of_the_last_seconds():
    smoother = Smoother(3.0)
    means = [smoother.update(float(time), score) for time, score in enumerate([0, 0, 3, 3, 3, 3])]
    assert means == pytest.approx([0, 0, 1, 2, 3, 3])
    smoother.reset()
    assert smoother.update(9.0, 7.0) == 7.0


@given(st.lists(st.floats(-1, 6), min_size=1, max_size=40), st.integers(0, 6))
def test_no_level_begins_before_its_minimum_duration(scores, min_duration):
    settings = SETTINGS.model_copy(update={"min_duration": float(min_duration)})
    history = ["normal", *levels(scores, settings)]
    for second in range(len(scores)):
        before, after = history[second], history[second + 1]
        if RANKS[after] > RANKS[before]:
            assert second >= min_duration
            lasting = scores[second - min_duration : second + 1]
            assert min(lasting) > ENTRY[after]


@given(RUNS)
def test_more_updates_during_equal_scores_do_not_change_the_level(runs):
    coarse, fine = AlarmStateMachine(SETTINGS), AlarmStateMachine(SETTINGS)
    begin = 0
    for score, seconds in runs:
        end = begin + seconds
        coarse.update(float(begin), score, THRESHOLDS)
        coarse.update(float(end), score, THRESHOLDS)
        for second in range(begin, end + 1):
            fine.update(float(second), score, THRESHOLDS)
        assert fine.level == coarse.level
        begin = end + 1


def test_a_whole_clip_after_a_gap_has_lasted_for_its_seconds():
    machine = AlarmStateMachine(AlarmSettings(min_duration=3.0, clear_after=10.0))
    # Times are sums of steps, and not exact.
    assert machine.update(10.0, 0.0, THRESHOLDS, since=0.0) == "normal"
    assert machine.update(19.9999999, 3.0, THRESHOLDS, since=10.0) == "alert"
    assert machine.update(29.9999998, 5.0, THRESHOLDS, since=19.9999999) == "alarm"
    assert machine.update(39.9999997, 0.0, THRESHOLDS, since=29.9999998) == "normal"


def test_a_clip_shorter_than_the_minimum_duration_does_not_suffice():
    machine = AlarmStateMachine(AlarmSettings(min_duration=15.0, clear_after=15.0))
    assert machine.update(10.0, 3.0, THRESHOLDS, since=0.0) == "normal"
    assert machine.update(20.0, 3.0, THRESHOLDS, since=10.0) == "alert"
    assert machine.update(30.0, 0.0, THRESHOLDS, since=20.0) == "alert"
    assert machine.update(40.0, 0.0, THRESHOLDS, since=30.0) == "normal"


def test_a_recording_does_not_weigh_on_the_next_one():
    smoother = Smoother(10.0)
    smoother.update(10.0, 8.0)
    assert smoother.update(19.9999999, 2.0) == 2.0


def test_a_score_at_a_threshold_changes_nothing():
    assert set(levels([2.0] * 60)) == {"normal"}
    assert levels([*[3.0] * 4, *[1.5] * 60])[-1] == "alert"
    assert levels([*[5.0] * 4, *[3.5] * 60])[-1] == "alarm"


def test_without_smoothing_and_minimum_duration_every_score_counts_at_once():
    smoother = Smoother(0.0)
    assert [smoother.update(float(time), score) for time, score in enumerate([5, 1, 4])] == [
        5,
        1,
        4,
    ]
    lasting = LastingScore(0.0)
    assert [lasting.update(float(time), score) for time, score in enumerate([5, 1, 4])] == [5, 1, 4]
    settings = AlarmSettings(min_duration=0.0, clear_after=5.0)
    assert levels([0, 3, 0], settings) == ["normal", "alert", "alert"]
