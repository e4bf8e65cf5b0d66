"""What is normal for one machine: usual scores, operating points, accepted drift."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fixed_thresholds import fixed_thresholds
from ssdpt.alarms.baseline import Baseline
from ssdpt.alarms.operating_points import OperatingPoints

THRESHOLDS = fixed_thresholds(alert=4.0, alarm=6.0, alert_exit=3.0, alarm_exit=5.0)


def two_points():
    """One at −40 dB and one at −50 dB, each with a fixed usual score."""
    spectra = np.repeat([[-40.0] * 8, [-50.0] * 8], 20, axis=0)  # (clips, bins)
    levels, scores = np.repeat([-20.0, -30.0], 20), np.tile([0.0, 1.0], 20)
    return OperatingPoints.learn(spectra, levels, scores)


def add_seconds(baseline, begin, end, score, normal=True):
    for second in range(begin, end):
        baseline.update(1e9 + second, float(second), score, 1.0, normal=normal)


def test_an_accepted_drift_moves_the_usual_score_to_the_recent_one():
    baseline = Baseline(3.0)
    add_seconds(baseline, 0, 400, 2.0)
    baseline.accept_drift(THRESHOLDS)
    assert baseline.shift == pytest.approx(2.0)
    assert baseline.recent.seconds == baseline.long_term.seconds == 0.0


def test_the_highest_recent_score_is_below_the_exit_threshold_after_an_accepted_drift():
    baseline = Baseline(3.0)
    add_seconds(baseline, 0, 400, 2.0)
    add_seconds(baseline, 400, 405, 8.0)
    add_seconds(baseline, 405, 500, 2.0)
    baseline.accept_drift(THRESHOLDS)
    assert THRESHOLDS.shifted(baseline.shift).alert_exit == pytest.approx(8.0)


def test_scores_before_an_alert_do_not_count_as_recent():
    baseline = Baseline(3.0)
    add_seconds(baseline, 0, 400, 1.0)
    add_seconds(baseline, 400, 800, 2.0, normal=False)
    baseline.accept_drift(THRESHOLDS)
    assert baseline.shift == pytest.approx(2.0)


def test_scores_before_operating_points_were_known_do_not_count_as_recent():
    baseline = Baseline(3.0)
    add_seconds(baseline, 0, 400, 50.0)
    baseline.set_points(two_points())
    add_seconds(baseline, 400, 800, 1.0)
    baseline.accept_drift(THRESHOLDS)
    assert baseline.shift == pytest.approx(1.0)


def test_the_quietest_operating_point():
    baseline = Baseline(3.0)
    assert baseline.quietest_dbfs is None
    baseline.set_points(two_points())
    assert baseline.quietest_dbfs == pytest.approx(-30.0)


def test_a_baseline_outlives_a_restart():
    baseline = Baseline(3.0)
    baseline.set_points(two_points())
    add_seconds(baseline, 0, 400, 2.0)
    baseline.accept_drift(THRESHOLDS)
    add_seconds(baseline, 400, 1200, 0.5)
    state, blocks = json.loads(json.dumps([baseline.to_json(), baseline.blocks.to_json()]))
    restored = Baseline(3.0)
    restored.restore(state, blocks)
    assert restored.to_json() == baseline.to_json()
    assert restored.points == baseline.points
    assert restored.long_term == baseline.long_term
    assert restored.blocks.highest == baseline.blocks.highest == [2.0, 0.5]
