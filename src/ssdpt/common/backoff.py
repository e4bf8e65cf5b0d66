"""How long to wait before trying again."""

from __future__ import annotations

import random
from typing import Self

FIRST, LONGEST = 0.5, 30.0  # seconds
_LEAST_SHARE = 0.5  # of a wait, at random: many clients must not return at the same moment


class Backoff:
    """Seconds to wait after the first failure, the second, …: twice as long each time."""

    def __init__(self, rng: random.Random | None = None) -> None:
        self._rng = rng or random.Random()
        self._wait = FIRST

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> float:
        wait = self._wait * self._rng.uniform(_LEAST_SHARE, 1.0)
        self._wait = min(2 * self._wait, LONGEST)
        return wait

    def reset(self) -> None:
        """Start again with the shortest wait, after a success."""
        self._wait = FIRST
