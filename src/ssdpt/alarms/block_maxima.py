"""What a machine's own weeks of running say about false alerts: the highest score of ten minutes.

A limit is passed by a score that has been smoothed and has lasted; how often that happens by chance
cannot be told from single clips. So the highest score that lasted is kept of every ten minutes of
running. A day of them sets the limits, and after four weeks they stay as they are: a machine
that changes slowly must not take its limits along.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ssdpt.scoring.calibrate import Tail, own_tail

BLOCK_SECONDS = 600.0  # of running
LEAST, MOST = 144, 4032  # marks: a day, four weeks
_LONGEST_ALERT = 300.0  # seconds
_ANEW = 36  # marks until the tail is fitted again: six hours


class BlockMaxima:
    """The highest score that lasted `shortest` seconds, and the mean score, of every ten minutes.

    An alert that is over soon counts: without it the scores just above the limit would be missing,
    and limits set by the rest would be too low. One that goes on is no chance, and what was heard
    in it is left out.
    """

    def __init__(self, shortest: float) -> None:
        self.shortest = shortest
        self.highest: list[float] = []
        self.means: list[float] = []
        self.times: list[float] = []  # when each was whole, since 1970
        self._tail: tuple[int, Tail, float] | None = None  # of how many marks; with their mean
        self._recent: deque[tuple[float, float]] = deque()
        self.begin()

    def begin(self) -> None:
        """The ten minutes under way begin anew."""
        self._seconds, self._sum, self._high = 0.0, 0.0, -np.inf
        self.pause()

    def pause(self) -> None:
        """The machine stops; what was heard before counts, but nothing lasts over the stop."""
        self._recent.clear()
        self._in_alert = 0.0  # seconds

    def update(
        self, now: float, heard: float, score: float, seconds: float, *, normal: bool
    ) -> None:
        """A smoothed score of a machine that runs, `heard` seconds of which were judged so far.

        It held for `seconds`; `normal` where it is not in alert.
        """
        if len(self.highest) >= MOST:
            return
        self._in_alert = 0.0 if normal else self._in_alert + seconds
        if self._in_alert > _LONGEST_ALERT:
            in_alert = self._in_alert
            self.begin()
            self._in_alert = in_alert
            return
        self._recent.append((heard, score))
        while len(self._recent) > 1 and self._recent[1][0] <= heard - self.shortest:
            self._recent.popleft()
        if self._recent[0][0] <= heard - self.shortest:
            self._high = max(self._high, min(value for _, value in self._recent))
        self._seconds += seconds
        self._sum += seconds * score
        # An alert under way is waited for: it may turn out to be none by chance.
        if self._seconds >= BLOCK_SECONDS and normal and np.isfinite(self._high):
            self.highest.append(round(float(self._high), 4))
            self.means.append(round(self._sum / self._seconds, 4))
            self.times.append(round(now, 1))
            self._seconds, self._sum, self._high = 0.0, 0.0, -np.inf

    def drop(self, begin: float, end: float) -> None:
        """Someone says of this time that there was a fault."""
        marks = zip(self.highest, self.means, self.times, strict=True)
        kept = [mark for mark in marks if not begin <= mark[2] <= end + BLOCK_SECONDS]
        if not self.times or end > self.times[-1]:
            self.begin()  # it is in the ten minutes under way
        self.highest, self.means, self.times = (
            [mark[place] for mark in kept] for place in range(3)
        )
        self._tail = None

    def forget(self) -> None:
        """After a new baseline."""
        self.recall({"highest": [], "means": [], "times": []})
        self.begin()

    @property
    def days(self) -> float:
        """Of running that the marks rest on."""
        return len(self.highest) * BLOCK_SECONDS / 86400.0

    def tail(self) -> tuple[Tail, float] | None:
        """The tail of the marks and the score that is usual; None before there is a day of them."""
        count = len(self.highest)
        if count < LEAST:
            return None
        if self._tail is None or count - self._tail[0] >= _ANEW or count == MOST != self._tail[0]:
            usual = float(np.median(self.means))
            self._tail = count, own_tail(np.array(self.highest)), usual
        return self._tail[1:]

    def to_json(self) -> dict[str, Any]:
        """To be remembered."""
        return {
            "highest": list(self.highest),
            "means": list(self.means),
            "times": list(self.times),
        }

    def recall(self, tree: dict[str, Any]) -> None:
        """Take up what `to_json` gave."""
        self.highest, self.means = list(tree["highest"]), list(tree["means"])
        self.times = list(tree["times"])
        self._tail = None
