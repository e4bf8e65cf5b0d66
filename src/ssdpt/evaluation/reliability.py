"""Requested false-alarm rates against those measured on normal test clips.

A clip raises an alarm at a requested rate if its p-value is below that rate, which means that its
score is above the threshold of the model's calibration for that rate. Nothing is fitted here.
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
class MeasuredRate:
    """The share of normal clips that raise an alarm at the requested rate."""

    requested: float
    clips: int
    alarms: int
    low: float  # exact 95 % interval of the rate
    high: float

    @property
    def rate(self) -> float:
        return self.alarms / self.clips

    @property
    def as_requested(self) -> bool:
        """Whether the requested rate lies within the interval of the measured one."""
        return self.low <= self.requested <= self.high


@dataclass(frozen=True, slots=True)
class Reliability:
    """One machine type and domain, over all of its sections."""

    machine: str
    domain: str
    rates: tuple[MeasuredRate, ...]
    curve: tuple[MeasuredRate, ...]

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
            **{f"at {share(rate.requested)}": _measured(rate) for rate in self.rates},
        }

    @property
    def deviations(self) -> list[str]:
        """A sentence for each requested rate that lies outside its interval."""
        return [
            f"{self.machine}, {self.domain} domain: {share(rate.requested)} false alarms "
            f"requested, but {rate.alarms} of {count(rate.clips, 'normal clip')} raise one, "
            f"{_measured(rate)}: {_consequence(rate)}."
            for rate in self.rates
            if not rate.as_requested
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values for metrics.json."""
        return {
            "machine": self.machine,
            "domain": self.domain,
            "clips": self.clips,
            "rates": [
                {**asdict(rate), "rate": rate.rate, "as_requested": rate.as_requested}
                for rate in self.rates
            ],
        }

    def curve_rows(self) -> list[list[str | float]]:
        """The curve, a row per requested rate, with the columns of `COLUMNS`."""
        return [
            [
                *(self.machine, self.domain, rate.requested),
                *(rate.clips, rate.alarms, rate.rate, rate.low, rate.high),
            ]
            for rate in sorted({*self.rates, *self.curve}, key=lambda rate: rate.requested)
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
            rates=measured_rates(groups[machine, domain], RATES),
            curve=measured_rates(groups[machine, domain], CURVE),
        )
        for machine, domain in order
    )


def measured_rates(p_values: Sequence[float], rates: Iterable[float]) -> tuple[MeasuredRate, ...]:
    """The measured rate for each of the requested `rates`, from p-values of normal clips."""
    values = np.asarray(p_values, float)
    measured = []
    for rate in rates:
        alarms = int((values < rate).sum())
        measured.append(
            MeasuredRate(rate, len(values), alarms, *exact_interval(alarms, len(values)))
        )
    return tuple(measured)


def exact_interval(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share by Clopper and Pearson: its coverage is at least 95 %."""
    low = stats.beta.ppf(0.025, hits, trials - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1.0
    return float(low), float(high)


def share(rate: float) -> str:
    """A requested rate in per cent, without trailing zeros."""
    return f"{100 * rate:g} %"


def _measured(rate: MeasuredRate) -> str:
    return f"{100 * rate.rate:.1f} % ({100 * rate.low:.1f}–{100 * rate.high:.1f} %)"


def _consequence(rate: MeasuredRate) -> str:
    if rate.rate > rate.requested:
        return "more false alarms than requested"
    return "fewer false alarms than requested, and therefore more misses"
