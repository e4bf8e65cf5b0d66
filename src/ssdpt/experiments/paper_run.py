"""`ssdpt paper`: the cells that the paper's tables and figures need, and the report of them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ssdpt.common.files import write_json
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config, load_config
from ssdpt.data.simulator import simulate
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.cells import SCORED_EPOCHS, Cell, CellScores, CellStore
from ssdpt.experiments.paper.data import read_data
from ssdpt.experiments.paper.engine import Engine, run_cells
from ssdpt.experiments.paper.plan import RunPlan, make_plan
from ssdpt.experiments.paper.results import ExperimentResults, MachineScores, oracle_epoch
from ssdpt.experiments.paper.variants import Variant, variants
from ssdpt.experiments.report.page import write_report
from ssdpt.scoring.fusion import Scale, fuse
from ssdpt.systems import system_class
from ssdpt.training.loop import choose_device, duration
from ssdpt.types import Floats
from ssdpt.version import __version__

_RECORDINGS = "recordings.json"  # the fingerprint of every machine type


@dataclass(frozen=True, slots=True)
class PaperRequest:
    """The request of one run."""

    experiments: tuple[str, ...]
    out: Path
    roots: tuple[Path, ...] = ()
    machines: tuple[str, ...] = ()  # none: all
    seeds: int = 1
    quick: bool = False
    engine: Engine = field(default_factory=Engine)
    device: str = "auto"
    error: Literal["mean", "sum"] = "mean"  # of a segment, in the β experiment
    scored_epochs: int = SCORED_EPOCHS
    overrides: Mapping[str, Any] | None = None
    command: str = "ssdpt paper"


class PaperRun:
    """One run of some experiments, and its folder."""

    def __init__(self, request: PaperRequest, reporter: Reporter = SILENT) -> None:
        self.request, self.reporter = request, reporter
        choose_device(request.device)  # fails at once if it is missing
        overrides = {**(request.overrides or {}), "device": request.device}
        self.config = _settings(request.quick, overrides)
        self.variants = variants(self.config, request.experiments)
        self.configs = {
            variant.name: _settings(request.quick, {**overrides, **variant.settings})
            for variant in self.variants.values()
            if not variant.members
        }
        roots = request.roots
        if not roots:
            if not request.quick:
                raise SsdptError(
                    "no recordings were given: name the DCASE 2021 folder with --data, or use "
                    "--quick, which simulates a plant"
                )
            plant, only = request.out / "plant", request.machines or None
            roots = (simulate(plant, "smoke", machines=only, reporter=reporter),)
        self.roots = roots
        self.data = read_data(roots, request.machines, reporter)
        for note in self.data.notes:
            reporter.warn(note)
        self.store = CellStore(request.out / "cells")

    @property
    def seeds(self) -> range:
        return range(self.request.seeds)

    def cell(self, variant: str, machine: str, seed: int) -> Cell:
        """The cell with the scores of a variant, machine type and seed."""
        config = self.configs[variant].model_copy(update={"seed": seed})
        trained_together = self.data.trained_with(machine, config)
        label = self.variants[variant].label
        fingerprint = self.data.fingerprint(trained_together)
        return Cell(config, trained_together, fingerprint, label, self.request.scored_epochs)

    def cells(self) -> list[Cell]:
        """All cells, machine by machine, so that the features of a machine stay in memory."""
        return [
            self.cell(name, machine, seed)
            for machine in self.data.machines
            for seed in self.seeds
            for name in self.configs
        ]

    def plan(self) -> RunPlan:
        """An estimate of time and memory; nothing is run."""
        return make_plan(self.cells(), self.data, self.store, self.request.device, self.reporter)

    def run(self) -> Path:
        """Run all unfinished cells, and write tables, figures and the page."""
        begun = time.monotonic()
        self._report_changes()
        cells = self.cells()
        failures = run_cells(cells, self.data, self.store, self.request.engine, self.reporter)
        if not any(self.store.load(cell) for cell in cells):
            name, reason = next(iter(failures.items()))
            raise SsdptError(f"no cell could be run; the first, {name}: {reason}")
        results = ExperimentResults(
            self.variants,
            self.data.machines,
            self.seeds,
            self.scores,
            quick=self.request.quick,
            notes=(*self.data.notes, *self._joint_training_notes()),
            failures=failures,
        )
        return write_report(
            results,
            self.config,
            self.request.out,
            experiments=self.request.experiments,
            command=self.request.command,
            example=self._example(),
            error=self.request.error,
            facts={
                "version": __version__,
                "data": ", ".join(root.name for root in self.roots),
                "machines": ", ".join(self.data.machines),
                "seeds": str(self.request.seeds),
                "device": str(choose_device(self.request.device)),
                "engine": self.request.engine.name,
                "this run took": duration(time.monotonic() - begun),
            },
            reporter=self.reporter,
        )

    def scores(self, variant: str, machine: str, seed: int) -> MachineScores | None:
        """The scores of one machine; None if its cell failed."""
        entry = self.variants[variant]
        if entry.members:
            return self._fused(entry, machine, seed)
        cell = self.cell(variant, machine, seed)
        stored = self.store.load(cell)
        if stored is None:
            return None
        of_machine = np.array([clip.machine == machine for clip in stored.clips])
        clips = tuple(clip for clip in stored.clips if clip.machine == machine)
        values = stored.parts[entry.part] if entry.part else stored.value
        best = None if entry.part else oracle_epoch(clips, stored.epochs[:, of_machine])
        return MachineScores(
            clips=clips,
            value=values[of_machine],
            oracle=None if best is None else stored.epochs[best, of_machine],
            oracle_epoch=None if best is None else stored.epoch_numbers[best],
            parts={name: part[of_machine] for name, part in stored.parts.items()},
            logs=(str(self.store.folder_of(cell).relative_to(self.request.out)),),
        )

    def _fused(self, variant: Variant, machine: str, seed: int) -> MachineScores | None:
        """The ensemble of variants that were trained separately."""
        members = [self.scores(name, machine, seed) for name in variant.members]
        available = [member for member in members if member is not None]
        if len(available) < len(members):
            return None
        stored = [self.store.load(self.cell(name, machine, seed)) for name in variant.members]
        cells = [cell for cell in stored if cell is not None]
        clips = available[0].clips
        sections = np.array([clip.section for clip in clips])
        value = np.zeros(len(clips), np.float32)
        oracle = np.zeros(len(clips), np.float32)
        for section in np.unique(sections):
            in_section = sections == section
            last = [_scale(cell, section, cell.normal_value) for cell in cells]
            value[in_section] = fuse(
                np.array([member.value[in_section] for member in available]), last
            )
            best = [
                _scale(
                    cell, section, cell.normal_epochs[cell.epoch_numbers.index(member.oracle_epoch)]
                )
                for cell, member in zip(cells, available, strict=True)
                if member.oracle_epoch is not None
            ]
            if len(best) == len(available):
                rows = [
                    member.oracle[in_section] for member in available if member.oracle is not None
                ]
                oracle[in_section] = fuse(np.array(rows), best)
        return MachineScores(
            clips=clips,
            value=value,
            oracle=None if any(member.oracle is None for member in available) else oracle,
            oracle_epoch=None,
            parts={},
            logs=tuple(log for member in available for log in member.logs),
        )

    def _report_changes(self) -> None:
        """Warn about recordings that changed since an earlier run into the same folder."""
        path = self.request.out / _RECORDINGS
        before = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        now = {name: machine.fingerprint for name, machine in self.data.by_machine.items()}
        for name in now:
            if before.get(name, now[name]) != now[name]:
                self.reporter.warn(
                    f"{name}: its recordings have changed since the last run; its cells run again"
                )
        write_json(path, {**before, **now})

    def _joint_training_notes(self) -> list[str]:
        """Notes on machine types that are trained together with others."""
        joint = [
            machine
            for machine in self.data.machines
            if any(
                len(self.data.trained_with(machine, config)) > 1 for config in self.configs.values()
            )
        ]
        if not joint:
            return []
        return [
            f"{', '.join(joint)}: only one section, so nothing to classify; the classes are the "
            f"sections of all machine types ({', '.join(self.data.machines)})"
        ]

    def _example(self) -> Floats:
        """The log-mel of a normal clip, for the figure of the masks."""
        machine = self.data.machines[0]
        front_end = system_class("ssdpt").front_end_of(self.config)
        clips = self.data.training_clips((machine,), self.config, front_end)
        return clips.source.clip(0)


def _scale(cell: CellScores, section: str, normal: Floats) -> Scale:
    in_section = np.array([clip.section == section for clip in cell.normals])
    return Scale.of(normal[in_section])


def _settings(quick: bool, overrides: Mapping[str, Any]) -> Config:
    if not quick:
        return load_config("paper", dict(overrides))
    with resources.as_file(resources.files("ssdpt.experiments.paper") / "quick.yaml") as path:
        return load_config(str(path), dict(overrides))
