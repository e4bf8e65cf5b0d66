"""Result tables: metrics per section, domain and machine from labelled scores.

Both definitions of the challenge are computed. **2021** (the paper's): AUC and pAUC per section and
domain, from normal and anomalous clips of that domain. **2022**: the AUC of a domain compares its
normal clips with the anomalous clips of both domains, and pAUC covers the whole section. A cell
without both kinds of clip is left out of every mean and named in `notes`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssdpt.evaluation.metrics import (
    EPSILON,
    RESAMPLES,
    Doubles,
    Estimate,
    Flags,
    Rates,
    bootstrap,
    decision_rates,
    interval,
    is_defined,
    pauc_printed,
    weighted_areas,
)

# What a metric belongs to: the definition's year, the section and the domain.
Key = tuple[int, str, str]
Columns = dict[tuple[Key, str], Doubles]

DOMAINS = ("source", "target")
ROUGH_BELOW = 10  # normal or faulty clips: with fewer, intervals are too narrow


@dataclass(frozen=True, slots=True)
class Row:
    """One scored clip: `anomalous` is its label, `value` its score, higher = more anomalous."""

    machine: str
    section: str
    domain: str
    anomalous: bool
    value: float
    threshold: float = math.nan


@dataclass(frozen=True, slots=True)
class DomainResult:
    """One section and domain by the 2021 definition."""

    section: str
    domain: str
    auc: Estimate | None
    pauc: Estimate | None
    pauc_printed: float | None
    rates: Rates

    @property
    def description(self) -> str:
        """Section and domain as text; recordings outside DCASE may have no section."""
        return f"section {self.section}, {self.domain} domain".removeprefix("section , ")

    @property
    def is_rough(self) -> bool:
        """Whether its AUC is from too few clips for a reliable bootstrap interval."""
        return self.auc is not None and min(self.rates.normals, self.rates.anomalies) < ROUGH_BELOW


@dataclass(frozen=True, slots=True)
class Section:
    """One section by the 2022 definition; the rates are those of the clips of each domain."""

    section: str
    auc_source: Estimate | None
    auc_target: Estimate | None
    pauc: Estimate | None
    rates_source: Rates
    rates_target: Rates


@dataclass(frozen=True, slots=True)
class Means:
    """Means over cells, for one machine or for all; None if no cell is defined.

    `auc` and `pauc` are arithmetic, `h_auc` and `h_pauc` harmonic means over sections and domains
    (2021 definition). `official_2021` is the harmonic mean of all those AUC and pAUC values,
    `official_2022` that of AUC-source, AUC-target and pAUC over sections.
    """

    auc: Estimate | None
    pauc: Estimate | None
    h_auc: Estimate | None
    h_pauc: Estimate | None
    official_2021: Estimate | None
    official_2022: Estimate | None
    pauc_printed: float | None


@dataclass(frozen=True, slots=True)
class MachineResult:
    """All results of one machine type."""

    machine: str
    clips: int
    thresholds: tuple[float, ...]
    cells: tuple[DomainResult, ...]
    sections: tuple[Section, ...]
    means: Means
    rates: Rates
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draws:
    """Metrics of one machine's cells: row 0 from the clips as they are, then a row per resample.

    Each array is (1 + resamples, defined cells).
    """

    auc: Doubles
    pauc: Doubles
    official_2022: Doubles


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all machines, the means over all cells, and the rates over all clips."""

    machines: tuple[MachineResult, ...]
    means: Means
    rates: Rates

    def machine(self, name: str) -> MachineResult:
        """The result of one machine type."""
        return next(result for result in self.machines if result.machine == name)


def result_tables(rows: Iterable[Row], *, seed: int = 0, resamples: int = RESAMPLES) -> Results:
    """Result tables by both definitions, with 95 % intervals, from labelled scores."""
    by_machine: dict[str, list[Row]] = {}
    for row in rows:
        by_machine.setdefault(row.machine, []).append(row)
    measured = [_MachineClips(by_machine[machine]) for machine in sorted(by_machine)]
    machines, draws = [], []
    for clips in measured:
        columns = clips.columns(seed, resamples)
        draws.append(_draws(columns, resamples))
        machines.append(clips.result(columns, draws[-1]))
    cells = [cell for machine in machines for cell in machine.cells]
    return Results(
        machines=tuple(machines),
        means=_means(draws, cells),
        rates=_rates([row for members in by_machine.values() for row in members]),
    )


def machine_draws(rows: Sequence[Row], *, seed: int = 0, resamples: int = RESAMPLES) -> Draws:
    """The draws of one machine's clips; equal clips and seed give equal resamples.

    Without resamples there is only the first row: the metrics of the clips as they are.
    """
    return _draws(_MachineClips(rows).columns(seed, resamples), resamples)


def harmonic(draws: Doubles) -> Doubles:
    """Harmonic mean over the cells of every row, floored at float epsilon: (rows,)."""
    return draws.shape[1] / (1.0 / np.maximum(draws, EPSILON)).sum(axis=1)


def estimate(column: Doubles) -> Estimate:
    """Row 0 is the value, the other rows are its bootstrap draws."""
    value = float(column[0])
    return Estimate(value, *interval(value, column[1:]))


