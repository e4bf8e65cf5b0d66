"""Whether something grows: the slope of a series with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

_BLOCKS = 24
_FEWEST = 3  # blocks that give an interval
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Slope:
    """Per hour, with its 95 % interval."""

    per_hour: float
    low: float
    high: float

    @property
    def flat(self) -> bool:
        """Whether no growth is shown: the interval reaches down to 0 or below."""
        return self.low <= 0


def slope(hours: Sequence[float], values: Sequence[float]) -> Slope | None:
    """The line of least squares through `values` measured at `hours`; None from too few.

    Neighbouring values are alike, so that the interval of single ones would be too narrow: the line
    goes through the means of blocks of equal length.
    """
    count = min(_BLOCKS, len(values))
    if count < _FEWEST:
        return None
    blocks = np.array_split(np.arange(len(values)), count)
    times = np.array([np.mean([hours[at] for at in block]) for block in blocks])
    means = np.array([np.mean([values[at] for at in block]) for block in blocks])
    line = stats.linregress(times, means)
    reach = float(stats.t.ppf((1 + _LEVEL) / 2, count - 2)) * line.stderr
    return Slope(line.slope, line.slope - reach, line.slope + reach)
