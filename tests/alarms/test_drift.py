"""Slow drift of the usual score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixed_thresholds import fixed_thresholds
from ssdpt.alarms.drift import RunningMean, has_drifted

THRESHOLDS = fixed_thresholds(alert=4.0, alarm=6.0, alert_exit=3.2, alarm_exit=4.8)
HALF_LIFE = 6 * 3600.0


def mean_after(score, hours, mean=None):
    """The running mean after hours at one score."""
    mean = mean or RunningMean(HALF_LIFE)
    for _ in range(round(60 * hours)):
        mean.update(score, 60.0)
    return mean


def test_a_changed_usual_score_is_drift_and_a_short_event_is_not():
    assert not has_drifted(mean_after(0.0, 24), THRESHOLDS)
    assert has_drifted(mean_after(3.0, 24), THRESHOLDS)
    assert not has_drifted(mean_after(3.0, 0.5), THRESHOLDS)  # too little running
    assert not has_drifted(mean_after(3.9, 1, mean_after(0.0, 24)), THRESHOLDS)
    assert has_drifted(mean_after(3.9, 12, mean_after(0.0, 24)), THRESHOLDS)


def test_the_mean_is_exact_from_the_start():
    mean = RunningMean(HALF_LIFE)
    for score in (1.0, 2.0, 3.0):
        mean.update(score, 1.0)
    assert mean.mean == pytest.approx(2.0, rel=1e-4)
    mean.reset()
    assert (mean.mean, mean.seconds) == (0.0, 0.0)


def test_a_score_counts_half_after_the_half_life():
    mean = RunningMean(HALF_LIFE)
    mean.update(1.0, 40 * HALF_LIFE)  # so long that nothing before it matters
    mean.update(0.0, HALF_LIFE)
    assert mean.mean == pytest.approx(0.5)


@given(
    st.lists(
        st.tuples(st.floats(-10, 10), st.lists(st.floats(1, 5000), min_size=1, max_size=5)),
        min_size=1,
        max_size=6,
    )
)
def test_the_mean_does_not_depend_on_how_equal_scores_are_divided(runs):
    whole, divided = RunningMean(HALF_LIFE), RunningMean(HALF_LIFE)
    for score, parts in runs:
        whole.update(score, sum(parts))
        for seconds in parts:
            divided.update(score, seconds)
    assert divided.mean == pytest.approx(whole.mean, rel=1e-6, abs=1e-9)
    assert divided.seconds == pytest.approx(whole.seconds)


def test_drift_is_more_than_half_the_way_to_the_alert_after_an_hour_of_running():
    thresholds = THRESHOLDS.shifted(10.0)  # usual 10, alert 14

    def drifted(mean, seconds):
        return has_drifted(RunningMean(HALF_LIFE, mean, seconds), thresholds)

    assert drifted(12.01, 3600.0)
    assert not drifted(12.0, 3600.0)
    assert not drifted(13.9, 3599.0)


def test_no_time_changes_no_mean():
    mean = RunningMean(HALF_LIFE)
    mean.update(5.0, 0.0)
    assert (mean.mean, mean.seconds) == (0.0, 0.0)
