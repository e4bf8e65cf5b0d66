"""What the condition indicators of a machine were while it was learned: the reference of changes.

Frozen: it belongs to the time it was learned in and changes only when a person learns a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ssdpt.errors import SsdptError
from ssdpt.features.indicators import Indicators
from ssdpt.sentences import Sentence

STEPS_AVERAGED = 12  # snapshots or seconds: two minutes of snapshots taken every ten seconds
KURTOSIS_STEPS = 30  # kurtosis swings more than levels do
FEWEST_STEPS = 40
_LEVELS = ("usual_db", "highest_db", "lowest_db")  # each (1 + bands,): the whole level, the bands


@dataclass(frozen=True, slots=True)
class IndicatorBaseline:
    """Levels in dB, the whole first and then the bands; logarithms of kurtosis likewise.

    Highest and lowest are those of means over `STEPS_AVERAGED` steps, of kurtosis over
    `KURTOSIS_STEPS`. What lies between them is how far the machine moved by itself while it was
    well.
    """

    usual_db: np.ndarray  # (1 + bands,)
    highest_db: np.ndarray
    lowest_db: np.ndarray
    highest_log_kurtosis: np.ndarray  # (1 + bands,)
    steps: int  # snapshots or seconds it was learned from
    learned_at: float  # seconds since 1970

    @classmethod
    def learn(cls, steps: Sequence[Indicators], learned_at: float) -> Self:
        """From normal seconds or snapshots, in order of time."""
        if len(steps) < FEWEST_STEPS:
            raise SsdptError(
                Sentence("machines.tooFewSnapshots", snapshots=len(steps), fewest=FEWEST_STEPS)
            )
        levels = np.array([levels_of(step) for step in steps])  # (steps, 1 + bands)
        kurtosis = np.array([log_kurtosis_of(step) for step in steps])
        means = _moving_mean(levels, STEPS_AVERAGED)
        return cls(
            usual_db=np.median(levels, axis=0),
            highest_db=means.max(0),
            lowest_db=means.min(0),
            highest_log_kurtosis=_moving_mean(kurtosis, KURTOSIS_STEPS).max(0),
            steps=len(steps),
            learned_at=learned_at,
        )

    def joined(self, other: IndicatorBaseline) -> Self:
        """With what was highest and lowest in either; the usual level stays."""
        return replace(
            self,
            highest_db=np.maximum(self.highest_db, other.highest_db),
            lowest_db=np.minimum(self.lowest_db, other.lowest_db),
            highest_log_kurtosis=np.maximum(self.highest_log_kurtosis, other.highest_log_kurtosis),
            steps=self.steps + other.steps,
        )

    @property
    def drift_db(self) -> np.ndarray:
        """(1 + bands,): how far levels moved while they were learned."""
        return self.highest_db - self.lowest_db

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        state: dict[str, Any] = {name: getattr(self, name).round(3).tolist() for name in _LEVELS}
        state["highest_log_kurtosis"] = self.highest_log_kurtosis.round(4).tolist()
        return state | {"steps": self.steps, "learned_at": self.learned_at}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        return cls(
            **{name: np.array(state[name], np.float64) for name in _LEVELS},
            highest_log_kurtosis=np.array(state["highest_log_kurtosis"], np.float64),
            steps=int(state["steps"]),
            learned_at=float(state["learned_at"]),
        )


def levels_of(step: Indicators) -> np.ndarray:
    """(1 + bands,) dB: the whole level and the bands."""
    return np.concatenate([[step.level_db], step.bands_db])


def log_kurtosis_of(step: Indicators) -> np.ndarray:
    """(1 + bands,): of the whole signal and of the bands."""
    return np.log(np.maximum(np.concatenate([[step.kurtosis], step.bands_kurtosis]), 1.0))


def _moving_mean(values: np.ndarray, steps: int) -> np.ndarray:
    """(all steps, n) to the means over `steps` in a row, (all steps − steps + 1, n)."""
    return sliding_window_view(values, steps, axis=0).mean(-1)
