"""Which changes of events are news for people: a beginning, a worse level, the end for good."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

from ssdpt.monitor.messages import Event, EventLevel

Stage = Literal["below", "alert", "alarm", "ended"]  # below: not of the level that is told
_MAX_EVENTS = 10_000  # whose stage is remembered


class EventStages:
    """Remembers how far each event was told.

    An event whose cause comes and goes is not told again for every episode.
    """

    def __init__(self, level: EventLevel) -> None:
        """`level` from which on events are told."""
        self._level = level
        self._stages: OrderedDict[str, Stage] = OrderedDict()  # by event, the oldest first

    def news(self, event: Event) -> Stage | None:
        """The stage that it has newly reached; None where it is not told, or was before."""
        before, now = self._stages.get(event.id), self.stage(event)
        self.remember(event)
        handled = event.acknowledged is not None or event.comments or event.label
        if before is None and handled:
            return None  # people knew it before this process started
        return None if now in ("below", before) else now

    def stage(self, event: Event) -> Stage:
        """How far it is now."""
        if self._level == "alarm" and event.level != "alarm":
            return "below"
        return "ended" if event.is_over else event.level

    def remember(self, event: Event) -> None:
        """It was told, or need not be."""
        self._stages[event.id] = self.stage(event)
        self._stages.move_to_end(event.id)
        if len(self._stages) > _MAX_EVENTS:
            self._stages.popitem(last=False)
