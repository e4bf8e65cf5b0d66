"""From scores to levels: smoothed, entered and left at different limits, never by one moment."""

from __future__ import annotations

from collections import deque

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.types import Level

_RANKS: tuple[Level, ...] = ("normal", "alert", "alarm")


class Smoother:
    """The mean of the scores of the last seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._recent: deque[tuple[float, float]] = deque()

    def add(self, time: float, score: float) -> float:
        """The mean with this score in it."""
        self._recent.append((time, score))
        while len(self._recent) > 1 and self._recent[0][0] <= time - self.seconds:
            self._recent.popleft()
        return sum(value for _, value in self._recent) / len(self._recent)

    def clear(self) -> None:
        """After a stop the past does not count."""
        self._recent.clear()


class AlarmStateMachine:
    """The level a machine is at.

    A level begins when the score has been above its limit for `shortest` seconds, and ends when
    it has been below its exit limit for `settle` seconds.
    """

    def __init__(self, settings: AlarmSettings) -> None:
        self.settings = settings
        self.level: Level = "normal"
        self._above: dict[Level, float] = {}  # since when the score is above a limit
        self._below: dict[Level, float] = {}

    def update(self, time: float, score: float, limits: Thresholds) -> Level:
        """The level after this score."""
        enter: dict[Level, float] = {"alert": limits.alert, "alarm": limits.alarm}
        leave: dict[Level, float] = {"alert": limits.alert_exit, "alarm": limits.alarm_exit}
        for level in enter:
            _since(self._above, level, time, score > enter[level])
            _since(self._below, level, time, score < leave[level])
        reached = [
            level
            for level, since in self._above.items()
            if time - since >= self.settings.shortest and _rank(level) > _rank(self.level)
        ]
        if reached:
            self.level = max(reached, key=_rank)
        while (
            self.level != "normal"
            and time - self._below.get(self.level, time) >= self.settings.settle
            and self.level in self._below
        ):
            self.level = _RANKS[_rank(self.level) - 1]
        return self.level

    def reset(self) -> None:
        """To normal, with nothing pending."""
        self.level = "normal"
        self._above.clear()
        self._below.clear()


def _since(times: dict[Level, float], level: Level, time: float, holds: bool) -> None:
    if holds:
        times.setdefault(level, time)
    else:
        times.pop(level, None)


def _rank(level: Level) -> int:
    return _RANKS.index(level)
