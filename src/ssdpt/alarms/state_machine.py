"""From scores to levels: smoothed, with entry and exit thresholds and minimum durations."""

from __future__ import annotations

from collections import deque

from ssdpt.alarms.lasting_score import TOLERANCE, LastingScore
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.types import Level

LEVELS: tuple[Level, ...] = ("normal", "alert", "alarm")  # rising


class Smoother:
    """The mean of the scores of the last seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._recent: deque[tuple[float, float]] = deque()  # (time, score)

    def update(self, time: float, score: float) -> float:
        """The mean including this score."""
        self._recent.append((time, score))
        while len(self._recent) > 1 and self._recent[0][0] <= time - self.seconds + TOLERANCE:
            self._recent.popleft()
        return sum(value for _, value in self._recent) / len(self._recent)

    def reset(self) -> None:
        """Forget all scores, after a stop."""
        self._recent.clear()


class AlarmStateMachine:
    """The level of one machine.

    A level begins when the score has been above its threshold for `min_duration` seconds, and ends
    when it has been below its exit threshold for `clear_after` seconds.
    """

    def __init__(self, settings: AlarmSettings) -> None:
        self.settings = settings
        self.level: Level = "normal"
        self._lasting = LastingScore(settings.min_duration)
        self._below_since: dict[Level, float] = {}

    def update(
        self, time: float, score: float, thresholds: Thresholds, *, since: float | None = None
    ) -> Level:
        """The level after this score.

        `since`: from when on the score holds, where it is that of a whole clip after a gap.
        """
        lasting = self._lasting.update(time, score, since)
        if lasting is not None:
            self.level = max(self.level, _level(lasting, thresholds), key=LEVELS.index)
        leave: dict[Level, float] = {"alert": thresholds.alert_exit, "alarm": thresholds.alarm_exit}
        for level, threshold in leave.items():
            if score < threshold:
                self._below_since.setdefault(level, time if since is None else since)
            else:
                self._below_since.pop(level, None)
        while (
            self.level in self._below_since
            and time - self._below_since[self.level] >= self.settings.clear_after - TOLERANCE
        ):
            self.level = LEVELS[LEVELS.index(self.level) - 1]
        return self.level

    def reset(self) -> None:
        """Back to normal, with nothing pending."""
        self.level = "normal"
        self._lasting.reset()
        self._below_since.clear()


def _level(score: float, thresholds: Thresholds) -> Level:
    if score > thresholds.alarm:
        return "alarm"
    return "alert" if score > thresholds.alert else "normal"
