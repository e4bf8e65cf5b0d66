"""How long to wait before trying again."""

from __future__ import annotations

import random
from typing import Self

FIRST, LONGEST = 0.5, 30.0  # seconds
_LEAST = 0.5  # of a wait, by chance: many machines must not call one server at one moment


class Backoff:
    """Seconds to wait after the first failure, the second, …: twice as long each time."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random.Random()
        self._wait = FIRST

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> float:
        wait = self._wait * self._chance.uniform(_LEAST, 1.0)
        self._wait = min(2 * self._wait, LONGEST)
        return wait

    def reset(self) -> None:
        """It works again."""
        self._wait = FIRST
