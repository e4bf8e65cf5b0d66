"""Whether a machine runs, from its sound level."""

from __future__ import annotations

import pytest

from ssdpt.alarms.running import RunningDetector


def run(detector, levels, start=0):
    """Whether it runs after each second at these levels in dBFS."""
    running = []
    for second, level in enumerate(levels, start):
        running.append(detector.update(float(second), level))
        if running[-1]:
            detector.learn(level)
    return running


def test_a_machine_is_off_when_it_is_much_quieter_than_usual():
    detector = RunningDetector(None)
    assert all(run(detector, [-30.0] * 60))
    running = run(detector, [-55.0] * 10, 60)
    assert running[:3] == [True] * 3
    assert running[-1] is False
    assert run(detector, [-31.0] * 10, 70)[-1] is True
    assert detector.usual_dbfs == pytest.approx(-30.0)


def test_a_quiet_operating_point_is_not_off():
    detector = RunningDetector(None, usual_dbfs=-30.0)
    assert all(detector.update(float(second), -43.0, quietest_dbfs=-44.0) for second in range(10))
    quieter = [detector.update(10.0 + second, -57.0, quietest_dbfs=-44.0) for second in range(10)]
    assert not quieter[-1]


def test_a_machine_runs_while_its_usual_level_is_unknown():
    detector = RunningDetector(None)
    assert detector.usual_dbfs is None
    assert all(run(detector, [-80.0] * 10))


def test_a_few_quiet_seconds_are_no_stop():
    detector = RunningDetector(None, usual_dbfs=-30.0)
    assert all(run(detector, [-30, -60, -30, -60, -60, -30, -38, -38, -38, -38]))


def test_a_pause_forgets_a_change_that_has_not_lasted():
    detector = RunningDetector(None, usual_dbfs=-30.0)
    run(detector, [-60.0] * 3)
    detector.pause()
    assert all(run(detector, [-60.0] * 3, 3))
    assert run(detector, [-60.0], 6) == [False]


def test_a_configured_threshold_is_not_learned():
    detector = RunningDetector(-50.0)
    assert all(run(detector, [-49.0] * 30))
    assert run(detector, [-51.0] * 5, 30)[-1] is False
    # On again only some dB above the threshold: at the threshold itself it would flicker.
    assert run(detector, [-49.0] * 5, 35)[-1] is False
    assert run(detector, [-40.0] * 5, 40)[-1] is True


def test_snapshots_lie_far_apart_so_each_tells_at_once():
    detector = RunningDetector(None, -30.0, min_seconds=0.0)
    assert run(detector, [-30.0, -55.0, -31.0]) == [True, False, True]


def test_at_its_threshold_a_machine_still_runs():
    assert all(run(RunningDetector(-50.0), [-50.0] * 10))


def test_the_usual_level_is_that_of_the_last_ten_minutes_of_running():
    detector = RunningDetector(None)
    for level in [-30.0] * 700 + [-20.0] * 400:
        detector.learn(level)
    assert detector.usual_dbfs == -20.0


def test_a_machine_runs_again_when_nothing_is_known_of_its_level_any_more():
    detector = RunningDetector(None)
    off = [detector.update(float(second), -57.0, quietest_dbfs=-44.0) for second in range(10)]
    assert off[-1] is False
    assert [detector.update(10.0 + second, -57.0) for second in range(10)][-1] is True
