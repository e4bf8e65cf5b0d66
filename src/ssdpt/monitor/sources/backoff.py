"""How long to wait before trying again."""

from __future__ import annotations

import random

FIRST, LONGEST = 0.5, 30.0  # seconds
_JITTER = 0.2  # so that a whole plant does not knock at one server at the same moment


class Backoff:
    """Twice as long each time, until something lasted."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random.Random()
        self._wait = FIRST

    def next(self) -> float:
        """Seconds to wait now."""
        wait = self._wait * self._chance.uniform(1 - _JITTER, 1 + _JITTER)
        self._wait = min(2 * self._wait, LONGEST)
        return min(wait, LONGEST)

    def reset(self) -> None:
        """It works again."""
        self._wait = FIRST
