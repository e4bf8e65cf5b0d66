"""Subscriptions: slow subscribers never hold up the service, and lose readings only."""

from __future__ import annotations

from ssdpt.monitor.messages import Event, EventChanged, Reading, ReadingTaken
from ssdpt.monitor.service.subscriptions import Subscriptions


def reading_taken(number):
    reading = Reading(machine="fan-1", time=float(number), state="normal", level_dbfs=-30.0)
    return ReadingTaken(reading=reading)


def event_changed(number):
    event = Event(
        id=f"{number:032x}",
        machine="fan-1",
        kind="anomaly",
        level="alert",
        began=1.0,
        message="unusual sound",
    )
    return EventChanged(event=event)


def test_a_slow_subscriber_loses_readings_but_no_events():
    subscriptions = Subscriptions()
    slow = subscriptions.subscribe()
    events = [event_changed(number) for number in range(2)]
    subscriptions.publish(events[0])
    for number in range(5000):
        subscriptions.publish(reading_taken(number))
    subscriptions.publish(events[1])
    messages = []
    while (message := slow.get(0.0)) is not None:
        messages.append(message)
    assert [one for one in messages if isinstance(one, EventChanged)] == events
    times = [one.reading.time for one in messages if isinstance(one, ReadingTaken)]
    assert times == sorted(times)
    assert len(times) < 2500
    assert times[-1] == 4999


def test_a_subscription_ends_when_it_is_closed():
    subscriptions = Subscriptions()
    subscription = subscriptions.subscribe()
    first = event_changed(0)
    subscriptions.publish(first)
    subscriptions.close()
    subscriptions.publish(event_changed(1))
    assert list(subscription) == []
    assert subscription.get(0.0) == first
    assert subscription.get(0.0) is None
