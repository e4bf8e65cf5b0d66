"""Severity: how far to alarm, against the machine's own days and its siblings."""

from __future__ import annotations

import pytest

from fixed_thresholds import fixed_thresholds
from ssdpt.alarms.severity import severity, way_to_alarm

THRESHOLDS = fixed_thresholds(alert=1.0, alarm=2.0, alert_exit=0.8, alarm_exit=1.6)


@pytest.mark.parametrize(
    ("score", "grade"), [(1.2, "slight"), (2.0, "clear"), (3.0, "severe"), (7.0, "extreme")]
)
def test_grade_is_the_way_to_alarm(score, grade):
    found = severity(score, THRESHOLDS)
    assert found.grade == grade
    assert found.ratio == pytest.approx(score / 2)


def test_own_history_needs_some_days():
    assert severity(2.0, THRESHOLDS, [1.0, 1.0]).above_history is None
    assert severity(2.0, THRESHOLDS, [1.0, 1.0, 3.0, 1.5]).above_history == 0.75


def test_rank_among_siblings():
    found = severity(2.0, THRESHOLDS, (), [0.2, 1.4, 0.1])
    assert (found.rank, found.siblings) == (2, 4)
    alone = severity(2.0, THRESHOLDS)
    assert (alone.rank, alone.siblings) == (None, 0)


def test_way_is_none_where_thresholds_meet():
    flat = fixed_thresholds(alert=0.0, alarm=0.0, alert_exit=0.0, alarm_exit=0.0)
    assert way_to_alarm(5.0, flat) == 0.0
