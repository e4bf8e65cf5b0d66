"""Results of the benchmark: by system and set, with intervals, domain gaps, times and sizes.

In this package, only this module reads labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ssdpt.bench.quality.systems import ComparedSystem
from ssdpt.data.sets import machine_type
from ssdpt.evaluation.domain_gap import DomainGap, domain_gap
from ssdpt.evaluation.metrics import Estimate
from ssdpt.experiments.paper.cells import CellScores
from ssdpt.experiments.paper.data import PaperData
from ssdpt.experiments.paper.results import (
    ExperimentResults,
    MachineScores,
    Measure,
    Spread,
    rows,
)
from ssdpt.experiments.paper.variants import Variant

Load = Callable[[ComparedSystem, str, int], CellScores | None]
_YEAR = re.compile(r"20\d\d")


@dataclass(frozen=True, slots=True)
class SetResult:
    """One system on one set: means over the seeds, intervals over resampled test clips."""

    official: Estimate  # 2022 definition
    deviation: float  # of the official score over the seeds, 0 for one
    h_auc: Estimate  # 2021 definition
    h_pauc: Estimate
    domains: DomainGap
    system: str  # that was used: another one where the system cannot learn from this set
    fit_seconds: float | None  # of all sets that were fitted with it
    score_seconds: float  # per test clip, on every core
    model_bytes: float  # of its model folder


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system on all sets."""

    system: ComparedSystem
    sets: dict[str, SetResult]  # without those that failed
    official: Estimate | None  # arithmetic mean over the sets; None unless all were measured
    spread: Spread | None  # of that mean over the seeds
    h_auc: Estimate | None  # arithmetic means over the sets
    h_pauc: Estimate | None
    fit_seconds: float | None  # of all sets


@dataclass(frozen=True, slots=True)
class SetFacts:
    """What a set is made of."""

    name: str
    machine: str  # its type
    year: int | None  # of the DCASE challenge, from the names of its folders
    sections: tuple[str, ...]
    source_clips: int  # for training, of all sections
    target_clips: int
    test_clips: int

    @property
    def measured_on(self) -> str:
        """For the column beside published figures."""
        number = len(self.sections)
        several = f"{number} sections" if number > 1 else "1 section"
        return (
            f"{several}, {_each(self.source_clips, number)} source and "
            f"{_each(self.target_clips, number)} target training clips each, "
            f"{_each(self.test_clips, number)} test clips each"
        )


