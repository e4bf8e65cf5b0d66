"""The events of one machine: those that go on, one of a kind, and the last one."""

from __future__ import annotations

import uuid
from dataclasses import replace

from ssdpt.monitor.messages import Event, EventKind, EventLevel
from ssdpt.monitor.outputs.messages import EventChanged, Message

_PEAK_EVERY = 10.0  # seconds: who is told of every change is not told of every second


class EventLog:
    """Begins, changes and ends events; what comes of it is told as messages."""

    def __init__(self, machine: str) -> None:
        self.machine = machine
        self.open: dict[EventKind, Event] = {}
        self.last: Event | None = None
        self._peak_told = 0.0  # when the peak of the anomaly under way was last told

    def resume(self, event: Event) -> None:
        """It was under way when the service stopped: it goes on, or ends, from here."""
        self.open[event.kind] = event

    def begin(
        self,
        kind: EventKind,
        level: EventLevel,
        now: float,
        words: str,
        *,
        peak: float | None = None,
        threshold: float | None = None,
    ) -> list[Message]:
        self._peak_told = now
        event = Event(
            id=uuid.uuid4().hex,
            machine=self.machine,
            kind=kind,
            level=level,
            began=now,
            words=words,
            peak=peak,
            threshold=threshold,
        )
        return self._change(event)

    def go_on(self, level: EventLevel, now: float, score: float) -> list[Message]:
        """The anomaly under way is at this level and score now."""
        known = self.open["anomaly"]
        higher = replace(known, peak=score if known.peak is None else max(known.peak, score))
        if level == "alarm" and known.level == "alert":
            return self._change(replace(higher, level="alarm"))
        if higher != known and now - self._peak_told >= _PEAK_EVERY:
            self._peak_told = now
            return self._change(higher)
        self.open["anomaly"] = higher
        return []

    def end(self, kind: EventKind, now: float) -> list[Message]:
        known = self.open.pop(kind, None)
        if known is None:
            return []
        # A clock may have been set back, or the machine's run ahead of ours.
        ended = replace(known, ended=max(now, known.began))
        if self.last is not None and self.last.id == ended.id:
            self.last = ended
        return [EventChanged(ended)]

    def end_all(self, now: float) -> list[Message]:
        """The machine is no longer listened to."""
        return [message for kind in list(self.open) for message in self.end(kind, now)]

    def known(self, id: str) -> Event | None:
        """An event that goes on, or the last one."""
        latest = [*self.open.values(), *([self.last] if self.last else [])]
        return next((event for event in latest if event.id == id), None)

    def said(self, event: Event) -> Event:
        """What people have said of an event is taken over; what was heard of it here stays."""
        known = self.known(event.id)
        if known is None:
            return event
        return self.replace(
            replace(
                known,
                acknowledged_by=event.acknowledged_by,
                acknowledged_at=event.acknowledged_at,
                label=event.label,
                comments=event.comments,
            )
        )

    def replace(self, event: Event) -> Event:
        """Take it as it is now."""
        for kind, known in self.open.items():
            if known.id == event.id:
                self.open[kind] = event
        if self.last is not None and self.last.id == event.id:
            self.last = event
        return event

    def set_back(self) -> None:
        """The clock was set back."""
        self._peak_told = 0.0

    def _change(self, event: Event) -> list[Message]:
        self.open[event.kind] = self.last = event
        return [EventChanged(event)]
