"""Whether thresholds keep their word: false-alarm rates asked for, and found on normal test clips.

A clip raises an alarm at a rate where its p-value is below it, which is where its score is above
the threshold that the model's own calibration gives for that rate: nothing is fitted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from ssdpt.evaluation.clips import ScoredClip, count
from ssdpt.evaluation.tables import DOMAINS

RATES = (0.01, 0.05, 0.1)
CURVE = tuple(np.geomspace(0.005, 0.5, 41).tolist())
COLUMNS = ("machine", "domain", "requested", "clips", "alarms", "rate", "low", "high")


@dataclass(frozen=True, slots=True)
class Reached:
    """The share of normal clips that raise an alarm where the share `requested` was asked for."""

    requested: float
    clips: int
    alarms: int
    low: float  # exact 95 % interval of the rate
    high: float

    @property
    def rate(self) -> float:
        return self.alarms / self.clips

    @property
    def is_kept(self) -> bool:
        """Whether the rate asked for may be the true one, for all that so many clips can show."""
        return self.low <= self.requested <= self.high


@dataclass(frozen=True, slots=True)
class Reliability:
    """One machine type and domain, all of its sections together."""

    machine: str
    domain: str
    rates: tuple[Reached, ...]
    curve: tuple[Reached, ...]

    @property
    def clips(self) -> int:
        """Normal test clips."""
        return self.rates[0].clips

    @property
    def row(self) -> dict[str, str]:
        """The rates as text; keys are headings."""
        return {
            "machine": self.machine,
            "domain": self.domain,
            "normal clips": str(self.clips),
            **{f"at {share(found.requested)}": _measured(found) for found in self.rates},
        }

    @property
    def sentences(self) -> list[str]:
        """What to know where a rate asked for lies outside the interval."""
        return [
            f"{self.machine}, {self.domain} domain: where {share(found.requested)} false alarms "
            f"were asked for, {found.alarms} of {count(found.clips, 'normal clip')} raise one, "
            f"{_measured(found)}: {_consequence(found)}."
            for found in self.rates
            if not found.is_kept
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values for metrics.json."""
        return {
            "machine": self.machine,
            "domain": self.domain,
            "clips": self.clips,
            "rates": [
                {**asdict(found), "rate": found.rate, "kept": found.is_kept} for found in self.rates
            ],
        }

    def curve_rows(self) -> list[list[str | float]]:
        """The curve, a row for each rate asked for, in the order of `COLUMNS`."""
        return [
            [
                *(self.machine, self.domain, found.requested),
                *(found.clips, found.alarms, found.rate, found.low, found.high),
            ]
            for found in sorted({*self.rates, *self.curve}, key=lambda found: found.requested)
        ]


def reliabilities(clips: Iterable[ScoredClip]) -> tuple[Reliability, ...]:
    """By machine and domain, from the p-values of the normal clips among `clips`."""
    groups: dict[tuple[str, str], list[float]] = {}
    for clip in clips:
        if not clip.is_faulty:
            key = clip.recording.machine, clip.recording.domain
            groups.setdefault(key, []).append(clip.score.p_value)
    order = sorted(groups, key=lambda key: (key[0], DOMAINS.index(key[1])))
    return tuple(
        Reliability(
            machine=machine,
            domain=domain,
            rates=reached(groups[machine, domain], RATES),
            curve=reached(groups[machine, domain], CURVE),
        )
        for machine, domain in order
    )


def reached(p_values: Sequence[float], rates: Iterable[float]) -> tuple[Reached, ...]:
    """What each of `rates` comes to on normal clips with these p-values."""
    values = np.asarray(p_values, float)
    found = []
    for rate in rates:
        alarms = int((values < rate).sum())
        found.append(Reached(rate, len(values), alarms, *exact_interval(alarms, len(values))))
    return tuple(found)


def exact_interval(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share by Clopper and Pearson: never covers less than it says."""
    low = stats.beta.ppf(0.025, hits, trials - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1.0
    return float(low), float(high)


def share(rate: float) -> str:
    """A rate asked for in per cent, without needless digits."""
    return f"{100 * rate:g} %"


def _measured(found: Reached) -> str:
    return f"{100 * found.rate:.1f} % ({100 * found.low:.1f}–{100 * found.high:.1f} %)"


def _consequence(found: Reached) -> str:
    if found.rate > found.requested:
        return "more false alarms than asked for"
    return "fewer false alarms than asked for, and so more misses"
