"""Decides when news are told, and which of them in one message.

Pure: it has no clock and no thread. Times are seconds since 1970.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ssdpt.monitor.messages import Event
from ssdpt.monitor.outputs.quiet_hours import QuietHours

_HOUR = 3600.0  # seconds
NewsStage = Literal["alert", "alarm", "ended", "reminder"]


@dataclass(frozen=True, slots=True)
class News:
    """One thing to tell about an event."""

    stage: NewsStage
    event: Event
    since: float  # when it became news
    held: bool = False  # it came in quiet hours

    @property
    def is_urgent(self) -> bool:
        """An alarm, or a reminder of one that is not over."""
        return self.stage == "alarm" or (self.stage == "reminder" and not self.event.is_over)


@dataclass(frozen=True, slots=True)
class DigestRules:
    """How much people want to be disturbed; all times in seconds."""

    group_within: float = 0.0  # to wait, so that news of other machines come in one message
    cooldown: float = 0.0  # between two messages about a machine
    wait_for_picture: float = 0.0  # that a beginning waits for the event's picture at most
    max_per_hour: int = 10  # messages; then all but alarms waits, and is joined
    alarms_pass: bool = False  # alarms are told in quiet hours


class Digest:
    """News that wait to be told."""

    def __init__(self, rules: DigestRules, quiet: QuietHours) -> None:
        self.rules, self.quiet = rules, quiet
        self._waiting: dict[str, News] = {}  # by event, the oldest first
        self._told: dict[str, tuple[float, bool]] = {}  # by machine: when, and whether an alarm
        self._message_times: deque[float] = deque(maxlen=rules.max_per_hour)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, stage: NewsStage, event: Event, now: float) -> None:
        """Something to tell. It replaces what waits about the same event, and keeps its turn."""
        before = self._waiting.get(event.id)
        since = now if before is None else before.since
        news = News(stage, event, since)
        held = not self._passes_quiet(news) and self.quiet.is_quiet(now)
        self._waiting[event.id] = replace(news, held=held)

    def refresh(self, event: Event) -> None:
        """A later version of an event: by now it has its picture, or better findings."""
        if event.id in self._waiting:
            self._waiting[event.id] = replace(self._waiting[event.id], event=event)

    def drop_reminder(self, event: str) -> None:
        """It was acknowledged before people were reminded."""
        news = self._waiting.get(event)
        if news is not None and news.stage == "reminder":
            del self._waiting[event]

    def due(self, now: float) -> list[News]:
        """What is told now in one message, most urgent first; nothing while all of it waits.

        As soon as one of the news is due, all others that may be told go with it.
        """
        if all(self._due_at(one, now) > now for one in self._all()):
            return []
        return self._take(one for one in self._all() if self._allowed_at(one, now) <= now)

    def flush(self, now: float) -> list[News]:
        """What is told when the service stops: all but what waits for the end of quiet hours."""
        return self._take(
            one for one in self._all() if self._passes_quiet(one) or not self.quiet.is_quiet(now)
        )

    def next_time(self, now: float) -> float | None:
        """When `due` may have something to tell; None while nothing waits."""
        if not self._waiting:
            return None
        return min(self._due_at(one, now) for one in self._all())

    def _all(self) -> list[News]:
        return list(self._waiting.values())

    def _take(self, news: Iterable[News]) -> list[News]:
        return sorted(news, key=lambda one: _URGENCY.index(one.stage))

    def told(self, news: Iterable[News], now: float) -> None:
        """These were handed to the receivers."""
        self._message_times.append(now)
        for one in news:
            self._waiting.pop(one.event.id, None)
            self._told[one.event.machine] = now, one.event.level == "alarm"

    def _free_at(self, news: News, now: float) -> float:
        """When another message may be sent within the hour.

        Alarms and reminders of them count but never wait: ten messages that something is over
        must not keep the next fault back.
        """
        if news.is_urgent or len(self._message_times) < self.rules.max_per_hour:
            return now
        return max(now, self._message_times[0] + _HOUR)

    def _allowed_at(self, news: News, now: float) -> float:
        """When quiet hours, cooldown and the number of messages allow to tell it."""
        at, was_alarm = self._told.get(news.event.machine, (-_HOUR, False))
        worse = news.stage == "alarm" and not was_alarm
        if self.rules.cooldown and news.stage != "reminder" and not worse:
            now = max(now, at + self.rules.cooldown)
        now = self._free_at(news, now)
        return now if self._passes_quiet(news) else self.quiet.end(now)

    def _due_at(self, news: News, now: float) -> float:
        wait = self.rules.group_within
        needs_picture = news.event.kind == "anomaly" and news.stage in ("alert", "alarm")
        if needs_picture and not news.event.has_audio:
            wait = max(wait, self.rules.wait_for_picture)
        return max(news.since + wait, self._allowed_at(news, now))

    def _passes_quiet(self, news: News) -> bool:
        return self.rules.alarms_pass and news.event.level == "alarm" and news.is_urgent


_URGENCY: tuple[NewsStage, ...] = ("alarm", "reminder", "alert", "ended")
