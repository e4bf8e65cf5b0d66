"""The computer's clocks, and the times of samples that a device counts by its own clock."""

from __future__ import annotations

import math
import threading
import time
from collections import deque

import numpy as np

from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.types import Floats

TOLERANCE = 0.5  # seconds that a source may differ from the computer's clock
MIN_GAP = 0.02  # seconds; smaller steps are corrections of the clock
_WINDOW = 5.0  # seconds; at least one chunk in it is expected to arrive without delay
_SLEW = 0.001  # of the time; ten times the error of a poor crystal
_DRIFT_WINDOWS = 120
_MIN_DRIFT_WINDOWS = 12  # before that, arrivals jitter more than clocks drift


class Clock:
    """The computer's clocks, in seconds. Tests use one that they set by hand."""

    def wall(self) -> float:
        """Seconds since 1970, UTC; the clock may be set forward or back while we run."""
        return time.time()

    def steady(self) -> float:
        """Seconds since some moment; never set forward or back."""
        return time.monotonic()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait; returns at once and True when `stop` is set."""
        return stop.wait(max(0.0, seconds))


SYSTEM = Clock()


class SampleClock:
    """Gives chunks their times: counts samples, and compares the count with the clock.

    Chunks arrive late by chance and never early. So the smallest delay of some seconds shows how
    far the count is off. Small errors are corrected step by step. A count that is off by more than
    TOLERANCE is set again; where the error came suddenly, samples are missing, and that is a gap.
    """

    def __init__(self, rate: int, clock: Clock = SYSTEM) -> None:
        self.drift_ppm = 0.0
        self._rate = rate
        self._clock = clock
        self._wall_offset = clock.wall() - clock.steady()
        self._next: float | None = None  # steady time of the next sample
        self._end: float | None = None  # what the next sample's would be without a gap
        self._broken = False  # the next sample does not follow the last
        self._window_end: float | None = None
        self._settled = False
        self._min_delay = math.inf  # in this window
        self._min_delay_before = 0.0
        self._slewed = 0.0
        self._delays: deque[tuple[float, float]] = deque(maxlen=_DRIFT_WINDOWS)

    def restart(self, began: float | None = None) -> None:
        """The next sample does not follow the last: a new connection, or some were lost.

        `began`: the steady time of the next sample where it is known.
        """
        self._next = began if began is None or self._end is None else max(began, self._end)
        self._broken = self._end is not None
        self._reset_delays()

    def skip(self, seconds: float) -> None:
        """This much sound is missing before the next sample."""
        if self._next is not None:
            self._next += seconds

    @property
    def ahead(self) -> float:
        """Seconds by which the samples counted so far reach into the future; below 0: late."""
        return 0.0 if self._next is None else self._next - self._clock.steady()

    def chunk(self, samples: Floats, arrived: float | None = None) -> Chunk:
        """The samples with their time; `arrived` is the steady time of the last, by default now."""
        arrived = self._clock.steady() if arrived is None else arrived
        length = len(samples) / self._rate
        if self._next is None:
            begin = arrived - length
            self._next = begin if self._end is None else max(begin, self._end)
        begin = self._next
        missing = 0.0 if self._end is None else begin - self._end
        if self._broken:
            # Even where the times happen to match, the sound does not continue.
            missing = max(missing, MIN_GAP)
        self._next = self._end = begin + length
        self._broken = False
        self._compare(arrived, arrived - self._next)
        return Chunk(samples, begin + self._offset(), missing if missing >= MIN_GAP else 0.0)

    def _compare(self, arrived: float, delay: float) -> None:
        """At the end of a window, correct the count by the smallest delay."""
        self._min_delay = min(self._min_delay, delay)
        if self._window_end is None:
            self._window_end = arrived + _WINDOW
        if arrived < self._window_end:
            return
        delay, before = self._min_delay, self._min_delay_before
        self._min_delay, self._window_end = math.inf, arrived + _WINDOW
        if not self._settled:
            # Only now it is known how late the first samples arrived.
            self._shift(delay, gap=False)
            self._settled = True
            return
        if abs(delay) > TOLERANCE:
            # A clock drifts slowly; only lost samples make it late at once.
            self._shift(delay, gap=delay - before > TOLERANCE / 2)
            self._reset_delays()
            return
        self._delays.append((arrived, delay + self._slewed))
        step = float(np.clip(delay, -_SLEW * _WINDOW, _SLEW * _WINDOW))
        self._shift(step, gap=False)
        self._slewed += step
        self._min_delay_before = delay - step
        if len(self._delays) >= _MIN_DRIFT_WINDOWS:
            times, delays = np.array(self._delays).T
            self.drift_ppm = float(-1e6 * np.polyfit(times - times[0], delays, 1)[0])

    def _shift(self, seconds: float, *, gap: bool) -> None:
        """Move the count; a `gap` is reported, a correction is not."""
        assert self._next is not None
        assert self._end is not None
        self._next += seconds
        if not gap:
            self._end += seconds

    def _reset_delays(self) -> None:
        """Delays measured so far do not hold for a new count."""
        self._window_end = None
        self._settled = False
        self._min_delay = math.inf
        self._min_delay_before = self._slewed = 0.0
        self._delays.clear()

    def _offset(self) -> float:
        """From the steady clock to the wall clock; changes only when the wall clock was set."""
        now = self._clock.wall() - self._clock.steady()
        if abs(now - self._wall_offset) > TOLERANCE:
            self._wall_offset = now
        return self._wall_offset
