"""From the scores of one machine to its level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssdpt.alarms.judge import MachineJudge, ScoreScale
from ssdpt.alarms.operating_points import UNKNOWN, OperatingPointLearner, OperatingPoints
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.scoring.calibrate import block_tail

SETTINGS = AlarmSettings()
SCALE = ScoreScale(block_tail(np.random.default_rng(0).normal(0, 1, 200)), clip_seconds=10.0)
LOUD, QUIET = np.full(8, -40.0), np.full(8, -50.0)  # mean spectra (bins,) in dB
START = 1e9  # seconds since 1970


class Machine:
    """A judge that is given one score a second."""

    def __init__(self, judge=None):
        self.judge = judge or MachineJudge(SETTINGS, SCALE)
        self.second = 0

    def run(self, seconds, score, spectrum=None, level_dbfs=-20.0):
        """The verdicts on seconds at one score."""
        verdicts = []
        for _ in range(seconds):
            self.second += 1
            self.judge.add_second(spectrum, level_dbfs)
            verdicts.append(self.judge.update(START + self.second, 1.0, score))
        return verdicts


@pytest.fixture
def machine():
    return Machine()


def two_points():
    """A loud point 1 that scores about 0 and a quiet point 2 that scores about 20, each ± 1."""
    clips = [220, 180]
    spectra = np.repeat([LOUD, QUIET], clips, axis=0)  # (clips, bins)
    scores = np.repeat([0.0, 20.0], clips) + np.tile([-1.0, 1.0], 200)
    return OperatingPoints.learn(spectra, np.repeat([-20.0, -30.0], clips), scores)


def levels(verdicts):
    return [verdict.level for verdict in verdicts]


def test_levels_over_a_history_of_scores(machine):
    thresholds = machine.judge.thresholds
    middle = (thresholds.alert + thresholds.alarm) / 2
    assert set(levels(machine.run(60, 0.0))) == {"normal"}
    alert = machine.run(60, middle)
    # The mean of ten seconds passes the threshold after some of them, and must last then.
    assert levels(alert)[: round(SETTINGS.min_duration)] == ["normal"] * 3
    assert levels(alert)[-1] == "alert"
    assert alert[-1].smoothed == pytest.approx(middle)
    assert levels(machine.run(60, thresholds.alarm + 5))[-1] == "alarm"
    assert levels(machine.run(60, middle)) == ["alarm"] * 60  # above the exit threshold of alarm
    falling = levels(machine.run(60, 0.0))
    assert falling[-1] == "normal"
    assert falling.count("normal") < 60 - SETTINGS.clear_after


def test_the_p_value_is_that_of_the_smoothed_score_among_normal_clips(machine):
    assert machine.run(20, 0.0)[-1].p_value == pytest.approx(SCALE.tail.p_value(0.0))
    assert machine.run(20, 9.0)[-1].p_value == pytest.approx(1e-6)


def test_without_a_model_there_are_no_thresholds():
    judge = MachineJudge(SETTINGS, None)
    assert judge.thresholds is None
    assert not judge.can_accept_drift


def test_thresholds_follow_the_acceptable_number_of_false_alerts(machine):
    before = machine.judge.thresholds
    expected = machine.judge.thresholds_at(100.0)
    assert machine.judge.thresholds == before  # asking changes nothing
    machine.judge.false_alerts_per_week = 100.0
    assert machine.judge.thresholds == expected
    assert expected.alert < before.alert


def test_a_stop_ends_the_level_and_what_is_pending(machine):
    machine.run(60, 9.0, LOUD)
    machine.judge.baseline.points = two_points()
    machine.run(1, 9.0, LOUD)
    assert machine.judge.operating_point == 1
    machine.judge.stop()
    assert machine.judge.alarm.level == "normal"
    assert machine.judge.operating_point is None
    verdicts = machine.run(3, 9.0)
    assert levels(verdicts) == ["normal"] * 3
    assert verdicts[0].smoothed == 9.0


def test_a_score_is_compared_with_those_at_the_operating_point(machine):
    points = machine.judge.baseline.points = two_points()
    usual = machine.run(60, 20.0, QUIET)
    assert machine.judge.operating_point == 2
    assert usual[-1].smoothed == pytest.approx(points.adjusted(20.0, 2))
    machine.judge.stop()
    # The same score is unusual at the loud point.
    unusual = machine.run(60, 20.0, LOUD)
    assert machine.judge.operating_point == 1
    assert unusual[-1].smoothed > usual[-1].smoothed + 50
    machine.judge.stop()
    unknown = machine.run(60, 20.0, np.full(8, -90.0))
    assert machine.judge.operating_point == UNKNOWN
    assert unknown[-1].smoothed == pytest.approx(20.0)


def test_the_operating_point_needs_a_whole_clip(machine):
    machine.judge.baseline.points = two_points()
    machine.run(9, 0.0, LOUD)
    assert machine.judge.operating_point is None
    machine.run(1, 0.0, LOUD)
    assert machine.judge.operating_point == 1


def test_one_clip_in_ten_seconds_is_collected_for_operating_points_unless_in_alert(machine):
    learner = machine.judge.baseline.learner = OperatingPointLearner(clips_needed=4)
    machine.run(31, 0.0, LOUD)  # three clips
    machine.run(600, 9.0, LOUD)
    machine.judge.stop()
    machine.run(8, 0.0, LOUD)
    assert not learner.ready
    machine.run(10, 0.0, LOUD)
    assert learner.ready
    (point,) = learner.learn().points
    assert point.spectrum == tuple(LOUD)
    assert point.level_dbfs == pytest.approx(-20.0)


def test_a_drift_is_reported_after_an_hour_and_is_over_when_it_is_accepted(machine):
    before = machine.judge.thresholds
    score = 0.8 * before.alert
    verdicts = machine.run(3700, score)
    assert set(levels(verdicts)) == {"normal"}
    assert not any(verdict.drifted for verdict in verdicts[:3599])
    assert verdicts[-1].drifted
    machine.judge.accept_drift()
    after = machine.judge.thresholds
    assert after.usual_score == pytest.approx(score)
    assert after.alert - before.alert == pytest.approx(score - before.usual_score)
    verdicts = machine.run(3700, score)
    assert not any(verdict.drifted for verdict in verdicts)
    # The score is as usual as the old usual score was.
    assert verdicts[-1].p_value == pytest.approx(0.5, rel=1e-3)


def test_an_accepted_drift_ends_an_alert_and_a_second_one_adds_to_the_first(machine):
    for score in (9.0, 18.0):
        assert machine.run(290, score)[-1].level == "alarm"
        assert not machine.judge.can_accept_drift
        machine.run(30, score)
        assert machine.judge.can_accept_drift
        machine.judge.accept_drift()
        assert machine.judge.alarm.level == "normal"
        assert not machine.judge.can_accept_drift
        assert set(levels(machine.run(60, score))) == {"normal"}
        assert machine.judge.thresholds.usual_score == pytest.approx(score, abs=0.1)


def test_a_new_model_starts_with_a_new_baseline(machine):
    machine.run(700, 9.0)
    machine.judge.accept_drift()
    machine.judge.false_alerts_per_week = 5.0
    machine.run(700, 30.0)
    wide = ScoreScale(block_tail(np.random.default_rng(1).normal(0, 5, 200)), clip_seconds=10.0)
    points = two_points()
    machine.judge.adopt(wide, points)
    assert machine.judge.alarm.level == "normal"
    assert machine.judge.baseline.points == points
    assert machine.judge.baseline.shift == 0.0
    assert machine.judge.baseline.blocks.highest == []
    expected = MachineJudge(AlarmSettings(false_alerts_per_week=5.0), wide).thresholds
    assert machine.judge.thresholds == expected


def test_new_settings_keep_the_level_and_the_baseline_of_the_same_model(machine):
    machine.run(700, 9.0)
    machine.judge.accept_drift()
    machine.run(700, 9.0)
    machine.run(60, 30.0)
    changed = AlarmSettings(min_duration=7.0)
    judge = MachineJudge(changed, SCALE)
    judge.continue_from(machine.judge, same_model=True)
    assert judge.alarm.level == "alarm"
    assert judge.thresholds == machine.judge.thresholds
    assert judge.baseline.blocks.highest == machine.judge.baseline.blocks.highest != []
    assert judge.baseline.blocks.lasting.min_duration == 7.0
    assert set(levels(Machine(judge).run(60, 30.0))) == {"alarm"}


def test_new_settings_with_another_model_keep_the_level_only(machine):
    machine.run(700, 9.0)
    machine.judge.accept_drift()
    machine.run(60, 30.0)
    judge = MachineJudge(SETTINGS, SCALE)
    judge.continue_from(machine.judge, same_model=False)
    assert judge.alarm.level == "alarm"
    assert judge.baseline.shift == 0.0


def test_a_long_alert_stays_out_of_the_block_maxima_when_settings_change(machine):
    machine.run(100, 0.0)
    machine.run(400, 9.0)
    judge = MachineJudge(SETTINGS, SCALE)
    judge.continue_from(machine.judge, same_model=True)
    continued = Machine(judge)
    assert set(levels(continued.run(100, 9.0))) == {"alarm"}
    continued.run(700, 0.0)
    (highest,) = judge.baseline.blocks.highest
    assert highest < judge.thresholds.alert


@settings(max_examples=40, deadline=None)
@given(
    runs=st.lists(
        st.tuples(st.sampled_from([-1.0, 1.0, 3.0, 9.0]), st.integers(1, 30)),
        min_size=1,
        max_size=8,
    ),
    gaps=st.lists(st.floats(0, 1e5), min_size=1, max_size=8),
)
def test_levels_do_not_depend_on_gaps_in_time(runs, gaps):
    steady, interrupted = MachineJudge(SETTINGS, SCALE), MachineJudge(SETTINGS, SCALE)
    now, later = START, START
    for number, (score, seconds) in enumerate(runs):
        later += gaps[number % len(gaps)]
        for _ in range(seconds):
            now, later = now + 1.0, later + 1.0
            assert steady.update(now, 1.0, score) == interrupted.update(later, 1.0, score)
