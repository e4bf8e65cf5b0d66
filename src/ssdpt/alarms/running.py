"""Whether a machine runs, by how loud it is: a machine that is off is not judged."""

from __future__ import annotations

from collections import deque

import numpy as np

_MARGIN_DB = 12.0  # quieter than it usually runs by so much is off
_BACK_DB = 9.0  # and on again above this
_PATIENCE = 3.0  # seconds
_MEMORY = 600  # levels of running, which is what is usual
_LEAST = 20  # of them, to know


class RunningDetector:
    """Whether the machine runs.

    The limit is given, or learnt: so many dB below the level that it usually runs at, or below
    its quietest operating point where these are known.
    """

    def __init__(self, off_below_dbfs: float | None, usual_dbfs: float | None = None) -> None:
        self.given = off_below_dbfs
        self.running = True
        self._levels: deque[float] = deque(maxlen=_MEMORY)
        if usual_dbfs is not None:
            self._levels.extend([usual_dbfs] * _LEAST)
        self._turned: float | None = None  # since when it looks otherwise

    @property
    def usual_dbfs(self) -> float | None:
        """How loud it runs; None while that is not known."""
        if len(self._levels) < _LEAST:
            return None
        return float(np.median(self._levels))

    def update(self, time: float, dbfs: float, quietest_dbfs: float | None = None) -> bool:
        """Whether it runs, after a second at this level.

        `quietest_dbfs` is that of its operating points at which it is quietest.
        """
        off, on = self._limits(quietest_dbfs)
        looks_running = dbfs >= (off if self.running else on)
        if looks_running == self.running:
            self._turned = None
        else:
            self._turned = time if self._turned is None else self._turned
            if time - self._turned >= _PATIENCE:
                self.running, self._turned = looks_running, None
        return self.running

    def settle(self, dbfs: float) -> None:
        """It ran at this level for a second, and nothing was odd: a loud fault is not usual."""
        self._levels.append(dbfs)

    def pause(self) -> None:
        """What seemed to begin is forgotten."""
        self._turned = None

    def _limits(self, quietest_dbfs: float | None) -> tuple[float, float]:
        """Off below the first, on again above the second, in dBFS."""
        if self.given is not None:
            return self.given, self.given + _MARGIN_DB - _BACK_DB
        usual = self.usual_dbfs if quietest_dbfs is None else quietest_dbfs
        if usual is None:
            return -np.inf, -np.inf
        return usual - _MARGIN_DB, usual - _BACK_DB
