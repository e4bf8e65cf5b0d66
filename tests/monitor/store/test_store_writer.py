"""The writer: what cannot be written now waits, in order, and is written once."""

from __future__ import annotations

import pytest
from store_data import event, reading

from ssdpt.monitor.store import StoreUnavailable, StoreWriter


class UnreliableStore:
    """Is unavailable for some calls."""

    def __init__(self, failures=0, error=None):
        self.failures = failures
        self.error = error or StoreUnavailable("the database does not respond")
        self.written = []

    def save_event(self, event):
        self._write([int(event.id, 16)])

    def add_readings(self, readings):
        self._write([reading.time for reading in readings])

    def _write(self, rows):
        if self.failures > 0:
            self.failures -= 1
            raise self.error
        self.written += rows


def test_while_the_store_is_unavailable_everything_waits_in_order():
    store = UnreliableStore(failures=3)
    writer = StoreWriter(store)
    for number in range(3):
        writer.add_event(event(number))
        writer.add_reading(reading(time=float(number)))
        assert not writer.flush()
        assert writer.problem == "the database does not respond"
    writer.add_reading(reading(time=3.0))
    assert writer.flush()
    assert writer.problem == ""
    assert store.written == [0, 1, 2, 0.0, 1.0, 2.0, 3.0]
    assert writer.flush()
    assert len(store.written) == 7


def test_an_event_that_was_written_before_a_failure_is_not_written_again():
    class FailsOnSecondEvent(UnreliableStore):
        def save_event(self, event):
            if event.id.endswith("1") and self.failures:
                super().save_event(event)
            self.written.append(int(event.id, 16))

    store = FailsOnSecondEvent(failures=1)
    writer = StoreWriter(store)
    writer.add_event(event(0))
    writer.add_event(event(1))
    assert not writer.flush()
    assert writer.flush()
    assert store.written == [0, 1]


def test_the_newest_version_of_an_event_that_waits_is_written():
    store = UnreliableStore(failures=1)
    messages = []
    store.save_event = lambda event: messages.append(event.message)
    writer = StoreWriter(store)
    writer.add_event(event(message="first"))
    writer.add_event(event(message="second"))
    assert writer.flush()
    assert messages == ["second"]


def test_an_unexpected_error_does_not_end_the_writing():
    store = UnreliableStore(failures=1, error=ValueError("what is this?"))
    writer = StoreWriter(store)
    writer.add_reading(reading(time=1.0))
    assert not writer.flush()
    assert writer.problem == "what is this?"
    assert writer.flush()
    assert store.written == [1.0]


def test_readings_are_dropped_when_too_many_wait_but_events_never(monkeypatch):
    monkeypatch.setattr("ssdpt.monitor.store.writer._MOST_READINGS", 3)
    store = UnreliableStore()
    writer = StoreWriter(store)
    for number in range(5):
        writer.add_event(event(number))
        writer.add_reading(reading(time=float(number)))
    assert writer.readings_lost == 2
    assert writer.flush()
    assert store.written == [0, 1, 2, 3, 4, 2.0, 3.0, 4.0]


def test_the_thread_writes_by_itself_and_the_rest_at_the_end():
    store = UnreliableStore()
    writer = StoreWriter(store)
    writer.start()
    writer.add_event(event(1))
    writer.stop()
    writer.add_reading(reading(time=1.0))
    writer.stop()
    assert store.written == [1, 1.0]


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_readings_are_written_in_batches_to_a_real_store(store, monkeypatch, batch):
    monkeypatch.setattr("ssdpt.monitor.store.writer._BATCH", batch)
    writer = StoreWriter(store)
    rows = [reading(time=1000.0 + n) for n in range(5)]
    for row in rows:
        writer.add_reading(row)
    writer.add_event(event())
    assert writer.flush()
    assert list(store.readings("fan-1", 1000.0, 2000.0)) == rows
    assert store.events() == [event()]
