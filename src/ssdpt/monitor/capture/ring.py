"""The last minutes of a stream: samples, or the frames of a spectrogram."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
from numpy.typing import DTypeLike

from ssdpt.types import Floats


class Ring:
    """A buffer of fixed size that forgets its oldest rows. Threads may share it."""

    def __init__(
        self,
        seconds: float,
        rate: float,
        row: tuple[int, ...] = (),
        fill: float = 0.0,
        dtype: DTypeLike = np.float32,
    ) -> None:
        """Holds `seconds` of rows at `rate` per second.

        `row` is the shape of one row, () for samples; gaps are filled with `fill`.
        """
        self.rate = rate
        self._fill = fill
        size = (max(1, round(seconds * rate)), *row)
        # Zeros take no memory before they are written to.
        self._rows = np.full(size, fill, dtype) if fill else np.zeros(size, dtype)
        self._written = 0  # rows so far
        self._end = 0.0  # time after the last row
        self._gaps: deque[tuple[int, int]] = deque()  # first row of each, and the row after it
        self._lock = threading.Lock()

    def add(self, rows: Floats, time: float) -> None:
        """Append rows (n, …), the first at `time`."""
        size = len(self._rows)
        with self._lock:
            kept = rows[-size:]
            start = (self._written + len(rows) - len(kept)) % size
            first = min(len(kept), size - start)
            self._rows[start : start + first] = kept[:first]
            self._rows[: len(kept) - first] = kept[first:]
            self._written += len(rows)
            self._end = time + len(rows) / self.rate

    def skip(self, seconds: float) -> None:
        """Fill a gap, so that what was before it keeps its time."""
        missing = min(round(seconds * self.rate), len(self._rows))
        with self._lock:
            self._gaps.append((self._written, self._written + missing))
            while self._gaps[0][1] <= self._written - len(self._rows):
                self._gaps.popleft()
        rows = np.full((missing, *self._rows.shape[1:]), self._fill, self._rows.dtype)
        self.add(rows, self._end)

    def between(self, begin: float, end: float) -> tuple[Floats, float]:
        """The rows from `begin` to `end` as far as they are held, and the time of the first."""
        with self._lock:
            held = min(self._written, len(self._rows))
            oldest = self._end - held / self.rate
            first = min(max(round((begin - oldest) * self.rate), 0), held)
            last = min(max(round((end - oldest) * self.rate), first), held)
            number = self._written - held + first
            return self._copied(number, last - first), oldest + first / self.rate

    def since(self, row: int) -> tuple[Floats, float, int]:
        """The rows from number `row` on as far as they are held.

        With the time of the first and the number after the last, to go on from: every row is given
        once, also where times are corrected. Rows are counted from the first ever added.
        """
        with self._lock:
            fresh = min(max(self._written - row, 0), self._written, len(self._rows))
            rows = self._copied(self._written - fresh, fresh)
            return rows, self._end - fresh / self.rate, self._written

    def first_captured(self, begin: float) -> float:
        """The time of the first row from `begin` on that does not fill a gap."""
        with self._lock:
            held = min(self._written, len(self._rows))
            oldest = self._end - held / self.rate
            row = self._written - held + max(round((begin - oldest) * self.rate), 0)
            for first, after in self._gaps:
                if first <= row < after:
                    row = after
            return oldest + (row - self._written + held) / self.rate

    def _copied(self, number: int, count: int) -> Floats:
        """So many rows from this number on."""
        start = number % len(self._rows)
        wrapped = max(start + count - len(self._rows), 0)
        return np.concatenate([self._rows[start : start + count], self._rows[:wrapped]])

    @property
    def seconds(self) -> float:
        """How much it can hold."""
        return len(self._rows) / self.rate

    @property
    def count(self) -> int:
        """How many rows were added so far; the number of the next one."""
        return self._written

    @property
    def end(self) -> float:
        """The time after the last row."""
        return self._end
