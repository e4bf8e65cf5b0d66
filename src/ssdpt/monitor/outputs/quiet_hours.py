"""Hours in which people are not disturbed, by weekday, in the plant's time zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field

from ssdpt.config.settings import Settings
from ssdpt.monitor.week import WEEKDAYS, Weekday
from ssdpt.sentences import Sentence

_LONGEST = timedelta(days=1)  # of one period


def _time_of_day(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 24 * 60:
        # YAML reads 22:00 without quotes as a number of base 60.
        return f"{value // 60:02d}:{value % 60:02d}"
    if not isinstance(value, str) or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        raise ValueError(Sentence("settings.notATimeOfDay", value=value))
    return value


TimeOfDay = Annotated[str, BeforeValidator(_time_of_day)]


class QuietPeriod(Settings):
    """From one time of day to another; to the next day where the end is not after the beginning."""

    days: tuple[Weekday, ...] = Field(
        WEEKDAYS, min_length=1, description="on which it begins; empty = every day"
    )
    begin: TimeOfDay = Field(alias="from", description='a time of day, such as "22:00"')
    end: TimeOfDay = Field(alias="to", description='a time of day, such as "06:00"')


class QuietHours:
    """Says whether a moment is quiet, and when that began and ends. Times: seconds since 1970."""

    def __init__(self, periods: Sequence[QuietPeriod], timezone: str) -> None:
        self._periods, self._zone = tuple(periods), ZoneInfo(timezone)

    def is_quiet(self, now: float) -> bool:
        """Whether people are not disturbed now."""
        return bool(self._around(now))

    def begin(self, now: float) -> float:
        """When the quiet time that `now` lies in began; `now` where it is not quiet.

        Periods that overlap or touch are one.
        """
        around = self._around(now)
        while around:
            now = min(begin for begin, _ in around)
            around = [one for one in self._around(now - 1.0) if one[0] < now]
        return now

    def end(self, now: float) -> float:
        """When it is over; `now` where it is not quiet. Infinite where it is always quiet."""
        first = now
        while around := self._around(now):
            now = max(end for _, end in around)
            if now - first > 8 * _LONGEST.total_seconds():
                return float("inf")
        return now

    def _around(self, now: float) -> list[tuple[float, float]]:
        """Begin and end of every period that `now` lies in."""
        today = datetime.fromtimestamp(now, self._zone).date()
        spans = (
            self._span(period, day)
            for period in self._periods
            for day in (today - _LONGEST, today)
            if WEEKDAYS[day.weekday()] in period.days
        )
        return [(begin, end) for begin, end in spans if begin <= now < end]

    def _span(self, period: QuietPeriod, day: date) -> tuple[float, float]:
        """By the clock on the wall: in the night of a change of the clocks it is longer or not."""
        begin, end = time_of_day.fromisoformat(period.begin), time_of_day.fromisoformat(period.end)
        last = day if end > begin else day + _LONGEST
        return self._seconds(day, begin), self._seconds(last, end)

    def _seconds(self, day: date, at: time_of_day) -> float:
        return datetime.combine(day, at, self._zone).astimezone(UTC).timestamp()
