"""The queue of an output: order, and what is dropped when it is full."""

from __future__ import annotations

import threading

import sample_messages

from receivers import an_event
from ssdpt.monitor.messages import EventChanged, ReadingTaken
from ssdpt.monitor.outputs.outbox import Outbox


def reading(number, machine="fan"):
    return sample_messages.reading(machine, float(number))


def state(number, machine="fan"):
    return sample_messages.state_changed(
        machine, "alert" if number % 2 else "normal", float(number)
    )


def emptied(outbox):
    messages = []
    while (message := outbox.take(timeout=0)) is not None:
        messages.append(message)
        outbox.done()
    return messages


def test_messages_come_out_in_order():
    outbox = Outbox(10)
    sent = [reading(0), EventChanged(event=an_event()), state(1), reading(2)]
    for message in sent:
        outbox.put(message)
    assert emptied(outbox) == sent
    assert outbox.dropped == 0


def test_the_oldest_readings_make_way_and_events_never_do():
    outbox = Outbox(4)
    events = [EventChanged(event=an_event()) for _ in range(6)]
    for number, event in enumerate(events):
        outbox.put(reading(2 * number))
        outbox.put(event)
        outbox.put(reading(2 * number + 1))
    messages = emptied(outbox)
    assert [m for m in messages if isinstance(m, EventChanged)] == events
    assert outbox.dropped == 12 - sum(isinstance(m, ReadingTaken) for m in messages)
    assert outbox.dropped > 0


def test_with_room_for_some_readings_the_newest_stay():
    outbox = Outbox(3)
    for number in range(10):
        outbox.put(reading(number))
    assert [m.reading.time for m in emptied(outbox)] == [7.0, 8.0, 9.0]
    assert outbox.dropped == 7


def test_only_states_that_were_overtaken_make_way():
    outbox = Outbox(2)
    for number in range(8):
        outbox.put(state(number, "fan"))
        outbox.put(state(number, "pump"))
    messages = emptied(outbox)
    assert {m.machine: m.at for m in messages} == {"fan": 7.0, "pump": 7.0}  # the last of each
    assert len(messages) == 2


def test_what_is_on_its_way_is_neither_dropped_nor_lost():
    outbox = Outbox(1)
    outbox.put(reading(0))
    first = outbox.take(timeout=0)
    for number in range(1, 5):
        outbox.put(reading(number))
    assert outbox.take(timeout=0) is first  # not done: the same again
    assert len(outbox) == 2
    assert outbox.done() == 1
    assert outbox.take(timeout=0) == reading(4)


def test_closing_lets_out_what_waits_and_wakes_who_waits():
    outbox = Outbox(10)
    outbox.put(reading(0))
    outbox.close()
    outbox.put(reading(1))
    assert outbox.dropped == 1
    assert not outbox.finished
    assert emptied(outbox) == [reading(0)]
    assert outbox.finished
    other = Outbox(10)
    messages = []
    thread = threading.Thread(target=lambda: messages.append(other.take()))
    thread.start()
    other.close()
    thread.join(60)
    assert messages == [None]


def test_many_threads_put_and_none_is_lost():
    outbox = Outbox(10_000)
    threads = [
        threading.Thread(target=lambda k=k: [outbox.put(reading(n, f"m{k}")) for n in range(500)])
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    messages = emptied(outbox)
    for k in range(4):
        assert [m.reading.time for m in messages if m.reading.machine == f"m{k}"] == list(
            range(500)
        )