class QualityResults:
    """The results of all systems on all sets."""

    def __init__(
        self,
        systems: Sequence[ComparedSystem],
        data: PaperData,
        seeds: int,
        load: Load,
        *,
        notes: Sequence[str] = (),
    ) -> None:
        self.systems, self.data, self.seeds = tuple(systems), data, seeds
        self._load, self._notes = load, tuple(notes)
        by_key = {system.key: system for system in systems}
        self._results = ExperimentResults(
            {key: Variant(key, system.label) for key, system in by_key.items()},
            data.machines,
            range(seeds),
            lambda key, machine, number: self._scores(by_key[key], machine, number),
        )

    @cached_property
    def rows(self) -> tuple[SystemResult, ...]:
        """In the order of the systems."""
        return tuple(self._row(system) for system in self.systems)

    @cached_property
    def facts(self) -> tuple[SetFacts, ...]:
        """What every set is made of."""
        return tuple(self._set_facts(machine) for machine in self.data.machines)

    @property
    def notes(self) -> list[str]:
        """What is missing, and where another system was used."""
        replaced = [
            f"{row.system.label}: cannot learn from {name}; system {result.system} was used there, "
            "as `ssdpt fit` does"
            for row in self.rows
            for name, result in row.sets.items()
            if result.system != row.system.config.system
        ]
        return [*self._notes, *replaced]

    @property
    def best(self) -> SystemResult | None:
        """The system with the highest mean official score."""
        complete = [row for row in self.rows if row.official is not None]
        return max(complete, key=_mean_official, default=None)

    def row(self, system: ComparedSystem) -> SystemResult:
        """The results of one system."""
        return next(row for row in self.rows if row.system == system)

    def _row(self, system: ComparedSystem) -> SystemResult:
        sets = {
            machine: result
            for machine in self.data.machines
            if (result := self._set_result(system, machine)) is not None
        }
        complete = len(sets) == len(self.data.machines)
        spread = self._results.overall(system.key, "official_2022", mean="arithmetic")
        return SystemResult(
            system=system,
            sets=sets,
            official=self._mean(system, "official_2022") if complete else None,
            spread=spread if complete else None,
            h_auc=self._mean(system, "h_auc") if complete else None,
            h_pauc=self._mean(system, "h_pauc") if complete else None,
            fit_seconds=self._fit_seconds(system, sets) if complete else None,
        )

    def _mean(self, system: ComparedSystem, measure: Measure) -> Estimate | None:
        return self._results.interval(system.key, measure=measure, mean="arithmetic")

    def _fit_seconds(self, system: ComparedSystem, sets: dict[str, SetResult]) -> float | None:
        seconds = [result.fit_seconds for result in sets.values()]
        known = [value for value in seconds if value is not None]
        if len(known) < len(seconds):
            return None
        return known[0] if system.fitted == "together" else sum(known)

    def _set_result(self, system: ComparedSystem, machine: str) -> SetResult | None:
        cells = [
            cell
            for number in range(self.seeds)
            if (cell := self._load(system, machine, number)) is not None
        ]
        estimates = [
            self._results.interval(system.key, [machine], measure)
            for measure in ("official_2022", "h_auc", "h_pauc")
        ]
        spread = self._results.spread(system.key, machine, "official_2022")
        official, h_auc, h_pauc = estimates
        if not cells or spread is None or official is None or h_auc is None or h_pauc is None:
            return None
        facts = [cell.facts for cell in cells]
        fits = [fact["fit_seconds"] for fact in facts if fact["fit_seconds"] is not None]
        return SetResult(
            official=official,
            deviation=spread.deviation,
            h_auc=h_auc,
            h_pauc=h_pauc,
            domains=self._domains(system, machine),
            system=facts[0]["systems"][machine],
            fit_seconds=float(np.mean(fits)) if fits else None,
            score_seconds=float(
                np.mean([cell.facts["score_seconds"] / len(cell.clips) for cell in cells])
            ),
            model_bytes=float(np.mean([fact["model_bytes"][machine] for fact in facts])),
        )

    def _domains(self, system: ComparedSystem, machine: str) -> DomainGap:
        """Means over the seeds."""
        gaps = [
            domain_gap(rows(scores.clips, scores.value))
            for number in range(self.seeds)
            if (scores := self._results.scores(system.key, machine, number)) is not None
        ]
        return DomainGap(
            auc_source=_mean(gap.auc_source for gap in gaps),
            auc_target=_mean(gap.auc_target for gap in gaps),
            pauc=_mean(gap.pauc for gap in gaps),
            shift=_mean(gap.shift for gap in gaps),
        )

    def _scores(self, system: ComparedSystem, machine: str, number: int) -> MachineScores | None:
        cell = self._load(system, machine, number)
        if cell is None:
            return None
        own = [index for index, clip in enumerate(cell.clips) if clip.machine == machine]
        return MachineScores(
            clips=tuple(cell.clips[index] for index in own),
            value=cell.value[own],
            oracle=None,
            oracle_epoch=None,
            parts={},
            logs=(),
        )

    def _set_facts(self, name: str) -> SetFacts:
        machine = self.data.by_machine[name]
        domains = Counter(recording.domain for recording in machine.train)
        return SetFacts(
            name=name,
            machine=machine_type(name),
            year=_year_of(str(machine.train[0].path.parent)),
            sections=tuple(sorted(machine.sections)),
            source_clips=domains["source"],
            target_clips=domains["target"],
            test_clips=len(machine.test),
        )


def _year_of(folder: str) -> int | None:
    years = _YEAR.findall(folder)
    return int(years[-1]) if years else None


def _each(clips: int, sections: int) -> str:
    return f"{clips / sections:.0f}"


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _mean_official(row: SystemResult) -> float:
    return row.official.value if row.official is not None else 0.0
