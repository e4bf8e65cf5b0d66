"""`ssdpt ablate`: the recipe with each ingredient removed, on the same clips, over some seeds.

All machine types at hand are fitted together. Networks are trained once a seed, and what the views
say of a clip is worked out once: most variants only weigh it otherwise. A variant and seed is a
cell, and a finished cell is not scored again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config, load_config, with_overrides
from ssdpt.data.layouts import read_layouts
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.networks import NetworkStore, ears_key, some_of, trained_as
from ssdpt.experiments.ablation.table import AblationTable
from ssdpt.experiments.ablation.variants import ablation_variants
from ssdpt.experiments.ablation.views import ClipViews, Listener, scores_of
from ssdpt.experiments.paper.cells import Cell, CellScores, CellStore, Clip
from ssdpt.experiments.paper.data import read_data
from ssdpt.experiments.paper.engine import Engine, run_cells
from ssdpt.experiments.paper.results import MachineScores, Results
from ssdpt.systems import system_class
from ssdpt.systems.multiview import MultiViewConfig
from ssdpt.systems.parts.shared_reference import SharedReference, can_train_networks
from ssdpt.training.loop import choose_device


@dataclass(frozen=True, slots=True)
class AblationRequest:
    """What was asked for."""

    roots: tuple[Path, ...]
    out: Path
    seeds: int = 3
    variants: tuple[str, ...] = ()  # all
    published: bool = False  # the published recipe as well
    device: str = "auto"
    overrides: Mapping[str, Any] | None = None
    command: str = "ssdpt ablate"


class Ablation:
    """One ablation, in one folder."""

    def __init__(self, request: AblationRequest, reporter: Reporter = SILENT) -> None:
        self.request, self.reporter = request, reporter
        choose_device(request.device)  # says at once that it is not there
        self.recipe = load_config("best", {**(request.overrides or {}), "device": request.device})
        if not system_class(self.recipe.system).uses_shared_reference:
            raise SsdptError(
                f"system {self.recipe.system} has none of these ingredients; ablate takes preset "
                "best as it is, or without networks with --set system=texture"
            )
        ablation_variants(self.recipe, request.variants)  # refuses before anything is read
        # Read as `fit` reads it: no machine may be in two of the folders.
        machines = read_layouts(request.roots).machines
        self.data = read_data(request.roots, machines, reporter)
        self.notes = list(self.data.notes)
        every = self.data.by_machine.values()
        self.training = [recording for machine in every for recording in machine.train]
        if _has_networks(self.recipe) and not can_train_networks(self.training):
            self.notes.append(
                "one machine ID alone: networks have nothing to tell apart, there are none"
            )
            self.recipe = self.recipe.model_copy(update={"system": "texture"})
        for note in self.notes:
            reporter.warn(note)
        chosen = ablation_variants(self.recipe, request.variants, published=request.published)
        self.variants = {variant.name: variant for variant in chosen}
        self.configs = {
            variant.name: with_overrides(self.recipe, dict(variant.settings)) for variant in chosen
        }
        self.store = CellStore(request.out / "cells")
        self.ears = NetworkStore(request.out / "ears")
        self.listener = Listener(self.data, self.recipe, reporter)
        self._keys: dict[Config, str] = {}
        self._heard: dict[str, tuple[ClipViews, SharedReference]] = {}  # of one seed, by networks

    @property
    def seeds(self) -> range:
        return range(self.recipe.seed, self.recipe.seed + self.request.seeds)

    def run(self) -> AblationTable:
        """Score what is not finished yet, and write the table."""
        self._score_own()
        others = [
            self._cell(name, machine, seed)
            for name in self.configs
            if not self._is_own(name)
            for machine in self.data.machines
            for seed in self.seeds
        ]
        failures = run_cells(others, self.data, self.store, Engine(), self.reporter)
        results = Results(
            self.variants,
            self.data.machines,
            self.seeds,
            self._scores,
            notes=[*self.notes, *(f"{name} failed: {why}" for name, why in failures.items())],
        )
        table = AblationTable(results, self.request.command)
        table.write(self.request.out)
        return table

    def _is_own(self, variant: str) -> bool:
        """Whether it is made of the same views; other systems are cells of the usual kind."""
        return system_class(self.configs[variant].system).uses_shared_reference

    def _score_own(self) -> None:
        """The variants of the recipe, seed by seed."""
        names = [name for name in self.configs if self._is_own(name)]
        with self.reporter.task("variants", total=len(names) * len(self.seeds)) as task:
            for seed in self.seeds:
                self._heard.clear()
                for name in names:
                    cell = self._cell(name, "", seed)
                    if self.store.load(cell) is None:
                        self.store.save(cell, self._found(cell.config))
                    task.advance(note=f"{name}, seed {seed}")

    def _found(self, config: Config) -> CellScores:
        begun = time.monotonic()
        heard, background = self._hear(config)
        scores = scores_of(heard, background, config)
        return CellScores(
            clips=tuple(map(Clip.of, scores)),
            value=np.array(list(scores.values()), np.float32),
            parts={},
            epochs=np.zeros((0, len(scores)), np.float32),
            epoch_numbers=(),
            normals=(),
            normal_value=np.zeros(0, np.float32),
            normal_epochs=np.zeros((0, 0), np.float32),
            seconds=round(time.monotonic() - begun, 3),
            facts={"device": str(choose_device(config.device)), "background": background.origin},
        )

    def _hear(self, config: Config) -> tuple[ClipViews, SharedReference]:
        """All clips in all views, and what the machines are told of each other."""
        if not _has_networks(config):
            if "" not in self._heard:
                heard = self.listener.untrained
                self._heard[""] = heard, SharedReference.of_clips(heard.train, None, config)
            return self._heard[""]
        lender = trained_as(config, self.recipe)
        key = self._ears_key(lender)
        if key not in self._heard:
            ears = self.ears.get(lender, key, self.listener.training_clips, self.reporter)
            heard = self.listener.untrained.beside(self.listener.trained(ears))
            self._heard[key] = heard, SharedReference.of_clips(heard.train, ears, config)
        heard, background = self._heard[key]
        assert background.networks is not None
        return heard, replace(
            background, networks=some_of(background.networks, config.part(MultiViewConfig))
        )

    def _ears_key(self, lender: Config) -> str:
        if lender not in self._keys:
            self._keys[lender] = ears_key(lender, self.training)
        return self._keys[lender]

    def _cell(self, variant: str, machine: str, seed: int) -> Cell:
        """What the figures of a machine type rest on."""
        config = self.configs[variant].model_copy(update={"seed": seed})
        label = self.variants[variant].label
        if not self._is_own(variant):
            together = self.data.trained_with(machine, config)
            return Cell(config, together, self.data.fingerprint(together), label)
        mark = self.data.fingerprint(self.data.machines)
        if not _has_networks(config):
            # Nothing is drawn at random: all seeds share one cell.
            config = config.model_copy(update={"seed": self.recipe.seed})
        else:
            mark += f" {self._ears_key(trained_as(config, self.recipe))}"
        return Cell(config, self.data.machines, mark, label)

    def _scores(self, variant: str, machine: str, seed: int) -> MachineScores | None:
        """What was found of one machine type; None where its cell failed."""
        cell = self._cell(variant, machine, seed)
        found = self.store.load(cell)
        if found is None:
            return None
        own = np.array([clip.machine == machine for clip in found.clips])
        return MachineScores(
            clips=tuple(clip for clip in found.clips if clip.machine == machine),
            value=found.value[own],
            oracle=None,
            oracle_epoch=None,
            parts={},
            logs=(str(self.store.place(cell).relative_to(self.request.out)),),
        )


def _has_networks(config: Config) -> bool:
    """Whether networks are part of what these settings describe."""
    return system_class(config.system).trains_networks