class _MachineClips:
    """The clips of one machine as arrays, and which of them belong to which metric."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.machine = rows[0].machine
        self.labels = np.array([row.anomalous for row in rows], bool)
        self.values = np.array([row.value for row in rows], float)
        self.section_of = np.array([row.section for row in rows])
        self.domain_of = np.array([row.domain for row in rows])
        self.sections = sorted({row.section for row in rows})
        self.domains = [domain for domain in DOMAINS if (self.domain_of == domain).any()]

    def subsets(self) -> dict[Key, Flags]:
        """Masks over the clips for every metric that is defined.

        A 2021 key selects the clips of one domain. A 2022 key selects the normal clips of a domain
        and all anomalous clips of the section; with an empty domain (for pAUC), the whole section.
        """
        masks: dict[Key, Flags] = {}
        for section in self.sections:
            inside = self.section_of == section
            for domain in self.domains:
                masks[2021, section, domain] = inside & (self.domain_of == domain)
                masks[2022, section, domain] = inside & ((self.domain_of == domain) | self.labels)
            masks[2022, section, ""] = inside
        return {key: mask for key, mask in masks.items() if is_defined(self.labels[mask])}

    def columns(self, seed: int, resamples: int) -> Columns:
        """AUC and pAUC of every subset: row 0 from the clips as they are, then the resamples."""
        subsets = self.subsets()
        if not subsets:
            return {}

        def areas(weights: NDArray[np.int64]) -> Doubles:
            columns: list[Doubles] = []
            for mask in subsets.values():
                columns += weighted_areas(self.labels[mask], self.values[mask], weights[:, mask])
            return np.stack(columns, axis=1)

        point = areas(np.ones((1, len(self.rows)), np.int64))  # every clip once
        keys = [(key, measure) for key in subsets for measure in ("auc", "pauc")]
        if not resamples:
            return {key: point[:, index] for index, key in enumerate(keys)}
        strata = [(row.section, row.domain, row.anomalous) for row in self.rows]
        # The machine's name is in the seed so that machines are resampled independently.
        streams = [seed, zlib.crc32(self.machine.encode())]
        draws = bootstrap(areas, strata, seed=streams, resamples=resamples)
        table = np.vstack([point, draws])
        return {key: table[:, index] for index, key in enumerate(keys)}

    def result(self, columns: Columns, draws: Draws) -> MachineResult:
        """The result of this machine from its columns."""
        cells = [
            self._cell(section, domain, columns)
            for domain in self.domains
            for section in self.sections
            if self._rows_of(section, domain)
        ]
        return MachineResult(
            machine=self.machine,
            clips=len(self.rows),
            thresholds=tuple(sorted({row.threshold for row in self.rows})),
            cells=tuple(cells),
            sections=tuple(self._section(section, columns) for section in self.sections),
            means=_means([draws], cells),
            rates=_rates(self.rows),
            notes=tuple(self._note(cell) for cell in cells if cell.auc is None),
        )

    def _rows_of(self, section: str, domain: str) -> list[Row]:
        return [row for row in self.rows if row.section == section and row.domain == domain]

    def _cell(self, section: str, domain: str, columns: Columns) -> DomainResult:
        rows = self._rows_of(section, domain)
        printed = pauc_printed([row.anomalous for row in rows], [row.value for row in rows])
        return DomainResult(
            section=section,
            domain=domain,
            auc=_figure(columns, (2021, section, domain), "auc"),
            pauc=_figure(columns, (2021, section, domain), "pauc"),
            pauc_printed=None if math.isnan(printed) else printed,
            rates=_rates(rows),
        )

    def _section(self, section: str, columns: Columns) -> Section:
        return Section(
            section=section,
            auc_source=_figure(columns, (2022, section, "source"), "auc"),
            auc_target=_figure(columns, (2022, section, "target"), "auc"),
            pauc=_figure(columns, (2022, section, ""), "pauc"),
            rates_source=_rates(self._rows_of(section, "source")),
            rates_target=_rates(self._rows_of(section, "target")),
        )

    def _note(self, cell: DomainResult) -> str:
        missing = "anomalous" if cell.rates.normals else "normal"
        return (
            f"{self.machine}, {cell.description}: no {missing} clips, "
            "so it has no AUC and is left out of the means"
        )


def _figure(columns: Columns, key: Key, measure: str) -> Estimate | None:
    column = columns.get((key, measure))
    return None if column is None else estimate(column)


def _rates(rows: Sequence[Row]) -> Rates:
    return decision_rates(
        [row.anomalous for row in rows],
        [row.value for row in rows],
        [row.threshold for row in rows],
    )


def _draws(columns: Columns, resamples: int) -> Draws:
    def gather(counts: Callable[[Key, str], bool]) -> Doubles:
        chosen = [column for (key, measure), column in columns.items() if counts(key, measure)]
        return np.stack(chosen, axis=1) if chosen else np.empty((1 + resamples, 0))

    return Draws(
        auc=gather(lambda key, measure: key[0] == 2021 and measure == "auc"),
        pauc=gather(lambda key, measure: key[0] == 2021 and measure == "pauc"),
        official_2022=gather(
            lambda key, measure: key[0] == 2022 and measure == ("auc" if key[2] else "pauc")
        ),
    )


def _means(parts: Sequence[Draws], cells: Sequence[DomainResult]) -> Means:
    areas = np.hstack([part.auc for part in parts])
    partial = np.hstack([part.pauc for part in parts])
    official = np.hstack([part.official_2022 for part in parts])
    printed = [cell.pauc_printed for cell in cells if cell.pauc_printed is not None]
    has_cells = areas.shape[1] > 0
    return Means(
        auc=estimate(areas.mean(axis=1)) if has_cells else None,
        pauc=estimate(partial.mean(axis=1)) if has_cells else None,
        h_auc=estimate(harmonic(areas)) if has_cells else None,
        h_pauc=estimate(harmonic(partial)) if has_cells else None,
        official_2021=estimate(harmonic(np.hstack([areas, partial]))) if has_cells else None,
        official_2022=estimate(harmonic(official)) if official.shape[1] else None,
        pauc_printed=float(np.mean(printed)) if printed else None,
    )
