"""Thresholds, smoothing and levels with hysteresis."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.alarms.block_maxima import BlockMaxima
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine, Smoother
from ssdpt.alarms.thresholds import Thresholds, thresholds_for
from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import fit_tail

LIMITS = Thresholds(2.0, 4.0, 1.5, 3.5, 0.0, 1.0, True, "")
SETTINGS = AlarmSettings(shortest=3.0, settle=5.0)


def levels(scores, settings=SETTINGS):
    keeper = AlarmStateMachine(settings)
    return [keeper.update(float(time), score, LIMITS) for time, score in enumerate(scores)]


def test_a_level_begins_only_after_a_while():
    assert levels([3, 3, 3, 3, 3]) == ["normal", "normal", "normal", "alert", "alert"]
    assert set(levels([3, 3, 3, 0, 3, 3, 3, 0])) == {"normal"}


def test_a_level_ends_below_its_exit_limit_and_after_a_while():
    beginning = [3.0] * 4
    assert levels([*beginning, *[1.7] * 60])[-1] == "alert"
    found = levels([*beginning, *[1.0] * 7])
    assert found[4:] == ["alert"] * 5 + ["normal"] * 2


def test_an_alarm_falls_to_an_alert_where_that_still_holds():
    found = levels([*[5.0] * 4, *[3.0] * 10])
    assert found[3] == "alarm"
    assert found[-1] == "alert"


def test_from_normal_straight_to_alarm_and_all_the_way_back():
    found = levels([*[9.0] * 4, *[-1.0] * 6])
    assert found[3] == "alarm"
    assert found[-1] == "normal"


def test_the_mean_goes_over_the_last_seconds():
    smoother = Smoother(3.0)
    found = [smoother.add(float(time), score) for time, score in enumerate([0, 0, 3, 3, 3, 3])]
    assert found == pytest.approx([0, 0, 1, 2, 3, 3])
    smoother.clear()
    assert smoother.add(9.0, 7.0) == 7.0


@pytest.fixture
def tail():
    scores = np.random.default_rng(0).normal(0, 1, 200)
    return fit_tail([scores], DecisionConfig(), 0)


def limits(tail, per_week, shift=0.0):
    settings = AlarmSettings(per_week=per_week)
    return thresholds_for(tail, BlockMaxima(3.0), settings, clip_seconds=10.0).shifted(shift)


def test_fewer_false_alarms_are_higher_limits_and_the_page_is_told_what_is_extrapolated(tail):
    often, seldom = limits(tail, 6048), limits(tail, 1)  # one clip in ten; one in 60480
    assert often.alert == pytest.approx(tail.threshold(0.1))
    assert not often.extrapolated
    assert often.words == "meant for 6048 false alerts a week, by 200 normal clips"
    assert seldom.extrapolated
    assert "301 times rarer" in seldom.words
    assert often.alert < seldom.alert < seldom.alarm
    for found in (often, seldom):
        assert found.usual < found.alert_exit < found.alert <= found.alarm
        assert found.alarm_exit < found.alarm


def test_a_new_baseline_moves_all_limits(tail):
    before, after = limits(tail, 1), limits(tail, 1, shift=2.5)
    for name in ("alert", "alarm", "alert_exit", "alarm_exit", "usual"):
        assert getattr(after, name) - getattr(before, name) == pytest.approx(2.5)
