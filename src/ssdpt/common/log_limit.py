"""A log that nobody can flood: what repeats is counted and named, not written again and again."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

_MOST = 10  # of the same place in the code, in a period
_PERIOD = 60.0  # seconds
_PLACES = 1000  # in the code that are remembered
_LINE, _LINES = 1500, 5  # characters of one line of what was left out; lines at most
_MARKS = ".,:;()"  # around words

_Key = tuple[str, int, str]


@dataclass(slots=True)
class _Place:
    """A place in the code that writes to the log, in this period."""

    since: float
    first: logging.LogRecord  # without a traceback
    written: int = 0
    left_out: int = 0
    # What makes those that were left out differ from the first, such as names of machines.
    differences: dict[str, None] = field(default_factory=dict)
    length: int = 0  # characters of `differences`
    more: bool = False  # there are others

    def leave_out(self, text: str) -> None:
        self.left_out += 1
        known = set(self.first.msg.split())
        different = " ".join(
            word.strip(_MARKS) or word for word in text.split() if word not in known
        )[:_LINE]
        if not different or different in self.differences:
            return
        if self.length + len(different) > _LINE * _LINES:
            self.more = True
            return
        self.differences[different] = None
        self.length += len(different)

    def lines(self, seconds: float) -> Iterator[str]:
        """What was left out."""
        like = self.first.msg[: _LINE // 3]
        line = f"{self.left_out} more like this were left out within {seconds:.0f} s ({like})"
        mark = ": "
        for different in [*self.differences, *(["and others"] if self.more else [])]:
            if len(line) + len(different) > _LINE:
                yield line
                line, mark = "left out as well", ": "
            line, mark = f"{line}{mark}{different}", ", "
        yield line


class LimitedHandler(logging.StreamHandler[TextIO]):
    """Writes the first records of each place in the code; of the others, the count and the names.

    These follow when the period is over, or when the handler is closed at the end of the program.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        period: float = _PERIOD,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`period` in seconds; `stream`: standard error if empty."""
        super().__init__(stream or sys.stderr)
        self._period, self._clock = period, clock
        self._places: OrderedDict[_Key, _Place] = OrderedDict()
        self._timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Called from any thread, with the lock of the handler."""
        now = self._clock()
        # Of an exception, its type: one place may report many kinds.
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        key = (record.pathname, record.lineno, kind)
        place = self._places.get(key)
        if place is not None and now - place.since >= self._period:
            self._forget(key, now)
            place = None
        if place is None:
            place = self._places[key] = _Place(now, _like(record, record.getMessage()))
        self._places.move_to_end(key)
        if len(self._places) > _PLACES:
            self._forget(next(iter(self._places)), now)
        if place.written < _MOST:
            place.written += 1
            super().emit(record)
            return
        place.leave_out(record.getMessage())
        if self._timer is None:
            self._start_timer(place.since + self._period - now)

    def close(self) -> None:
        """Write the counts that are due and those that are not."""
        self.acquire()
        try:
            if self._timer is not None:
                self._timer.cancel()
            for key in list(self._places):
                self._forget(key, self._clock())
        finally:
            self.release()
        super().close()

    def _start_timer(self, seconds: float) -> None:
        self._timer = threading.Timer(max(0.0, seconds), self._write_due)
        self._timer.daemon = True
        self._timer.start()

    def _write_due(self) -> None:
        """Write the counts of places whose period is over, and wait for the next one."""
        self.acquire()
        try:
            now, self._timer = self._clock(), None
            for key, place in list(self._places.items()):
                if now - place.since >= self._period:
                    self._forget(key, now)
            waiting = [place.since for place in self._places.values() if place.left_out]
            if waiting:
                self._start_timer(min(waiting) + self._period - now)
        finally:
            self.release()

    def _forget(self, key: _Key, now: float) -> None:
        """A place begins anew; what was left out of it is written."""
        place = self._places.pop(key)
        if not place.left_out:
            return
        for line in place.lines(now - place.since):
            super().emit(_like(place.first, line))


def _like(record: logging.LogRecord, text: str) -> logging.LogRecord:
    """A record of the same level and logger with another text; it keeps no frames alive."""
    without = {"args": None, "exc_info": None, "exc_text": None, "stack_info": None}
    return logging.makeLogRecord({**vars(record), "msg": text, **without})
