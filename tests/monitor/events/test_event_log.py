"""The events of one machine: a fault that comes and goes is one event with its episodes."""

from __future__ import annotations

import pytest

from ssdpt.monitor.events.event_log import EventLog
from ssdpt.monitor.messages import Acknowledgement


def changes(messages):
    return [message.event for message in messages]


def anomaly(log, now, level="alert", peak=5.0, **more):
    """One second of an anomaly; the events that changed."""
    if "anomaly" in log.ongoing:
        return changes(log.update_anomaly(level, now, peak))
    return changes(log.begin("anomaly", level, now, "Unusual sound", peak=peak, **more))


@pytest.fixture
def log():
    return EventLog("pump", rejoin_within=600.0)


@pytest.fixture
def paused(log):
    """A log whose only event, from 100 to 120, may continue."""
    anomaly(log, 100.0)
    (event,) = changes(log.end("anomaly", 120.0))
    assert (event.ended, event.may_continue) == (120.0, True)
    return event


def test_a_fault_that_comes_and_goes_is_one_event_with_its_episodes(log):
    (first,) = anomaly(log, 100.0, peak=5.0)
    assert [(one.began, one.ended) for one in first.episodes] == [(100.0, None)]
    log.end("anomaly", 120.0)
    assert log.add_quiet(500.0) == []
    (again,) = anomaly(log, 620.0, level="alert", peak=4.0)
    assert (again.id, again.ended, again.may_continue) == (first.id, None, False)
    assert again.peak == 5.0
    (worse,) = anomaly(log, 625.0, level="alarm", peak=9.0)
    assert (worse.level, worse.peak) == ("alarm", 9.0)
    (ended,) = changes(log.end("anomaly", 640.0))
    assert ended.ended == 640.0
    assert [(one.began, one.ended, one.level, one.peak) for one in ended.episodes] == [
        (100.0, 120.0, "alert", 5.0),
        (620.0, 640.0, "alarm", 9.0),
    ]
    assert (ended.began, ended.level, ended.peak) == (100.0, "alarm", 9.0)
    assert log.ongoing == {}
    assert log.last == ended


def test_an_event_that_stays_away_is_over_for_good_and_that_is_told(log, paused):
    assert log.add_quiet(599.0) == []
    (over,) = changes(log.add_quiet(1.0))
    assert over == paused.model_copy(update={"may_continue": False})
    assert log.add_quiet(1000.0) == []
    (other,) = anomaly(log, 800.0)
    assert other.id != paused.id


def test_running_time_counts_from_the_last_episode_on(log, paused):
    log.add_quiet(500.0)
    anomaly(log, 620.0)
    log.end("anomaly", 640.0)
    assert log.add_quiet(500.0) == []
    assert anomaly(log, 1140.0)[0].id == paused.id


def test_time_in_which_the_machine_stands_still_does_not_count_but_a_week_does(log, paused):
    (again,) = anomaly(log, 100.0 + 2 * 86400)
    assert again.id == paused.id
    log.end("anomaly", 200.0 + 2 * 86400)
    over, other = anomaly(log, 300.0 + 9 * 86400)
    assert (over.id, over.may_continue) == (paused.id, False)
    assert other.id != paused.id


@pytest.mark.parametrize(
    "action",
    [{"acknowledged": Acknowledgement(who="ann", at=1.0)}, {"label": "fault"}, {"label": "normal"}],
)
def test_what_a_person_has_closed_does_not_continue(log, paused, action):
    closed = log.take_actions(paused.model_copy(update=action))
    assert not closed.may_continue
    assert log.last == closed
    (other,) = anomaly(log, 130.0)
    assert other.id != paused.id


def test_who_acknowledges_while_it_is_there_does_not_close_it(log):
    (event,) = anomaly(log, 100.0)
    seen = event.model_copy(update={"acknowledged": Acknowledgement(who="ann", at=1.0)})
    log.take_actions(seen)
    (ended,) = changes(log.end("anomaly", 120.0))
    assert (ended.state, ended.may_continue) == ("cleared", True)
    commented = log.take_actions(ended.model_copy(update={"comments": ()}))
    assert commented.may_continue
    (again,) = anomaly(log, 130.0)
    assert (again.id, again.state) == (event.id, "acknowledged")


def test_a_label_given_while_it_is_there_closes_it_at_its_end(log):
    (event,) = anomaly(log, 100.0)
    log.take_actions(event.model_copy(update={"label": "fault"}))
    (ended,) = changes(log.end("anomaly", 120.0))
    assert not ended.may_continue
    assert anomaly(log, 130.0)[0].id != event.id


def test_with_another_baseline_it_is_another_event(log):
    (event,) = anomaly(log, 100.0, baseline_learned_at=1.0)
    log.end("anomaly", 120.0)
    over, other = anomaly(log, 130.0, baseline_learned_at=125.0)
    assert (over.id, over.may_continue) == (event.id, False)
    assert (other.id == event.id, other.baseline_learned_at) == (False, 125.0)


def test_it_continues_after_a_restart(log, paused):
    after = EventLog("pump", rejoin_within=600.0)
    after.resume([], paused, paused)
    (again,) = anomaly(after, 200.0)
    assert again.id == paused.id
    assert [(one.began, one.ended) for one in again.episodes] == [(100.0, 120.0), (200.0, None)]


def test_what_was_over_for_good_before_a_restart_does_not_continue(log, paused):
    (over,) = changes(log.close_paused())
    after = EventLog("pump", rejoin_within=600.0)
    after.resume([], over, over)
    assert anomaly(after, 200.0)[0].id != paused.id


def test_trouble_with_the_source_in_between_changes_nothing(log, paused):
    log.begin("signal", "alert", 125.0, "The source clips")
    log.end("signal", 126.0)
    assert log.get(paused.id) == paused
    assert anomaly(log, 130.0)[0].id == paused.id


def test_events_of_a_removed_machine_are_over_for_good(log, paused):
    log.begin("signal", "alert", 125.0, "The source clips")
    ended = changes(log.end_all(130.0))
    assert {(one.kind, one.may_continue) for one in ended} == {
        ("anomaly", False),
        ("signal", False),
    }
    assert all(one.ended is not None for one in ended)
    anomaly(log, 140.0)
    (ended,) = changes(log.end_all(150.0))
    assert not ended.may_continue


def test_without_rejoining_every_episode_is_an_event():
    log = EventLog("pump", rejoin_within=0.0)
    (event,) = anomaly(log, 100.0)
    assert not changes(log.end("anomaly", 120.0))[0].may_continue
    assert anomaly(log, 121.0)[0].id != event.id


def test_very_many_episodes_are_joined_where_the_pauses_are_shortest(log):
    for number in range(150):
        began = 1000.0 * number
        pause = 10.0 if number < 60 else 500.0  # after it
        anomaly(log, began, peak=float(number))
        log.end("anomaly", began + 1000.0 - pause)
    event = log.last
    assert len(event.episodes) == 100
    assert event.peak == max(one.peak for one in event.episodes) == 149.0
    assert event.episodes[0].began == event.began
    assert event.episodes[-1].ended == event.ended
    # Those with long pauses are all there.
    assert [one.began for one in event.episodes[-90:]] == [1000.0 * n for n in range(60, 150)]
