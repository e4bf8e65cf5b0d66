"""How busy the loop is: its work as shares of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_PERIOD = 3.0  # seconds


@dataclass(frozen=True, slots=True)
class Load:
    """Over the last seconds."""

    seconds: float
    scoring: float  # share of the time
    other: float  # work, likewise


class LoadMeter:
    """Adds up work until a period is over."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds, steady."""
        self._clock = clock
        self._restart()

    def _restart(self) -> None:
        self._begun = self._clock()
        self._scoring = self._other = 0.0

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Time spent inside is scoring."""
        begun = self._clock()
        try:
            yield
        finally:
            self._scoring += self._clock() - begun

    @contextmanager
    def working(self) -> Iterator[None]:
        """Time spent inside, but for scoring, is other work."""
        begun, scoring = self._clock(), self._scoring
        try:
            yield
        finally:
            self._other += self._clock() - begun - (self._scoring - scoring)

    def take(self) -> Load | None:
        """The load of the last period, once it is over."""
        seconds = self._clock() - self._begun
        if seconds < _PERIOD:
            return None
        load = Load(seconds, self._scoring / seconds, self._other / seconds)
        self._restart()
        return load
