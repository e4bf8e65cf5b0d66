"""What the service has acknowledged, and whether it is still there: once, and unchanged."""

from __future__ import annotations

import itertools
import math
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from faults.experiment import Outcome

Kind = Literal["acknowledgement", "label", "comment", "note"]


@dataclass
class Write:
    """One write of a person."""

    kind: Kind
    event: str  # its id; empty for a note
    text: str
    answered: bool = False  # with success: from then on it must be there


class Ledger:
    """Filled by the clients, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writes: list[Write] = []
        self._events: set[str] = set()  # that were shown
        self._readings: dict[str, dict[float, tuple[Any, ...]]] = defaultdict(dict)

    @contextmanager
    def writing(self, kind: Kind, event: str, text: str) -> Iterator[None]:
        """Around a request: it counts as acknowledged if nothing is raised."""
        write = Write(kind, event, text)
        with self._lock:
            self._writes.append(write)
        yield
        with self._lock:
            write.answered = True

    def saw_events(self, ids: list[str]) -> None:
        with self._lock:
            self._events.update(ids)

    def saw_readings(self, machine: str, readings: dict[float, tuple[Any, ...]]) -> None:
        """Scores by time, as the service has shown them."""
        with self._lock:
            self._readings[machine].update(readings)

    @property
    def acknowledged(self) -> int:
        with self._lock:
            return sum(write.answered for write in self._writes)

    def check(self, view: View, outcome: Outcome, *, one_clock: bool = True) -> None:
        """Compare all that was acknowledged before this call with what the service shows.

        `one_clock`: nobody has set the clock, so that events one after the other do not overlap.
        """
        with self._lock:
            owed = [write for write in self._writes if write.answered]
            events = set(self._events)
            readings = {machine: dict(rows) for machine, rows in self._readings.items()}
        shown_events = view.events()
        shown_notes = Counter(view.notes())
        with self._lock:
            writes = list(self._writes)  # some more may have come meanwhile
        outcome.checked += len(owed) + len(events) + sum(map(len, readings.values()))
        outcome.lost += [f"event {id}" for id in events - shown_events.keys()]
        for write in owed:
            if not _is_there(write, shown_events, shown_notes, writes):
                outcome.lost.append(f"{write.kind} {write.text!r} of {write.event or 'a machine'}")
        outcome.doubled += _doubled(writes, shown_events, shown_notes)
        if one_clock:
            outcome.doubled += doubled_events(list(shown_events.values()))
        for machine, rows in readings.items():
            if not rows:
                continue
            _check_readings(machine, rows, view.readings(machine, min(rows), max(rows)), outcome)


class View:
    """What the service shows now; implemented by `faults.plant.Plant`."""

    def events(self) -> dict[str, dict[str, Any]]:
        """All events by id."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """The texts of all notes."""
        raise NotImplementedError

    def readings(self, machine: str, first: float, last: float) -> dict[float, tuple[Any, ...]]:
        """Scores of every second by time, both included."""
        raise NotImplementedError


def _is_there(
    write: Write, events: dict[str, dict[str, Any]], notes: Counter[str], writes: list[Write]
) -> bool:
    if write.kind == "note":
        return notes[write.text] > 0
    event = events.get(write.event)
    if event is None:
        return False
    if write.kind == "acknowledgement":
        return event["acknowledged"] is not None
    if write.kind == "comment":
        return any(comment["text"] == write.text for comment in event["comments"])
    # A later label may have replaced it, even one whose answer never came.
    labels = [one for one in writes if one.kind == "label" and one.event == write.event]
    later = labels[next(n for n, one in enumerate(labels) if one is write) :]
    return event["label"] in {one.text for one in later}


def _doubled(
    writes: list[Write], events: dict[str, dict[str, Any]], notes: Counter[str]
) -> list[str]:
    doubled = [f"note {text!r}" for text, count in notes.items() if count > 1]
    for write in writes:
        if write.kind == "comment" and write.event in events:
            texts = [comment["text"] for comment in events[write.event]["comments"]]
            if texts.count(write.text) > 1:
                doubled.append(f"comment {write.text!r} of {write.event}")
    return doubled


def doubled_events(events: list[dict[str, Any]]) -> list[str]:
    """Events of one machine and kind that last at the same time: one, recorded twice."""
    doubled = []
    in_order = sorted(events, key=lambda it: (it["machine"], it["kind"], it["began"]))
    for before, after in itertools.pairwise(in_order):
        same = all(before[key] == after[key] for key in ("machine", "kind"))
        ended = math.inf if before["ended"] is None else before["ended"]
        if same and after["began"] < ended:
            doubled.append(f"event {after['id']}, which began during {before['id']}")
    return doubled


def _check_readings(
    machine: str,
    owed: dict[float, tuple[Any, ...]],
    shown: dict[float, tuple[Any, ...]],
    outcome: Outcome,
) -> None:
    for time, values in owed.items():
        if time not in shown:
            outcome.lost.append(f"reading of {machine} at {time:.1f}")
        elif shown[time] != values:
            outcome.wrong.append(f"reading of {machine} at {time:.1f} has changed")
