"""Whether a machine runs, from its sound level: a machine that is off is not judged."""

from __future__ import annotations

from collections import deque

import numpy as np

OFF_BELOW_DB = 12.0  # below the usual level, the machine is off
_ON_ABOVE_DB = 9.0  # below the usual level; on again above this
_MIN_SECONDS = 3.0  # that a change must last
_LEVELS_KEPT = 600  # seconds of running, whose median is the usual level
_FEWEST_LEVELS = 20  # seconds, to know the usual level


class RunningDetector:
    """Whether the machine runs.

    The threshold is configured, or learned: a number of dB below the usual level, or below the
    quietest operating point once the operating points are known.
    """

    def __init__(
        self,
        off_below_dbfs: float | None,
        usual_dbfs: float | None = None,
        *,
        min_seconds: float = _MIN_SECONDS,
    ) -> None:
        """`min_seconds`: that a change must last; 0 for snapshots, which lie far apart."""
        self.off_below_dbfs = off_below_dbfs  # configured; None: learned
        self.running = True
        self._min_seconds = min_seconds
        self._levels: deque[float] = deque(maxlen=_LEVELS_KEPT)
        if usual_dbfs is not None:
            self._levels.extend([usual_dbfs] * _FEWEST_LEVELS)
        self._changing_since: float | None = None

    @property
    def usual_dbfs(self) -> float | None:
        """The median level while running; None until it is known."""
        if len(self._levels) < _FEWEST_LEVELS:
            return None
        return float(np.median(self._levels))

    def update(self, time: float, dbfs: float, quietest_dbfs: float | None = None) -> bool:
        """Whether the machine runs, after a second at this level.

        `quietest_dbfs`: level of its quietest operating point.
        """
        off, on = self._thresholds(quietest_dbfs)
        looks_running = dbfs >= (off if self.running else on)
        if looks_running == self.running:
            self._changing_since = None
        else:
            self._changing_since = time if self._changing_since is None else self._changing_since
            if time - self._changing_since >= self._min_seconds:
                self.running, self._changing_since = looks_running, None
        return self.running

    def learn(self, dbfs: float) -> None:
        """The machine ran normally at this level for a second; a loud fault is not usual."""
        self._levels.append(dbfs)

    def pause(self) -> None:
        """Forget a change that has not lasted yet."""
        self._changing_since = None

    def _thresholds(self, quietest_dbfs: float | None) -> tuple[float, float]:
        """Off below the first, on again above the second, in dBFS."""
        if self.off_below_dbfs is not None:
            return self.off_below_dbfs, self.off_below_dbfs + OFF_BELOW_DB - _ON_ABOVE_DB
        usual = self.usual_dbfs if quietest_dbfs is None else quietest_dbfs
        if usual is None:
            return -np.inf, -np.inf
        return usual - OFF_BELOW_DB, usual - _ON_ABOVE_DB
