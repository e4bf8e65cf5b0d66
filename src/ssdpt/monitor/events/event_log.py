"""The events of one machine: at most one ongoing of each kind, and the last one."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from ssdpt.monitor.messages import Event, EventChanged, EventKind, EventLevel, Message

_PEAK_EVERY = 10.0  # seconds between two reports of a rising peak


class EventLog:
    """Begins, changes and ends events; every change is returned as messages."""

    def __init__(self, machine: str) -> None:
        self.machine = machine
        self.ongoing: dict[EventKind, Event] = {}
        self.last: Event | None = None
        self._peak_reported = 0.0  # when the peak of the active anomaly was last reported

    def resume(self, ongoing: Iterable[Event], last: Event | None) -> None:
        """Continue events that were not over when the service stopped, newest first.

        Of two of one kind the newest continues. `last` is the latest event of the machine.
        """
        for event in ongoing:
            self.ongoing.setdefault(event.kind, event)
        self.last = last

    def begin(
        self,
        kind: EventKind,
        level: EventLevel,
        now: float,
        message: str,
        *,
        peak: float | None = None,
        threshold: float | None = None,
    ) -> list[Message]:
        """A new event."""
        self._peak_reported = now
        event = Event(
            id=uuid.uuid4().hex,
            machine=self.machine,
            kind=kind,
            level=level,
            began=now,
            message=message,
            peak=peak,
            threshold=threshold,
        )
        return self._change(event)

    def update_anomaly(self, level: EventLevel, now: float, score: float) -> list[Message]:
        """The active anomaly has this level and score now."""
        event = self.ongoing["anomaly"]
        peak = score if event.peak is None else max(event.peak, score)
        higher = _changed(event, peak=peak)
        if level == "alarm" and event.level == "alert":
            return self._change(_changed(higher, level="alarm"))
        if peak != event.peak and now - self._peak_reported >= _PEAK_EVERY:
            self._peak_reported = now
            return self._change(higher)
        self.ongoing["anomaly"] = higher
        return []

    def end(self, kind: EventKind, now: float) -> list[Message]:
        """The active event of this kind is over, if there is one."""
        event = self.ongoing.pop(kind, None)
        if event is None:
            return []
        # The clock may have been set back, or the machine's clock run ahead.
        ended = _changed(event, ended=max(now, event.began))
        if self.last is not None and self.last.id == ended.id:
            self.last = ended
        return [EventChanged(event=ended)]

    def end_all(self, now: float) -> list[Message]:
        """The machine is no longer monitored."""
        return [message for kind in list(self.ongoing) for message in self.end(kind, now)]

    def get(self, id: str) -> Event | None:
        """An active event, or the last one."""
        recent = [*self.ongoing.values(), *([self.last] if self.last else [])]
        return next((event for event in recent if event.id == id), None)

    def take_actions(self, stored: Event) -> Event:
        """Take over what people did to an event; what was measured since stays."""
        event = self.get(stored.id)
        if event is None:
            return stored
        return self.replace(
            _changed(
                event,
                acknowledged=stored.acknowledged,
                label=stored.label,
                comments=stored.comments,
            )
        )

    def replace(self, event: Event) -> Event:
        """Hold this version of an event."""
        for kind, other in self.ongoing.items():
            if other.id == event.id:
                self.ongoing[kind] = event
        if self.last is not None and self.last.id == event.id:
            self.last = event
        return event

    def clock_set_back(self) -> None:
        """Times start again from an earlier one."""
        self._peak_reported = 0.0

    def _change(self, event: Event) -> list[Message]:
        self.ongoing[event.kind] = self.last = event
        return [EventChanged(event=event)]


def _changed(event: Event, **changes: Any) -> Event:
    return event.model_copy(update=changes)
