"""Results for tables, figures and claims. In this package, only this module reads labels.

Every value exists twice: after the last epoch, and at the epoch that is best on the test labels
(`oracle`), as selected by the paper's code, which is impossible in practice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ssdpt.evaluation.metrics import Doubles, Estimate
from ssdpt.evaluation.tables import Draws, Row, estimate, harmonic, machine_draws
from ssdpt.experiments.paper.cells import CellClip
from ssdpt.experiments.paper.variants import Variant
from ssdpt.types import Floats

Measure = Literal["h_auc", "h_pauc", "official_2021", "official_2022"]
Epoch = Literal["last", "oracle"]
Mean = Literal["harmonic", "arithmetic"]
RESAMPLES = 500


@dataclass(frozen=True)
class MachineScores:
    """One variant, machine and seed. Scores: higher = more anomalous."""

    clips: tuple[CellClip, ...]
    value: Floats  # (clips,) after the last epoch
    oracle: Floats | None  # (clips,) at the epoch best on the test labels, if any
    oracle_epoch: int | None  # from 1; None without epochs, and for ensembles
    parts: Mapping[str, Floats]  # (clips,) each
    logs: tuple[str, ...]  # folders of the cells with these scores, relative to OUT


@dataclass(frozen=True, slots=True)
class Spread:
    """A value over the seeds."""

    mean: float
    deviation: float  # standard deviation over the seeds, 0 for one
    seeds: int


Lookup = Callable[[str, str, int], MachineScores | None]


class ExperimentResults:
    """Results by variant, machine and seed; a cell that failed or was left out has none."""

    def __init__(
        self,
        variants: Mapping[str, Variant],
        machines: Sequence[str],
        seeds: Sequence[int],
        lookup: Lookup,
        *,
        quick: bool = False,
        notes: Sequence[str] = (),
        failures: Mapping[str, str] | None = None,
    ) -> None:
        self.variants = dict(variants)
        self.machines = tuple(machines)
        self.seeds = tuple(seeds)
        self.quick = quick  # a smoke run, not comparable
        self.notes = tuple(notes)  # what is missing in the data, and how it was handled
        self.failures = dict(failures or {})  # name of the cell -> why
        self.scores = cache(lookup)
        self._draws = cache(self._measure)

    def machines_of(self, variant: str) -> list[str]:
        """Machines with results for at least one seed."""
        return [
            machine
            for machine in self.machines
            if any(self.scores(variant, machine, seed) for seed in self.seeds)
        ]

    def spread(
        self, variant: str, machine: str, measure: Measure = "h_auc", epoch: Epoch = "last"
    ) -> Spread | None:
        """A metric of one machine; None if nothing was measured."""
        return _spread([self._point(variant, (machine,), s, measure, epoch) for s in self.seeds])

    def overall(
        self,
        variant: str,
        measure: Measure = "h_auc",
        epoch: Epoch = "last",
        mean: Mean = "harmonic",
    ) -> Spread | None:
        """The mean over machines, harmonic ("All" in Table II) or arithmetic (Table I).

        A seed with a missing machine is left out: all means must cover the same machines.
        """
        machines = self.machines_of(variant)
        over_seeds = []
        for seed in self.seeds:
            values = [self._point(variant, (m,), seed, measure, epoch) for m in machines]
            available = [value for value in values if value is not None]
            if available and len(available) == len(machines):
                over_seeds.append(_mean(np.array(available), mean))
        return _spread(over_seeds)

    def difference(
        self,
        better: str,
        worse: str,
        machines: Sequence[str] | None = None,
        measure: Measure = "h_auc",
        mean: Mean = "harmonic",
    ) -> Estimate | None:
        """How much `better` is ahead over the common machines, with a 95 % interval.

        The same clips and seeds are resampled for both, so that common variation cancels.
        """
        common = [m for m in machines or self.machines if self._both(better, worse, m)]
        seeds = [s for s in self._seeds_of(better, common) if s in self._seeds_of(worse, common)]
        if not common or not seeds:
            return None
        first, second = (
            self._column(name, common, seeds, measure, mean) for name in (better, worse)
        )
        return estimate(first - second)

    def interval(
        self,
        variant: str,
        machines: Sequence[str] | None = None,
        measure: Measure = "h_auc",
        mean: Mean = "harmonic",
    ) -> Estimate | None:
        """A metric over machines (default: all), 95 % interval over resampled clips and seeds."""
        available = [m for m in machines or self.machines if m in self.machines_of(variant)]
        seeds = self._seeds_of(variant, available)
        if not available or not seeds:
            return None
        return estimate(self._column(variant, available, seeds, measure, mean))

    def _both(self, one: str, other: str, machine: str) -> bool:
        return any(
            self.scores(one, machine, seed) and self.scores(other, machine, seed)
            for seed in self.seeds
        )

    def _seeds_of(self, variant: str, machines: Sequence[str]) -> list[int]:
        """Seeds with results for every machine: all means must cover the same machines."""
        return [
            seed
            for seed in self.seeds
            if all(self.scores(variant, machine, seed) for machine in machines)
        ]

    def _column(
        self,
        variant: str,
        machines: Sequence[str],
        seeds: Sequence[int],
        measure: Measure,
        mean: Mean = "harmonic",
    ) -> Doubles:
        """Row 0 is the value, then the resamples: (1 + resamples,)."""
        of_seeds = []
        for seed in seeds:
            parts = [self._draws(variant, machine, seed, "last", RESAMPLES) for machine in machines]
            available = [part for part in parts if part is not None and part.auc.shape[1]]
            of_seeds.append(joined(available, measure, mean))
        return over_seeds(of_seeds)

    def _point(
        self, variant: str, machines: Sequence[str], seed: int, measure: Measure, epoch: Epoch
    ) -> float | None:
        parts = [self._draws(variant, machine, seed, epoch, 0) for machine in machines]
        available = [part for part in parts if part is not None and part.auc.shape[1]]
        return float(joined(available, measure)[0]) if available else None

    def _measure(
        self, variant: str, machine: str, seed: int, epoch: Epoch, resamples: int
    ) -> Draws | None:
        scores = self.scores(variant, machine, seed)
        if scores is None:
            return None
        values = scores.value if epoch == "last" else scores.oracle
        if values is None:
            return None
        return machine_draws(rows(scores.clips, values), resamples=resamples)


def over_seeds(of_seeds: Sequence[Doubles]) -> Doubles:
    """The mean over the seeds, from (1 + resamples, …) of each, in the same shape.

    Row 0 is over all seeds, every other row over as many seeds drawn with replacement: trainings
    differ as test clips do. The draws are the same for all that is compared.
    """
    stacked = np.stack(of_seeds)  # (seeds, 1 + resamples, …)
    seeds, count = stacked.shape[:2]
    drawn = np.random.default_rng(0).integers(seeds, size=(seeds, count))
    drawn[:, 0] = np.arange(seeds)
    mean: Doubles = stacked[drawn, np.arange(count)].mean(axis=0)
    return mean


def rows(clips: Sequence[CellClip], values: Floats) -> list[Row]:
    """Labelled scores as rows for the tables of `ssdpt evaluate`."""
    return [
        Row(clip.machine, clip.section, clip.domain, clip.label == "anomaly", float(value))
        for clip, value in zip(clips, values, strict=True)
    ]


def oracle_epoch(clips: Sequence[CellClip], epochs: Floats) -> int | None:
    """The index of the epoch with the best h-AUC on the labels; None without a choice or AUC."""
    if len(epochs) < 2:
        return None
    by_epoch = [machine_draws(rows(clips, values), resamples=0).auc for values in epochs]
    if not by_epoch[0].shape[1]:
        return None
    return int(np.argmax([harmonic(auc)[0] for auc in by_epoch]))


def joined(parts: Sequence[Draws], measure: Measure, mean: Mean = "harmonic") -> Doubles:
    """A metric over machine types, which have equal weights for any number of sections: (rows,)."""
    each = np.stack([_figure(part, measure) for part in parts], axis=1)  # (rows, machines)
    return harmonic(each) if mean == "harmonic" else each.mean(axis=1)


def _figure(part: Draws, measure: Measure) -> Doubles:
    """The harmonic mean over one machine's sections and domains, (rows,)."""
    areas = {
        "h_auc": [part.auc],
        "h_pauc": [part.pauc],
        "official_2021": [part.auc, part.pauc],
        "official_2022": [part.official_2022],
    }
    return harmonic(np.hstack(areas[measure]))


def _mean(values: Doubles, mean: Mean) -> float:
    return float(harmonic(values[None])[0] if mean == "harmonic" else values.mean())


def _spread(values: Sequence[float | None]) -> Spread | None:
    available = [value for value in values if value is not None]
    if not available:
        return None
    deviation = float(np.std(available, ddof=1)) if len(available) > 1 else 0.0
    return Spread(float(np.mean(available)), deviation, len(available))
