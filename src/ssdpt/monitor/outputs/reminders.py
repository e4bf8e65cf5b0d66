"""Which alarms nobody has acknowledged for too long.

Pure: it has no clock and no thread. Times are seconds since 1970.
"""

from __future__ import annotations

from ssdpt.monitor.messages import Event


class Reminders:
    """Unacknowledged alarms, and when people are next reminded of each.

    While one is active, again and again. Once it is over, one last time: that it ended by itself
    does not mean that somebody has seen it.
    """

    def __init__(self, after: float) -> None:
        """`after`: seconds to the first reminder, and from one to the next; 0 = none."""
        self._after = after
        self._next: dict[str, tuple[float, Event]] = {}  # by event

    def update(self, event: Event, now: float) -> None:
        """An event as it is now; `now` is when people are told of it, if it is new or over."""
        if not self._after or event.level != "alarm" or event.acknowledged is not None:
            self._next.pop(event.id, None)
            return
        at, before = self._next.get(event.id, (now + self._after, event))
        if event.is_over and not before.is_over:
            at = now + self._after
        self._next[event.id] = at, event

    def waits(self, event: str) -> bool:
        """Whether people will be reminded of it."""
        return event in self._next

    def due(self, now: float) -> list[Event]:
        """Those that people are reminded of now; one that is active comes again."""
        due = [event for at, event in self._sounding_or_over() if at <= now]
        for event in due:
            if event.is_over:
                del self._next[event.id]
            else:
                self._next[event.id] = now + self._after, event
        return due

    def next_time(self) -> float | None:
        """When the next one is due; None where there is none."""
        return min((at for at, _ in self._sounding_or_over()), default=None)

    def _sounding_or_over(self) -> list[tuple[float, Event]]:
        """Without those that pause: a fault that comes and goes keeps its time."""
        return [
            (at, event) for at, event in self._next.values() if event.ended is None or event.is_over
        ]
