"""`ssdpt bench quality`: systems over labelled data sets and seeds, fitted as `ssdpt fit` does.

A system, group of sets and seed is a cell; a finished cell is not run again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdpt.bench.machine import describe
from ssdpt.bench.quality.fitted_cell import FINGERPRINT, fit_and_score
from ssdpt.bench.quality.page import write_quality
from ssdpt.bench.quality.results import QualityResults
from ssdpt.bench.quality.systems import ComparedSystem
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.experiments.ablation.looks import Look, LookLog
from ssdpt.experiments.paper.cells import Cell, CellScores, CellStore
from ssdpt.experiments.paper.data import read_data_sets
from ssdpt.experiments.paper.engine import Engine, run_cells
from ssdpt.training.loop import choose_device


@dataclass(frozen=True, slots=True)
class QualityRequest:
    """The request of one benchmark."""

    roots: tuple[Path, ...]
    out: Path
    systems: tuple[ComparedSystem, ...]
    seeds: int = 1
    looks: Path | None = None  # the log of looks; none: OUT/looks.jsonl
    command: str = "ssdpt bench quality"


class QualityBench:
    """One benchmark and its folder."""

    def __init__(self, request: QualityRequest, reporter: Reporter = SILENT) -> None:
        self.request, self.reporter = request, reporter
        self.devices = {choose_device(system.config.device) for system in request.systems}
        self.data = read_data_sets(request.roots, reporter)
        for note in self.data.notes:
            reporter.warn(note)
        self.store = CellStore(request.out / "cells")

    def run(self) -> QualityResults:
        """Run all unfinished cells, write page and tables, and log the looks."""
        cells = [
            self._cell(system, machine, seed)
            for system in self.request.systems
            for machine in self.data.machines
            for seed in self._seeds(system)
        ]
        # One at a time: fits and scores are timed.
        failures = run_cells(
            cells, self.data, self.store, Engine(jobs=1), self.reporter, fit_and_score
        )
        results = QualityResults(
            self.request.systems,
            self.data,
            self.request.seeds,
            self._load,
            notes=[*self.data.notes, *(f"{name} failed: {why}" for name, why in failures.items())],
        )
        write_quality(results, self.request.out, self.request.command, self._facts())
        self._log_looks(results)
        return results

    def _facts(self) -> dict[str, Any]:
        """The machine it ran on, for the times."""
        device = max(self.devices, key=lambda device: device.type == "cuda")
        return describe(device)

    def _seeds(self, system: ComparedSystem) -> range:
        first = system.config.seed
        return range(first, first + self.request.seeds)

    def _cell(self, system: ComparedSystem, machine: str, seed: int) -> Cell:
        machines = (machine,) if system.fitted == "alone" else self.data.machines
        config = system.config.model_copy(update={"seed": seed})
        fingerprint = f"{self.data.fingerprint(machines)} {FINGERPRINT}"
        return Cell(config, machines, fingerprint, system.label)

    def _load(self, system: ComparedSystem, machine: str, number: int) -> CellScores | None:
        return self.store.load(self._cell(system, machine, self._seeds(system)[number]))

    def _log_looks(self, results: QualityResults) -> None:
        looks = []
        for system in self.request.systems:
            keys = {
                self._cell(system, machine, seed).key
                for machine in self.data.machines
                for seed in self._seeds(system)
            }
            looks.append(
                Look(
                    key=hashlib.blake2b(
                        " ".join(sorted(keys)).encode(), digest_size=16
                    ).hexdigest(),
                    variant=system.name,
                    settings=system.settings,
                    fitted=system.fitted,
                    seeds=self.request.seeds,
                    figures={
                        machine: figure.official.value
                        for machine, figure in results.row(system).sets.items()
                    },
                    command=self.request.command,
                )
            )
        log = LookLog(self.request.looks or self.request.out / "looks.jsonl")
        new = log.add(look for look in looks if look.figures)
        self.reporter.say(f"{new} new of {len(log.read())} looks at test labels, {log.path}")
