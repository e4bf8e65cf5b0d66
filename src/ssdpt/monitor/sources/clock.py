"""The computer's clocks, and the time of samples that a source counts by a clock of its own."""

from __future__ import annotations

import math
import threading
import time
from collections import deque

import numpy as np

from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.types import Floats

TOLERANCE = 0.5  # seconds that a source may run away from the computer's clock
LEAST_GAP = 0.02  # seconds; less is how a clock is put right
_WINDOW = 5.0  # seconds; at least one arrival in it is expected to be prompt
_SLEW = 0.001  # of the time; ten times the error of a poor crystal
_DRIFT_WINDOWS = 120
_LEAST_DRIFT_WINDOWS = 12  # before that, arrivals jitter more than clocks drift


class Clock:
    """The computer's clocks, in seconds. Tests have one that they turn by hand."""

    def wall(self) -> float:
        """Since 1970, UTC; may be set forward or back while we run."""
        return time.time()

    def steady(self) -> float:
        """Since some moment; never set."""
        return time.monotonic()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait; true as soon as `stop` is set."""
        return stop.wait(max(0.0, seconds))


SYSTEM = Clock()


class SampleClock:
    """Gives chunks their times: samples are counted, and the count is held against the clock.

    Arrivals are late by chance and never early, so the most prompt one of some seconds tells how
    far the count is off. Small errors are put right unnoticed; a count that has run away by more
    than TOLERANCE is set anew, and told as a gap where it went at one blow: samples are missing.
    """

    def __init__(self, rate: int, clock: Clock = SYSTEM) -> None:
        self.drift_ppm = 0.0
        self._rate = rate
        self._clock = clock
        self._wall_offset = clock.wall() - clock.steady()
        self._next: float | None = None  # steady time of the next sample
        self._end: float | None = None  # what the next sample's would be without a gap
        self._broken = False
        self._window_end: float | None = None
        self._settled = False
        self._least = math.inf  # delay in this window
        self._least_before = 0.0
        self._slewed = 0.0
        self._delays: deque[tuple[float, float]] = deque(maxlen=_DRIFT_WINDOWS)

    def restart(self, began: float | None = None) -> None:
        """The next sample does not follow the last: a new connection, or some were lost.

        `began`: the steady time of the next sample where it is known.
        """
        self._next = began if began is None or self._end is None else max(began, self._end)
        self._broken = self._end is not None
        self._forget()

    def skip(self, seconds: float) -> None:
        """So much is missing before the next sample."""
        if self._next is not None:
            self._next += seconds

    @property
    def ahead(self) -> float:
        """Seconds that the samples counted so far reach into the future; below 0: late."""
        return 0.0 if self._next is None else self._next - self._clock.steady()

    def chunk(self, samples: Floats, arrived: float | None = None) -> Chunk:
        """The samples with their time; the last of them `arrived` at that steady time, or now."""
        arrived = self._clock.steady() if arrived is None else arrived
        length = len(samples) / self._rate
        if self._next is None:
            begin = arrived - length
            self._next = begin if self._end is None else max(begin, self._end)
        begin = self._next
        missing = 0.0 if self._end is None else begin - self._end
        if self._broken:
            # Even where the times happen to meet, the sound does not.
            missing = max(missing, LEAST_GAP)
        self._next = self._end = begin + length
        self._broken = False
        self._compare(arrived, arrived - self._next)
        return Chunk(samples, begin + self._offset(), missing if missing >= LEAST_GAP else 0.0)

    def _compare(self, arrived: float, delay: float) -> None:
        """Once in a while, put the count right by the most prompt arrival."""
        self._least = min(self._least, delay)
        if self._window_end is None:
            self._window_end = arrived + _WINDOW
        if arrived < self._window_end:
            return
        least, before = self._least, self._least_before
        self._least, self._window_end = math.inf, arrived + _WINDOW
        if not self._settled:
            # How late the first samples came is known only now.
            self._shift(least, told=False)
            self._settled = True
            return
        if abs(least) > TOLERANCE:
            # A clock creeps away; only lost samples make it late at one blow.
            self._shift(least, told=least - before > TOLERANCE / 2)
            self._forget()
            return
        self._delays.append((arrived, least + self._slewed))
        step = float(np.clip(least, -_SLEW * _WINDOW, _SLEW * _WINDOW))
        self._shift(step, told=False)
        self._slewed += step
        self._least_before = least - step
        if len(self._delays) >= _LEAST_DRIFT_WINDOWS:
            moments, delays = np.array(self._delays).T
            self.drift_ppm = float(-1e6 * np.polyfit(moments - moments[0], delays, 1)[0])

    def _shift(self, seconds: float, *, told: bool) -> None:
        assert self._next is not None
        assert self._end is not None
        self._next += seconds
        if not told:
            self._end += seconds

    def _forget(self) -> None:
        """What was learnt of the delays does not hold for a new count."""
        self._window_end = None
        self._settled = False
        self._least = math.inf
        self._least_before = self._slewed = 0.0
        self._delays.clear()

    def _offset(self) -> float:
        """From the steady clock to the wall's, which follows only when that one was set."""
        now = self._clock.wall() - self._clock.steady()
        if abs(now - self._wall_offset) > TOLERANCE:
            self._wall_offset = now
        return self._wall_offset
