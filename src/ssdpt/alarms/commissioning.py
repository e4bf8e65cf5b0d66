"""The first hour after a baseline: most likely the same healthy machine at another time.

Thresholds are right for the recordings they came from, and a healthy machine may score higher an
hour or a day later. So its first hour checks them. Where it sounds different steadily from the
start, a person is asked once, instead of twenty alarms. Where the hour was normal, its scores set
the thresholds. A sudden change, a growing one and an alert are no part of a healthy hour: then
nothing is taken as normal by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from ssdpt.alarms.early_fault import SPREADS
from ssdpt.alarms.thresholds import Thresholds

Phase = Literal["watching", "asking", "over"]

HOUR = 3600.0  # seconds of running
ASK_AFTER = 60.0  # seconds of running, steadily high from the first one on
_HIGH_SHARE = 0.9  # of the time, to be steady
_EVERY = 10.0  # seconds from one kept score to the next: clips that do not overlap
_FEWEST_SCORES = 100  # of the hour, to set thresholds
_GROWTH = 2.0  # spreads from the first to the last third that are a growing trend
_WITHDRAW_AFTER = 600.0  # seconds of normal scores after which nobody is asked any more
_MAD_OF_NORMAL = 1.4826  # standard deviations in a median absolute deviation


class Commissioning:
    """What the scores of the first hour mean; scores and times in, a decision out."""

    def __init__(self) -> None:
        self.phase: Phase = "watching"
        self.since: float | None = None  # time of the first score
        self.scores: list[float] = []  # of clips that do not overlap
        self._seconds = 0.0  # judged so far
        self._high_seconds = 0.0  # of these, near or above the alert threshold
        self._normal_seconds = 0.0  # since the last high score
        self._suspicious = False  # whether a person must look before anything is normal
        self._last_kept = -_EVERY  # seconds judged when a score was last kept

    @classmethod
    def over(cls) -> Self:
        """Of a machine that has run for long."""
        commissioning = cls()
        commissioning.phase = "over"
        return commissioning

    @property
    def asking(self) -> bool:
        """Whether a person is asked if the machine is healthy."""
        return self.phase == "asking"

    @property
    def holds(self) -> bool:
        """Whether no event begins: a person is asked, or may be in a minute."""
        return self.asking or (self.phase == "watching" and self._steadily_high)

    @property
    def _steadily_high(self) -> bool:
        return self._high_seconds >= _HIGH_SHARE * self._seconds and self._seconds < ASK_AFTER

    def own_limit(self, spread: float) -> float | None:
        """From where on a score is far above those since the start; None: too few to know.

        `spread`: standard deviation of the scores that were learned, the least it can be.
        """
        if not self.asking:
            return None
        usual = float(np.median(self.scores))
        return usual + SPREADS * max(spread, _spread(self.scores))

    def update(
        self,
        now: float,
        seconds: float,
        score: float,
        smoothed: float,
        thresholds: Thresholds,
        spread: float,
        *,
        changed: bool,
    ) -> bool:
        """Add the score of a clip, `seconds` of it new; whether the hour was normal and is over.

        `smoothed` is compared with `thresholds`; `changed`: a sudden change has just lasted.
        """
        if self.phase == "over":
            return False
        self.since = now - seconds if self.since is None else self.since
        high = smoothed >= thresholds.alert_exit
        self._seconds += seconds
        self._high_seconds += seconds if high else 0.0
        self._normal_seconds = 0.0 if high else self._normal_seconds + seconds
        if self._seconds - self._last_kept >= _EVERY:
            self.scores.append(round(score, 4))
            self._last_kept = self._seconds
        if self.asking:
            if changed or self._normal_seconds >= _WITHDRAW_AFTER:
                self.phase = "over"
            return False
        return self._watch(smoothed, thresholds, spread, changed=changed)

    def _watch(
        self, smoothed: float, thresholds: Thresholds, spread: float, *, changed: bool
    ) -> bool:
        if changed:
            self._suspicious = True
        if self.holds:
            return False
        steady = self._high_seconds >= _HIGH_SHARE * self._seconds
        if steady and not self._suspicious and not growing(self.scores, spread):
            self.phase = "asking"
            return False
        if smoothed > thresholds.alert:
            self._suspicious = True
        if self._seconds < HOUR:
            return False
        self.phase = "over"
        enough = len(self.scores) >= _FEWEST_SCORES
        return enough and not self._suspicious and not growing(self.scores, spread)

    def answer(self) -> None:
        """A person has said whether it is healthy."""
        self.phase = "over"

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        return {
            "phase": self.phase,
            "since": self.since,
            "scores": self.scores if self.phase != "over" else [],
            "seconds": self._seconds,
            "high_seconds": self._high_seconds,
            "normal_seconds": self._normal_seconds,
            "suspicious": self._suspicious,
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        commissioning = cls()
        commissioning.phase, commissioning.since = state["phase"], state["since"]
        commissioning.scores = [float(score) for score in state["scores"]]
        commissioning._seconds = commissioning._last_kept = float(state["seconds"])
        commissioning._high_seconds = float(state["high_seconds"])
        commissioning._normal_seconds = float(state["normal_seconds"])
        commissioning._suspicious = bool(state["suspicious"])
        return commissioning


def growing(scores: Sequence[float], spread: float) -> bool:
    """Whether scores, in order of time, rise from their first to their last third.

    `spread`: their standard deviation without a trend.
    """
    third = len(scores) // 3
    if third == 0:
        return False
    return float(np.median(scores[-third:]) - np.median(scores[:third])) > _GROWTH * spread


def without_outliers(scores: Sequence[float]) -> np.ndarray:
    """Scores (n,) less single ones far above the others, such as of a door or a voice."""
    values = np.asarray(scores, np.float64)
    return values[values <= np.median(values) + SPREADS * _spread(values)]


def _spread(scores: Sequence[float] | np.ndarray) -> float:
    """The standard deviation, by the median, so that a few odd scores do not widen it."""
    values = np.asarray(scores)
    return _MAD_OF_NORMAL * float(np.median(np.abs(values - np.median(values))))
