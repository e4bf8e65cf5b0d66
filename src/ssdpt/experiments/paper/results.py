"""What was measured, ready for tables, figures and claims. The only reader of labels here.

Every figure comes twice: after the last epoch, and at the epoch that looks best on the test labels
(`oracle`), which is how the paper's code chose and what nobody can do without labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ssdpt.evaluation.metrics import Doubles, Estimate
from ssdpt.evaluation.tables import Draws, Row, estimate, harmonic, machine_draws
from ssdpt.experiments.paper.cells import Clip
from ssdpt.experiments.paper.variants import Variant
from ssdpt.types import Floats

Measure = Literal["h_auc", "h_pauc", "official_2021", "official_2022"]
Epoch = Literal["last", "oracle"]
Mean = Literal["harmonic", "arithmetic"]
RESAMPLES = 500


@dataclass(frozen=True)
class MachineScores:
    """One variant, machine and seed. Scores: higher = more anomalous."""

    clips: tuple[Clip, ...]
    value: Floats  # (clips,) after the last epoch
    oracle: Floats | None  # (clips,) at the epoch best on the test labels; None without epochs
    oracle_epoch: int | None  # from 1; None without epochs, and where several networks are fused
    parts: Mapping[str, Floats]  # (clips,) each
    logs: tuple[str, ...]  # folders of the cells it rests on, relative to OUT


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the seeds."""

    mean: float
    deviation: float  # standard deviation over the seeds, 0 for one
    seeds: int


Lookup = Callable[[str, str, int], MachineScores | None]


class Results:
    """Figures by variant, machine and seed; a cell that failed or was left out has none."""

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
        self.notes = tuple(notes)  # what the data lacked, and what was done by rule
        self.failures = dict(failures or {})  # name of the cell -> why
        self.scores = cache(lookup)
        self._draws = cache(self._measure)

    def machines_of(self, variant: str) -> list[str]:
        """Machines of which at least one seed is there."""
        return [
            machine
            for machine in self.machines
            if any(self.scores(variant, machine, seed) for seed in self.seeds)
        ]

    def spread(
        self, variant: str, machine: str, measure: Measure = "h_auc", epoch: Epoch = "last"
    ) -> Spread | None:
        """A figure of one machine; None where nothing was measured."""
        return _spread([self._point(variant, (machine,), s, measure, epoch) for s in self.seeds])

    def overall(
        self,
        variant: str,
        measure: Measure = "h_auc",
        epoch: Epoch = "last",
        mean: Mean = "harmonic",
    ) -> Spread | None:
        """The mean of the machines' figures, harmonic (Table II's "All") or arithmetic (Table I).

        A machine that is missing for a seed leaves this seed out: means must be of the same.
        """
        machines = self.machines_of(variant)
        over_seeds = []
        for seed in self.seeds:
            values = [self._point(variant, (m,), seed, measure, epoch) for m in machines]
            known = [value for value in values if value is not None]
            if known and len(known) == len(machines):
                over_seeds.append(_mean(np.array(known), mean))
        return _spread(over_seeds)

    def difference(
        self,
        better: str,
        worse: str,
        machines: Sequence[str] | None = None,
        measure: Measure = "h_auc",
        mean: Mean = "harmonic",
    ) -> Estimate | None:
        """How much `better` is ahead, over the machines that both have, with a 95 % interval.

        Clips are resampled, the same ones for both, so that what is common to them cancels; the
        figures of the seeds are averaged first.
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
        """A figure over machines (all by default) with its 95 % interval over resampled clips."""
        found = [m for m in machines or self.machines if m in self.machines_of(variant)]
        seeds = self._seeds_of(variant, found)
        if not found or not seeds:
            return None
        return estimate(self._column(variant, found, seeds, measure, mean))

    def _both(self, one: str, other: str, machine: str) -> bool:
        return any(
            self.scores(one, machine, seed) and self.scores(other, machine, seed)
            for seed in self.seeds
        )

    def _seeds_of(self, variant: str, machines: Sequence[str]) -> list[int]:
        """Those of which every machine is there: means must be of the same."""
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
        """Row 0 is the figure, then the resamples, averaged over the seeds: (1 + resamples,)."""
        over_seeds = []
        for seed in seeds:
            parts = [self._draws(variant, machine, seed, "last", RESAMPLES) for machine in machines]
            known = [part for part in parts if part is not None and part.auc.shape[1]]
            over_seeds.append(joined(known, measure, mean))
        return np.mean(over_seeds, axis=0)

    def _point(
        self, variant: str, machines: Sequence[str], seed: int, measure: Measure, epoch: Epoch
    ) -> float | None:
        parts = [self._draws(variant, machine, seed, epoch, 0) for machine in machines]
        known = [part for part in parts if part is not None and part.auc.shape[1]]
        return float(joined(known, measure)[0]) if known else None

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


def rows(clips: Sequence[Clip], values: Floats) -> list[Row]:
    """Labelled scores as the tables of `ssdpt evaluate` take them."""
    return [
        Row(clip.machine, clip.section, clip.domain, clip.label == "anomaly", float(value))
        for clip, value in zip(clips, values, strict=True)
    ]


def oracle_epoch(clips: Sequence[Clip], epochs: Floats) -> int | None:
    """The epoch, from 0, with the best h-AUC on the labels; None where there are none."""
    if not len(epochs):
        return None
    found = [machine_draws(rows(clips, values), resamples=0).auc for values in epochs]
    if not found[0].shape[1]:
        return None
    return int(np.argmax([harmonic(auc)[0] for auc in found]))


def joined(parts: Sequence[Draws], measure: Measure, mean: Mean = "harmonic") -> Doubles:
    """A figure over machine types, each counting alike however many sections it has: (rows,)."""
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
    known = [value for value in values if value is not None]
    if not known:
        return None
    deviation = float(np.std(known, ddof=1)) if len(known) > 1 else 0.0
    return Spread(float(np.mean(known)), deviation, len(known))
