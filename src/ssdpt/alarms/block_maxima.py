"""The highest score in every ten minutes of running: how high scores get without a fault.

A threshold is passed by a score that was smoothed and has lasted. How often that happens by chance
cannot be read from single clips. So the highest lasting score of every block of ten minutes is
kept. A day of blocks sets the thresholds; after four weeks they stay as they are, since a machine
that changes slowly must not take its thresholds along.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ssdpt.alarms.lasting_score import LastingScore
from ssdpt.scoring.calibrate import Tail, block_tail

BLOCK_SECONDS = 600.0  # of running
FEWEST_BLOCKS, MOST_BLOCKS = 144, 4032  # a day, four weeks
_LONGEST_ALERT = 300.0  # seconds
_REFIT_AFTER = 36  # blocks: six hours


class BlockMaxima:
    """The highest score that lasted `min_duration` seconds, and the mean score, of every block.

    A short alert counts: without it the scores just above the threshold would be missing, and
    thresholds set by the rest would be too low. A long alert is no chance event: its scores are
    left out.
    """

    def __init__(self, min_duration: float) -> None:
        self.lasting = LastingScore(min_duration)
        self.highest: list[float] = []
        self.means: list[float] = []
        self.times: list[float] = []  # when each block was complete, seconds since 1970
        self._fitted: tuple[int, Tail, float] | None = None  # blocks, their tail, usual score
        self.restart_block()

    def restart_block(self) -> None:
        """Discard the current, incomplete block."""
        self._seconds, self._sum, self._high = 0.0, 0.0, -np.inf
        self.pause()

    def pause(self) -> None:
        """The machine stops: scores so far count, but nothing lasts across the stop."""
        self.lasting.reset()
        self._alert_seconds = 0.0

    def update(
        self,
        now: float,
        running_time: float,
        score: float,
        seconds: float,
        *,
        normal: bool,
        since: float | None = None,
    ) -> None:
        """Add a smoothed score that held for `seconds`; `normal`: no alert is active.

        `running_time`: seconds of the machine judged so far; `since`: see `LastingScore.update`.
        """
        if len(self.highest) >= MOST_BLOCKS:
            return
        self._alert_seconds = 0.0 if normal else self._alert_seconds + seconds
        if self._alert_seconds > _LONGEST_ALERT:
            alert_seconds = self._alert_seconds
            self.restart_block()
            self._alert_seconds = alert_seconds
            return
        lasting = self.lasting.update(running_time, score, since)
        if lasting is not None:
            self._high = max(self._high, lasting)
        self._seconds += seconds
        self._sum += seconds * score
        # The block stays open during an alert: it may turn out to be a long one.
        if self._seconds >= BLOCK_SECONDS and normal and np.isfinite(self._high):
            self.highest.append(round(float(self._high), 4))
            self.means.append(round(self._sum / self._seconds, 4))
            self.times.append(round(now, 1))
            self._seconds, self._sum, self._high = 0.0, 0.0, -np.inf

    def drop(self, begin: float, end: float) -> None:
        """Remove the blocks of a time that a person has marked as a fault."""
        blocks = zip(self.highest, self.means, self.times, strict=True)
        kept = [block for block in blocks if not begin <= block[2] <= end + BLOCK_SECONDS]
        if not self.times or end > self.times[-1]:
            self.restart_block()  # the fault is in the current block
        self.highest, self.means, self.times = (
            [block[column] for block in kept] for column in range(3)
        )
        self._fitted = None

    def reset(self) -> None:
        """Start again, after a new baseline."""
        self.restore({"highest": [], "means": [], "times": []})
        self.restart_block()

    @property
    def days(self) -> float:
        """Days of running that the blocks cover."""
        return len(self.highest) * BLOCK_SECONDS / 86400.0

    def tail(self) -> tuple[Tail, float] | None:
        """The tail of the block maxima and the usual score; None before a day of running."""
        count = len(self.highest)
        if count < FEWEST_BLOCKS:
            return None
        fitted = self._fitted
        if fitted is None or count - fitted[0] >= _REFIT_AFTER or count == MOST_BLOCKS != fitted[0]:
            usual = float(np.median(self.means))
            fitted = self._fitted = count, block_tail(np.array(self.highest)), usual
        return fitted[1:]

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        return {
            "highest": list(self.highest),
            "means": list(self.means),
            "times": list(self.times),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The reverse of `to_json`."""
        self.highest, self.means = list(state["highest"]), list(state["means"])
        self.times = list(state["times"])
        self._fitted = None
