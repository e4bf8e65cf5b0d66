"""A control system decides whether a machine runs."""

from __future__ import annotations

from ssdpt.alarms.reported_running import ReportedRunning


def state(run, now, running):
    run.update(now, running)
    return run.off, run.settling, run.known


def test_off_at_once_and_judged_when_a_start_has_settled():
    run = ReportedRunning(settle_seconds=10)
    assert state(run, 0.0, True) == (False, False, True)  # it ran before we came
    assert state(run, 1.0, False) == (True, False, True)
    assert state(run, 2.0, True) == (False, True, True)
    assert state(run, 11.0, True) == (False, True, True)
    assert state(run, 12.0, True) == (False, False, True)


def test_a_stop_while_it_settles_begins_again():
    run = ReportedRunning(settle_seconds=10)
    state(run, 0.0, False)
    state(run, 1.0, True)
    assert state(run, 5.0, False) == (True, False, True)
    assert state(run, 6.0, True) == (False, True, True)
    assert state(run, 15.0, True)[1]
    assert not state(run, 16.0, True)[1]


def test_an_unknown_run_state_leaves_the_decision_to_the_sound():
    run = ReportedRunning(settle_seconds=10)
    assert state(run, 0.0, None) == (False, False, False)
    state(run, 1.0, False)
    assert state(run, 2.0, None) == (False, False, False)
    # Off when last known: it has started since.
    assert state(run, 3.0, True) == (False, True, True)
    assert state(run, 4.0, None) == (False, True, False)
    assert state(run, 13.0, None) == (False, False, False)


def test_a_clock_that_is_set_back_does_not_make_it_wait():
    run = ReportedRunning(settle_seconds=10)
    state(run, 1000.0, False)
    state(run, 1001.0, True)
    assert state(run, 500.0, True)[1]
    assert not state(run, 511.0, True)[1]
