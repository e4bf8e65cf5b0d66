"""The one rule of persistence: a score counts when it has lasted."""

from __future__ import annotations

from collections import deque

TOLERANCE = 1e-3  # seconds; times are sums of steps, which are never exact


class LastingScore:
    """The lowest score of the last `min_duration` seconds.

    A level begins when this passes its threshold, and thresholds are set from its maxima: alarms
    and their calibration cannot disagree on what lasts.

    >>> lasting = LastingScore(2.0)
    >>> [lasting.update(float(time), score) for time, score in enumerate([5, 1, 4, 4, 4])]
    [None, None, 1, 1, 4]
    """

    def __init__(self, min_duration: float) -> None:
        self.min_duration = min_duration
        self._recent: deque[tuple[float, float]] = deque()  # (time, score)

    def update(self, time: float, score: float, since: float | None = None) -> float | None:
        """The lowest score including this one; None before `min_duration` seconds have passed.

        `since`: from when on the score holds, where it is that of a whole clip after a gap.
        """
        if since is not None:
            self._recent.append((since, score))
        self._recent.append((time, score))
        start = time - self.min_duration + TOLERANCE
        while len(self._recent) > 1 and self._recent[1][0] <= start:
            self._recent.popleft()
        if self._recent[0][0] > start:
            return None
        return min(value for _, value in self._recent)

    def reset(self) -> None:
        """Nothing lasts across a stop."""
        self._recent.clear()
