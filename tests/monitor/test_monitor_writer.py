"""What is written while the store is away, and who is told what, however slow they read."""

from __future__ import annotations

from ssdpt.monitor.messages import Event, Reading
from ssdpt.monitor.service.subscriptions import Subscriptions
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.monitor.store.writer import Writer


class Flaky:
    """A store that is away for some calls."""

    def __init__(self, away):
        self.away = away
        self.written = []

    def _call(self, what):
        if self.away > 0:
            self.away -= 1
            raise StoreUnavailable("the database is away")
        self.written += what

    def save_event(self, event):
        self._call([event.id])

    def add_readings(self, readings):
        self._call([reading.time for reading in readings])


def reading(time):
    return Reading("m", float(time), "normal", -30.0)


def event(name):
    return Event(name, "m", "anomaly", "alert", 1.0, "")


def test_while_the_store_is_away_everything_waits_in_order_and_nothing_comes_twice():
    store = Flaky(away=3)
    writer = Writer(store)
    for number in range(3):
        writer.event(event(f"e{number}"))
        writer.reading(reading(number))
        assert not writer.flush()
        assert writer.trouble == "the database is away"
    writer.reading(reading(3))
    assert writer.flush()
    assert writer.trouble == ""
    assert store.written == ["e0", "e1", "e2", 0.0, 1.0, 2.0, 3.0]
    assert writer.flush()
    assert len(store.written) == 7


def test_an_event_that_was_written_before_the_store_went_away_is_not_written_again():
    class BreaksOnSecond(Flaky):
        def save_event(self, event):
            if event.id == "e1" and self.away:
                self.away = 0
                raise StoreUnavailable("the database is away")
            self.written.append(event.id)

    store = BreaksOnSecond(away=1)
    writer = Writer(store)
    writer.event(event("e0"))
    writer.event(event("e1"))
    assert not writer.flush()
    assert writer.flush()
    assert store.written == ["e0", "e1"]


def test_an_error_that_nobody_foresaw_does_not_end_the_writing():
    class Odd(Flaky):
        def add_readings(self, readings):
            if self.away:
                self.away = 0
                raise ValueError("what is this?")
            super().add_readings(readings)

    store = Odd(away=1)
    writer = Writer(store)
    writer.reading(reading(1))
    assert not writer.flush()
    assert writer.trouble == "what is this?"
    assert writer.flush()
    assert store.written == [1.0]


def test_a_thread_writes_by_itself_and_the_rest_at_the_end():
    store = Flaky(away=0)
    writer = Writer(store)
    writer.start()
    writer.event(event("e"))
    writer.stop()
    writer.reading(reading(1))
    writer.stop()
    assert store.written == ["e", 1.0]


def test_a_slow_reader_loses_readings_but_no_events():
    hub = Subscriptions()
    slow = hub.subscribe()
    hub.tell("event", {"n": 0})
    for number in range(5000):
        hub.tell("reading", {"n": number})
    hub.tell("event", {"n": 1})
    told = []
    while (message := slow.get(0.0)) is not None:
        told.append(message)
    assert [one["data"]["n"] for one in told if one["event"] == "event"] == [0, 1]
    readings = [one["data"]["n"] for one in told if one["event"] == "reading"]
    assert readings == sorted(readings)
    assert len(readings) < 2500
    assert readings[-1] == 4999


def test_a_subscription_ends_when_it_is_closed():
    hub = Subscriptions()
    subscription = hub.subscribe()
    hub.tell("event", {})
    hub.close()
    hub.tell("event", {})
    assert len(list(subscription)) == 0
    assert subscription.get(0.0) is not None
