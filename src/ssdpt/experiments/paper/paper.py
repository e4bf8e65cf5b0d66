"""Every table and figure of the paper: which cells they need, and what came out of them."""

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
from ssdpt.experiments.paper.cells import Cell, CellScores, CellStore
from ssdpt.experiments.paper.data import read_data
from ssdpt.experiments.paper.engine import Engine, run_cells
from ssdpt.experiments.paper.plan import Plan, make_plan
from ssdpt.experiments.paper.results import MachineScores, Results, oracle_epoch
from ssdpt.experiments.paper.variants import Variant, variants
from ssdpt.experiments.report.page import present
from ssdpt.scoring.fusion import Scale, fuse
from ssdpt.systems import system_class
from ssdpt.training.loop import choose_device, duration
from ssdpt.types import Floats
from ssdpt.version import __version__

_RECORDINGS = "recordings.json"  # the fingerprint of every machine type


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for."""

    experiments: tuple[str, ...]
    out: Path
    roots: tuple[Path, ...] = ()
    machines: tuple[str, ...] = ()  # all that are there
    seeds: int = 1
    quick: bool = False
    engine: Engine = field(default_factory=Engine)
    device: str = "auto"
    error: Literal["mean", "sum"] = "mean"  # of a segment, in the β experiment
    overrides: Mapping[str, Any] | None = None
    command: str = "ssdpt paper"


class Paper:
    """One run of some of the experiments, in one folder."""

    def __init__(self, request: Request, reporter: Reporter = SILENT) -> None:
        self.request, self.reporter = request, reporter
        choose_device(request.device)  # says at once that it is not there
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
                    "no recordings were given: name the DCASE 2021 folder with --data, or try it "
                    "with --quick, which simulates its own plant"
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
        """The training that a figure of a variant rests on."""
        config = self.configs[variant].model_copy(update={"seed": seed})
        together = self.data.trained_with(machine, config)
        label = self.variants[variant].label
        return Cell(config, together, self.data.fingerprint(together), label)

    def cells(self) -> list[Cell]:
        """All that is needed, machine by machine, so that its features are used while at hand."""
        return [
            self.cell(name, machine, seed)
            for machine in self.data.machines
            for seed in self.seeds
            for name in self.configs
        ]

    def plan(self) -> Plan:
        """What it would cost; nothing is run."""
        return make_plan(self.cells(), self.data, self.store, self.request.device, self.reporter)

    def run(self) -> Path:
        """Run what is not finished yet, and write tables, figures and the page."""
        begun = time.monotonic()
        self._tell_of_changes()
        cells = self.cells()
        failures = run_cells(cells, self.data, self.store, self.request.engine, self.reporter)
        if not any(self.store.load(cell) for cell in cells):
            name, reason = next(iter(failures.items()))
            raise SsdptError(f"no cell could be run; the first, {name}: {reason}")
        results = Results(
            self.variants,
            self.data.machines,
            self.seeds,
            self.scores,
            quick=self.request.quick,
            notes=(*self.data.notes, *self._rules()),
            failures=failures,
        )
        return present(
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
        """What was found of one machine; None where its cell failed."""
        known = self.variants[variant]
        if known.members:
            return self._fused(known, machine, seed)
        cell = self.cell(variant, machine, seed)
        found = self.store.load(cell)
        if found is None:
            return None
        own = np.array([clip.machine == machine for clip in found.clips])
        clips = tuple(clip for clip in found.clips if clip.machine == machine)
        values = found.parts[known.part] if known.part else found.value
        best = None if known.part else oracle_epoch(clips, found.epochs[:, own])
        return MachineScores(
            clips=clips,
            value=values[own],
            oracle=None if best is None else found.epochs[best, own],
            oracle_epoch=None if best is None else found.epoch_numbers[best],
            parts={name: part[own] for name, part in found.parts.items()},
            logs=(str(self.store.place(cell).relative_to(self.request.out)),),
        )

    def _fused(self, variant: Variant, machine: str, seed: int) -> MachineScores | None:
        """The ensemble of variants that were trained each on their own."""
        members = [self.scores(name, machine, seed) for name in variant.members]
        whole = [member for member in members if member is not None]
        if len(whole) < len(members):
            return None
        found = [self.store.load(self.cell(name, machine, seed)) for name in variant.members]
        cells = [cell for cell in found if cell is not None]
        clips = whole[0].clips
        sections = np.array([clip.section for clip in clips])
        value = np.zeros(len(clips), np.float32)
        oracle = np.zeros(len(clips), np.float32)
        for section in np.unique(sections):
            own = sections == section
            last = [_scale(cell, section, cell.normal_value) for cell in cells]
            value[own] = fuse(np.array([member.value[own] for member in whole]), last)
            best = [
                _scale(
                    cell, section, cell.normal_epochs[cell.epoch_numbers.index(member.oracle_epoch)]
                )
                for cell, member in zip(cells, whole, strict=True)
                if member.oracle_epoch is not None
            ]
            if len(best) == len(whole):
                rows = [member.oracle[own] for member in whole if member.oracle is not None]
                oracle[own] = fuse(np.array(rows), best)
        return MachineScores(
            clips=clips,
            value=value,
            oracle=None if any(member.oracle is None for member in whole) else oracle,
            oracle_epoch=None,
            parts={},
            logs=tuple(log for member in whole for log in member.logs),
        )

    def _tell_of_changes(self) -> None:
        """Say which recordings are not those of an earlier run into the same folder."""
        place = self.request.out / _RECORDINGS
        before = json.loads(place.read_text("utf-8")) if place.is_file() else {}
        now = {name: machine.fingerprint for name, machine in self.data.by_machine.items()}
        for name in now:
            if before.get(name, now[name]) != now[name]:
                self.reporter.warn(
                    f"{name}: its recordings have changed since the last run; its cells run again"
                )
        write_json(place, {**before, **now})

    def _rules(self) -> list[str]:
        """What was done by rule, in words."""
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
            f"{', '.join(joint)}: one section, so nothing to classify; the classes are the "
            f"sections of all machine types ({', '.join(self.data.machines)})"
        ]

    def _example(self) -> Floats:
        """The log-mel of a normal clip, for the figure of the masks."""
        machine = self.data.machines[0]
        front_end = system_class("ssdpt").front_end_of(self.config)
        clips = self.data.training_clips((machine,), self.config, front_end)
        return clips.source.clip(0)


def _scale(cell: CellScores, section: str, normal: Floats) -> Scale:
    own = np.array([clip.section == section for clip in cell.normals])
    return Scale.of(normal[own])


def _settings(quick: bool, overrides: Mapping[str, Any]) -> Config:
    if not quick:
        return load_config("paper", dict(overrides))
    with resources.as_file(resources.files("ssdpt.experiments.paper") / "quick.yaml") as path:
        return load_config(str(path), dict(overrides))
