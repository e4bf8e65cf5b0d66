"""The events of one machine: at most one ongoing of each kind, and the last one.

A fault that comes and goes is one event with episodes. An anomaly that is over may continue: if it
comes back within `rejoin_within` seconds of running, it is another episode of the same event. A
person who labels it, or acknowledges it after its end, has closed it; and with a new baseline
nothing is the same fault any more. What comes then is another event.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from ssdpt.alarms.findings import Finding
from ssdpt.monitor.events.episodes import add_episode, end_event, raise_episode
from ssdpt.monitor.messages import Event, EventChanged, EventKind, EventLevel, Message

_PEAK_EVERY = 10.0  # seconds between two reports of a rising peak
_LONGEST_PAUSE = 7 * 86400.0  # seconds; a machine may stand still, or be recorded once a day


class EventLog:
    """Begins, changes and ends events; every change is returned as messages."""

    def __init__(self, machine: str, rejoin_within: float = 0.0) -> None:
        """`rejoin_within`: seconds of running in which an anomaly continues its last event."""
        self.machine = machine
        self.rejoin_within = rejoin_within
        self.ongoing: dict[EventKind, Event] = {}
        self.last: Event | None = None
        self._paused: Event | None = None  # the anomaly that may continue
        self._quiet = 0.0  # seconds that the machine has run since it ended
        self._peak_reported = 0.0  # when the peak of the active anomaly was last reported

    def resume(
        self, ongoing: Iterable[Event], last: Event | None, last_anomaly: Event | None = None
    ) -> None:
        """Continue events that were not over when the service stopped, newest first.

        Of two of one kind the newest continues. `last` is the latest event of the machine,
        `last_anomaly` the latest of this kind, which may continue.
        """
        for event in ongoing:
            self.ongoing.setdefault(event.kind, event)
        self.last = last
        if last_anomaly is not None and last_anomaly.may_continue:
            self._paused = last_anomaly

    def begin(
        self,
        kind: EventKind,
        level: EventLevel,
        now: float,
        message: str,
        *,
        peak: float | None = None,
        threshold: float | None = None,
        baseline_learned_at: float | None = None,
        findings: tuple[Finding, ...] = (),
        speed_rpm: float | None = None,
    ) -> list[Message]:
        """A new event, or another episode of the anomaly that has paused."""
        self._peak_reported = now
        paused, closed = self._paused, []
        if kind == "anomaly" and paused is not None:
            if _is_same_fault(paused, now, baseline_learned_at):
                self._paused = None
                return self._change(add_episode(paused, level, now, peak))
            closed = self.close_paused()
        event = Event(
            id=uuid.uuid4().hex,
            machine=self.machine,
            kind=kind,
            level=level,
            began=now,
            message=message,
            peak=peak,
            threshold=threshold,
            baseline_learned_at=baseline_learned_at,
            findings=findings,
            speed_rpm=speed_rpm,
        )
        if kind == "anomaly":
            event = add_episode(event, level, now, peak)
        return [*closed, *self._change(event)]

    def update_anomaly(self, level: EventLevel, now: float, score: float) -> list[Message]:
        """The active anomaly has this level and score now."""
        event = self.ongoing["anomaly"]
        higher = raise_episode(event, level, score)
        if higher.level != event.level:
            return self._change(higher)
        if higher.peak != event.peak and now - self._peak_reported >= _PEAK_EVERY:
            self._peak_reported = now
            return self._change(higher)
        self.replace(higher)
        return []

    def end(self, kind: EventKind, now: float, *, for_good: bool = False) -> list[Message]:
        """The active event of this kind is over, if there is one.

        An anomaly may continue, unless it is over `for_good`.
        """
        event = self.ongoing.get(kind)
        if event is None:
            return []
        ended = end_event(event, now)
        may_continue = kind == "anomaly" and self.rejoin_within > 0 and not event.label
        if may_continue and not for_good:
            ended = self._paused = _changed(ended, may_continue=True)
            self._quiet = 0.0
        self.replace(ended)
        del self.ongoing[kind]
        return [EventChanged(event=ended)]

    def add_quiet(self, seconds: float) -> list[Message]:
        """The machine has run for so long without an anomaly."""
        self._quiet += seconds
        if self._paused is None or self._quiet < self.rejoin_within:
            return []
        return self.close_paused()

    def close_paused(self) -> list[Message]:
        """The anomaly that has paused is over for good: the next one is another event."""
        if self._paused is None:
            return []
        closed = self.replace(_changed(self._paused, may_continue=False))
        self._paused = None
        return [EventChanged(event=closed)]

    def end_all(self, now: float) -> list[Message]:
        """The machine is no longer monitored."""
        kinds = list(self.ongoing)
        ended = [message for kind in kinds for message in self.end(kind, now, for_good=True)]
        return [*self.close_paused(), *ended]

    def get(self, id: str) -> Event | None:
        """An active event, one that may continue, or the last one."""
        recent = [*self.ongoing.values(), self._paused, self.last]
        return next((event for event in recent if event is not None and event.id == id), None)

    def take_actions(self, stored: Event) -> Event:
        """Take over what people did to an event; what was measured since stays."""
        event = self.get(stored.id)
        if event is None:
            return stored
        closed = stored.label or (stored.acknowledged and not event.acknowledged)
        if self._paused is not None and self._paused.id == event.id and closed:
            self._paused, event = None, _changed(event, may_continue=False)
        return self.replace(
            _changed(
                event,
                acknowledged=stored.acknowledged,
                label=stored.label,
                comments=stored.comments,
                cause=stored.cause,
                work_order=stored.work_order,
                fault=stored.fault,
                looks_like=stored.looks_like,
            )
        )

    def replace(self, event: Event) -> Event:
        """Hold this version of an event."""
        for kind, other in self.ongoing.items():
            if other.id == event.id:
                self.ongoing[kind] = event
        if self._paused is not None and self._paused.id == event.id:
            self._paused = event
        if self.last is not None and self.last.id == event.id:
            self.last = event
        return event

    def clock_set_back(self) -> None:
        """Times start again from an earlier one."""
        self._peak_reported = 0.0

    def _change(self, event: Event) -> list[Message]:
        self.ongoing[event.kind] = self.last = event
        return [EventChanged(event=event)]


def _is_same_fault(paused: Event, now: float, baseline_learned_at: float | None) -> bool:
    assert paused.ended is not None
    same_baseline = paused.baseline_learned_at == baseline_learned_at
    return same_baseline and now - paused.ended <= _LONGEST_PAUSE


def _changed(event: Event, **changes: Any) -> Event:
    return event.model_copy(update=changes)
