"""How far a machine's condition has left what was learned, in limits that engineers use.

No model and no statistics of scores are needed: every rule compares a level or a kurtosis with the
highest that was learned. A score of 1 is the limit of an alert, 2 that of an alarm.

Machines drift and run in, and a limit wide enough for that misses the end. So what makes an alarm
early is what drift does not do: several bands at once, a sudden rise, or knocks. A single band that
rises slowly must triple its amplitude. The highest band may rise tenfold before it is more than an
alert: it moves with temperature and lubricating film, and with the resonance of the sensor.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ssdpt.alarms.indicator_baseline import (
    KURTOSIS_STEPS,
    STEPS_AVERAGED,
    IndicatorBaseline,
    levels_of,
    log_kurtosis_of,
)
from ssdpt.features.indicators import BANDS, Indicators

ChangeReason = Literal["", "level", "band", "two_bands", "three_bands", "sudden", "knocks"]

ALERT, ALARM = 1.0, 2.0  # scores
_SUDDEN_STEPS = 18  # steps ago; what is far above everything before then is sudden
_DRIFT_SHARE = 0.5  # of the drift while learning that limits of slow changes are widened by


@dataclass(frozen=True, slots=True)
class Limit:
    """From where on a change is an alert and an alarm, in the unit of the change."""

    alert: float
    alarm: float

    def score(self, excess: float) -> float:
        """0 for no change, 1 at the limit of an alert, 2 at that of an alarm; straight between."""
        if excess <= self.alert:
            return excess / self.alert
        return 1 + (excess - self.alert) / (self.alarm - self.alert)


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """dB above the highest level learned: twice the amplitude is 6 dB, ten times is 20 dB.

    Of knocks, the logarithm of the ratio to the highest kurtosis learned, in two places at once:
    the whole signal and a band, or two bands. Knocks in one place come and go with running-in.
    """

    level: Limit = Limit(3.0, 6.0)
    band: Limit = Limit(6.0, 10.0)
    highest_band: Limit = Limit(6.0, 18.0)
    two_bands: Limit = Limit(5.0, 7.0)
    three_bands: Limit = Limit(3.5, 5.0)
    sudden: Limit = Limit(4.5, 6.0)
    knocks: Limit = Limit(float(np.log(1.2)), float(np.log(1.4)))

    def of_bands(self) -> tuple[Limit, ...]:
        """Of each band by itself, the lowest first."""
        return (self.band,) * (BANDS - 1) + (self.highest_band,)


DEFAULT_LIMITS = ChangeLimits()


@dataclass(frozen=True, slots=True)
class Change:
    """How far one second or snapshot lies from what was learned, and by which rule."""

    score: float
    reason: ChangeReason
    band: int | None  # the band that changed most; None: the whole signal


class ChangeScore:
    """Scores the seconds or snapshots of one machine, in order of time."""

    def __init__(
        self,
        baseline: IndicatorBaseline,
        *,
        slow_changes_only: bool = False,
        limits: ChangeLimits = DEFAULT_LIMITS,
    ) -> None:
        """`slow_changes_only`: level and single bands count alone, neither jumps nor knocks.

        A microphone hears doors, forklifts and voices too; the whole level has the limit of a
        band then.
        """
        self.baseline, self.limits = baseline, limits
        self._slow_changes_only = slow_changes_only
        self._kurtosis: deque[np.ndarray] = deque(maxlen=KURTOSIS_STEPS)
        self._levels: deque[np.ndarray] = deque(maxlen=STEPS_AVERAGED)
        # Means of the last steps, and the highest of all means before them.
        self._means: deque[np.ndarray] = deque(maxlen=_SUDDEN_STEPS)
        self._highest_before = baseline.highest_db

    def update(self, step: Indicators) -> Change:
        """The change with this second or snapshot."""
        levels, limits = levels_of(step), self.limits
        above = levels - self.baseline.highest_db  # (1 + bands,) dB
        loudest, highest = int(np.argmax(above[1:])), len(above) - 2
        most_changed = int(np.argmax(above[1:-1]))  # of all but the highest
        level = limits.band if self._slow_changes_only else limits.level
        changes = [
            Change(level.score(float(above[0])), "level", None),
            Change(limits.band.score(float(above[1 + most_changed])), "band", most_changed),
            Change(limits.highest_band.score(float(above[-1])), "band", highest),
        ]
        if not self._slow_changes_only:
            changes += self._broad_and_fast(step, levels, above, loudest)
        largest = max(changes, key=lambda change: change.score)
        return largest if largest.score > 0 else Change(0.0, "", None)

    def _broad_and_fast(
        self, step: Indicators, levels: np.ndarray, above: np.ndarray, loudest: int
    ) -> list[Change]:
        """Several bands at once, sudden rises, knocks."""
        limits = self.limits
        beyond_drift = np.sort((above - _DRIFT_SHARE * self.baseline.drift_db)[1:])[::-1]
        sudden = levels[1:] - self._remember(levels)[1:]
        most_sudden = int(np.argmax(sudden))
        self._kurtosis.append(log_kurtosis_of(step))
        knocks = self._knocks()
        first, second = np.argsort(knocks)[::-1][:2].tolist()
        knocking = first or second  # 0 is the whole signal: the band says more
        return [
            Change(limits.two_bands.score(float(beyond_drift[1])), "two_bands", loudest),
            Change(limits.three_bands.score(float(beyond_drift[2])), "three_bands", loudest),
            Change(limits.sudden.score(float(sudden[most_sudden])), "sudden", most_sudden),
            Change(
                limits.knocks.score(float(knocks[second])),
                "knocks",
                knocking - 1,
            ),
        ]

    def _remember(self, levels: np.ndarray) -> np.ndarray:
        """Take levels up, and give the highest mean (1 + bands,) of what came well before."""
        if len(self._means) == _SUDDEN_STEPS:
            self._highest_before = np.maximum(self._highest_before, self._means[0])
        self._levels.append(levels)
        if len(self._levels) == STEPS_AVERAGED:
            self._means.append(np.mean(self._levels, axis=0))
        return self._highest_before

    def _knocks(self) -> np.ndarray:
        """(bands,): the mean log kurtosis of the last steps above the highest one learned.

        Of the whole signal and all bands but the highest.
        """
        learned = self.baseline.highest_log_kurtosis[:-1]
        if len(self._kurtosis) < KURTOSIS_STEPS:
            return np.zeros_like(learned)
        return np.mean(self._kurtosis, axis=0)[:-1] - learned
