"""The rule by which work is left out while scoring cannot keep up, and taken up again.

First fewer segments are scored, then fewer seconds are looked at; machines in alert or alarm come
first. Shares and seconds in, turns out: no clock, no thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Turn = Literal["score", "read", "skip"]  # what is done with a second of a machine


@dataclass(frozen=True, slots=True)
class SheddingDegree:
    """How much is left out."""

    score_every: int  # of the segments that are new, one in so many is scored
    second_every: int  # one second of a machine in so many is looked at

    @property
    def left_out(self) -> str:
        """For the log."""
        segments = f"one in {self.score_every} segments is scored"
        if self.second_every == 1:
            return segments
        return f"{segments}, one in {self.second_every} seconds of a machine is looked at"


# None is longer than the pause after which a machine is judged anew.
DEGREES = (
    SheddingDegree(1, 1),
    SheddingDegree(2, 1),
    SheddingDegree(4, 1),
    SheddingDegree(4, 2),
    SheddingDegree(4, 4),
    SheddingDegree(8, 8),
)
_BUSY = 0.85  # share of the time; beyond it more is left out
_ROOM = 0.7  # share of the time that the work of a lower degree may take
_CALM = 20.0  # seconds with so much room before less is left out
_LONGEST_CALM = 640.0
_TOO_SOON = 60.0  # seconds; if more must be left out so soon again, the next try waits longer
_STABLE = 600.0  # seconds after which it waits as short as at first
_MOST_URGENT = 0.25  # share of the machines that may be urgent and are spared


@dataclass(slots=True)
class _Waiting:
    """Seconds of one machine since it was last looked at, and scored."""

    read: int = 0
    scored: int = 0


class LoadShedding:
    """How much is left out now, and whose turn it is.

    >>> shedding = LoadShedding()
    >>> shedding.turn("fan-1", 1)
    'score'
    >>> shedding.update(3.0, scoring=0.7, other=0.3)  # always busy
    True
    >>> [shedding.turn("fan-1", 1) for _ in range(4)]
    ['read', 'score', 'read', 'score']
    """

    def __init__(self) -> None:
        self.number = 0  # of the degree; 0: nothing is left out
        self._waiting: dict[str, _Waiting] = {}
        self._urgent: set[str] = set()
        self._calm = 0.0  # seconds in which a lower degree had room
        self._needed_calm = _CALM
        self._since_lowered = _STABLE  # seconds

    @property
    def degree(self) -> SheddingDegree:
        return DEGREES[self.number]

    def turn(self, machine: str, seconds: int, *, urgent: bool = False) -> Turn:
        """What to do with a new second of a machine, `seconds` after the last that was offered.

        `urgent`: it is in alert or alarm, or about to be.
        """
        waiting = self._waiting.setdefault(machine, _Waiting(self.degree.second_every))
        waiting.read += seconds
        waiting.scored += seconds
        (self._urgent.add if urgent else self._urgent.discard)(machine)
        spared = self._is_spared(machine)
        if not spared and waiting.read < self.degree.second_every:
            return "skip"
        waiting.read = 0
        if not spared and waiting.scored < self.degree.score_every:
            return "read"
        waiting.scored = 0
        return "score"

    def segments_every(self, machine: str) -> int:
        """Of the new segments of a machine, one in so many is scored."""
        return 1 if self._is_spared(machine) else self.degree.score_every

    def keep_only(self, machines: Iterable[str]) -> None:
        """Forget machines that are no longer monitored."""
        known = set(machines)
        self._waiting = {id: one for id, one in self._waiting.items() if id in known}
        self._urgent &= known

    def update(self, seconds: float, *, scoring: float, other: float) -> bool:
        """Take how busy the last `seconds` were; whether the degree has changed.

        `scoring` and `other` work as shares of the time.
        """
        self._since_lowered += seconds
        if scoring + other > _BUSY:
            return self._raise()
        if self.number == 0:
            return False
        self._calm = self._calm + seconds if self._lower_has_room(scoring, other) else 0.0
        if self._calm < self._needed_calm:
            return False
        self._change(self.number - 1)
        self._since_lowered = 0.0
        return True

    def _raise(self) -> bool:
        self._calm = 0.0
        if self.number == len(DEGREES) - 1:
            return False
        if self._since_lowered < _TOO_SOON:
            self._needed_calm = min(2 * self._needed_calm, _LONGEST_CALM)
        elif self._since_lowered >= _STABLE:
            self._needed_calm = _CALM
        self._change(self.number + 1)
        return True

    def _lower_has_room(self, scoring: float, other: float) -> bool:
        lower = DEGREES[self.number - 1]
        scoring *= self.degree.score_every / lower.score_every
        other *= self.degree.second_every / lower.second_every
        return scoring + other < _ROOM

    def _change(self, number: int) -> None:
        self.number, self._calm = number, 0.0
        # One after the other: otherwise all have their turn in the same second.
        for place, waiting in enumerate(self._waiting.values()):
            waiting.read = place % self.degree.second_every
            waiting.scored = place % self.degree.score_every

    def _is_spared(self, machine: str) -> bool:
        few = len(self._urgent) <= max(1.0, _MOST_URGENT * len(self._waiting))
        return few and machine in self._urgent
