"""When something arrives from a source: without pauses, or how often."""

from __future__ import annotations

import statistics
from collections import deque

_PAUSE = 2.0  # seconds; a stream has none that long
_STEADY = 5.0  # seconds without a pause that make a stream
_FASTEST, _AHEAD = 1.5, 2.0  # of a stream: against real time, and seconds that come at once
_KEPT = 9  # intervals
_STALE_STREAM = 8.0  # seconds
_STALE_INTERVALS = 3.0  # of the usual interval
_STALE_FIRST = 600.0  # seconds after the first recording: the usual interval is not known yet


class Arrivals:
    """The rhythm of what arrives, by a clock that is never set."""

    def __init__(self, *, at_intervals: bool) -> None:
        """`at_intervals`: recordings or snapshots, and not a stream."""
        self._at_intervals = at_intervals
        self.last: float | None = None  # when something last arrived
        self._burst_began = 0.0  # what arrives without a pause counts as one
        self._burst_seconds = 0.0  # of sound in it
        self._intervals: deque[float] = deque(maxlen=_KEPT)

    def note(self, now: float, seconds: float = 0.0, *, single: bool = False) -> None:
        """Something has arrived, `seconds` long; `single`: complete, not a piece of something."""
        if self.last is None or single or now - self.last > _PAUSE:
            if self.last is not None:
                self._intervals.append(now - self._burst_began)
            self._burst_began, self._burst_seconds = now, 0.0
        self.last = now
        self._burst_seconds += seconds

    @property
    def steady(self) -> bool:
        """Whether the last of it arrived like a stream, whatever its source is.

        A long recording arrives without pauses too, but faster than it was made.
        """
        lasted = 0.0 if self.last is None else self.last - self._burst_began
        return lasted >= _STEADY and self._burst_seconds <= _FASTEST * lasted + _AHEAD

    @property
    def stale_after(self) -> float | None:
        """Seconds without anything after which the last is no longer current.

        None: nothing has arrived yet of what comes at intervals.
        """
        if not self._at_intervals or self.steady:
            return _STALE_STREAM
        if not self._intervals:
            return None if self.last is None else _STALE_FIRST
        usual = statistics.median(self._intervals)
        return max(_STALE_STREAM, _STALE_INTERVALS * usual)

    def continue_from(self, previous: Arrivals) -> None:
        """Go on from the same machine before its settings changed: its last data are as old."""
        self.last = previous.last
        self._burst_began = self.last or 0.0  # what comes next is no part of what came before
        if self._at_intervals == previous._at_intervals:
            self._burst_began = previous._burst_began
            self._burst_seconds = previous._burst_seconds
            self._intervals = previous._intervals.copy()
