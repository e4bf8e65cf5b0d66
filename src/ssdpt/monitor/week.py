"""Weeks of the calendar (ISO 8601): from Monday to Sunday, in the time zone of the plant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, Self, get_args
from zoneinfo import ZoneInfo

from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)
_FIRST_YEAR, _LAST_YEAR = 1971, 2999


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """
    >>> week = Week.parse("2026-W13")
    >>> (week.end("Europe/Berlin") - week.begin("Europe/Berlin")) / 3600  # clocks go forward
    167.0
    """

    year: int
    number: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """From 2026-W46."""
        match = re.fullmatch(r"(\d{4})-W(\d{2})", text, re.ASCII)
        year, number = (int(part) for part in match.groups()) if match else (0, 0)
        try:
            date.fromisocalendar(year, number, 1)
        except ValueError:
            year = 0
        if not _FIRST_YEAR <= year <= _LAST_YEAR:
            raise SsdptError(Sentence("api.notAWeek", text=text[:20]))
        return cls(year, number)

    @classmethod
    def of(cls, at: float, zone: str) -> Self:
        """The week of a time in seconds since 1970."""
        year, number, _ = datetime.fromtimestamp(at, ZoneInfo(zone)).isocalendar()
        return cls(year, number)

    def __str__(self) -> str:
        return f"{self.year}-W{self.number:02d}"

    def begin(self, zone: str) -> float:
        """Midnight of its Monday, in seconds since 1970."""
        return self.at("mon", time(), zone)

    def end(self, zone: str) -> float:
        """Midnight of the Monday after it: 167 or 169 hours later where clocks were changed."""
        return self.shifted(1).begin(zone)

    def at(self, day: Weekday, clock: time, zone: str) -> float:
        """A time of day in the week; where clocks skip it, as if they had not been changed yet."""
        local = datetime.combine(self._monday + timedelta(WEEKDAYS.index(day)), clock)
        return local.replace(tzinfo=ZoneInfo(zone)).timestamp()

    def shifted(self, weeks: int) -> Week:
        """So many weeks later."""
        year, number, _ = (self._monday + timedelta(weeks=weeks)).isocalendar()
        return Week(year, number)

    @property
    def _monday(self) -> date:
        return date.fromisocalendar(self.year, self.number, 1)
