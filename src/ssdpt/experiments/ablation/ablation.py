"""`ssdpt ablate`: the recipe with each component removed, on the same clips, over several seeds.

All machine types are fitted together. Networks are trained once per seed, and the views of a clip
are computed once: most variants only weight them differently. A variant and seed is a cell, and a
finished cell is not scored again.
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
from ssdpt.experiments.ablation.networks import (
    NetworkStore,
    networks_key,
    select_networks,
    training_config,
)
from ssdpt.experiments.ablation.table import AblationTable
from ssdpt.experiments.ablation.variants import ablation_variants
from ssdpt.experiments.ablation.views import ClipViews, ViewExtractor, score_test_clips
from ssdpt.experiments.paper.cells import Cell, CellClip, CellScores, CellStore
from ssdpt.experiments.paper.data import read_data
from ssdpt.experiments.paper.engine import Engine, run_cells
from ssdpt.experiments.paper.results import ExperimentResults, MachineScores
from ssdpt.systems import system_class
from ssdpt.systems.multiview import MultiViewConfig
from ssdpt.systems.parts.shared_reference import SharedReference, can_train_networks
from ssdpt.training.loop import choose_device


@dataclass(frozen=True, slots=True)
class AblationRequest:
    """The request of one ablation."""

    roots: tuple[Path, ...]
    out: Path
    seeds: int = 3
    variants: tuple[str, ...] = ()  # none: all
    published: bool = False  # also the published recipe
    device: str = "auto"
    overrides: Mapping[str, Any] | None = None
    command: str = "ssdpt ablate"


class Ablation:
    """One ablation and its folder."""

    def __init__(self, request: AblationRequest, reporter: Reporter = SILENT) -> None:
        self.request, self.reporter = request, reporter
        choose_device(request.device)  # fails at once if it is missing
        self.recipe = load_config("best", {**(request.overrides or {}), "device": request.device})
        if not system_class(self.recipe.system).uses_shared_reference:
            raise SsdptError(
                f"system {self.recipe.system} has none of these components; ablate needs preset "
                "best, or preset best without networks (--set system=texture)"
            )
        ablation_variants(self.recipe, request.variants)  # fails before anything is read
        # Read in the same way as `fit`: no machine may be in two of the folders.
        machines = read_layouts(request.roots).machines
        self.data = read_data(request.roots, machines, reporter)
        self.notes = list(self.data.notes)
        machine_data = self.data.by_machine.values()
        self.training = [recording for machine in machine_data for recording in machine.train]
        if _has_networks(self.recipe) and not can_train_networks(self.training):
            self.notes.append(
                "only one machine ID: there is nothing to classify, so no networks are used"
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
        self.networks = NetworkStore(request.out / "networks")
        self.extractor = ViewExtractor(self.data, self.recipe, reporter)
        self._keys: dict[Config, str] = {}
        self._views: dict[str, tuple[ClipViews, SharedReference]] = {}  # of one seed, by networks

    @property
    def seeds(self) -> range:
        return range(self.recipe.seed, self.recipe.seed + self.request.seeds)

    def run(self) -> AblationTable:
        """Score all unfinished cells, and write the table."""
        self._score_recipe_variants()
        others = [
            self._cell(name, machine, seed)
            for name in self.configs
            if not self._is_recipe_variant(name)
            for machine in self.data.machines
            for seed in self.seeds
        ]
        failures = run_cells(others, self.data, self.store, Engine(), self.reporter)
        results = ExperimentResults(
            self.variants,
            self.data.machines,
            self.seeds,
            self._scores,
            notes=[*self.notes, *(f"{name} failed: {why}" for name, why in failures.items())],
        )
        table = AblationTable(results, self.request.command)
        table.write(self.request.out)
        return table

    def _is_recipe_variant(self, variant: str) -> bool:
        """Whether a variant uses the views of the recipe; other systems run as normal cells."""
        return system_class(self.configs[variant].system).uses_shared_reference

    def _score_recipe_variants(self) -> None:
        """Score the variants of the recipe, seed by seed."""
        names = [name for name in self.configs if self._is_recipe_variant(name)]
        with self.reporter.task("variants", total=len(names) * len(self.seeds)) as task:
            for seed in self.seeds:
                self._views.clear()
                for name in names:
                    cell = self._cell(name, "", seed)
                    if self.store.load(cell) is None:
                        self.store.save(cell, self._score(cell.config))
                    task.advance(note=f"{name}, seed {seed}")

    def _score(self, config: Config) -> CellScores:
        begun = time.monotonic()
        views, reference = self._extract(config)
        scores = score_test_clips(views, reference, config)
        return CellScores(
            clips=tuple(map(CellClip.of, scores)),
            value=np.array(list(scores.values()), np.float32),
            parts={},
            epochs=np.zeros((0, len(scores)), np.float32),
            epoch_numbers=(),
            normals=(),
            normal_value=np.zeros(0, np.float32),
            normal_epochs=np.zeros((0, 0), np.float32),
            seconds=round(time.monotonic() - begun, 3),
            facts={"device": str(choose_device(config.device)), "background": reference.origin},
        )

    def _extract(self, config: Config) -> tuple[ClipViews, SharedReference]:
        """The views of all clips, and the reference shared by all machines."""
        if not _has_networks(config):
            if "" not in self._views:
                views = self.extractor.untrained
                self._views[""] = views, SharedReference.of_clips(views.train, None, config)
            return self._views[""]
        trained = training_config(config, self.recipe)
        key = self._networks_key(trained)
        if key not in self._views:
            networks = self.networks.get(trained, key, self.extractor.training_clips, self.reporter)
            views = self.extractor.untrained.joined_with(self.extractor.trained(networks))
            self._views[key] = views, SharedReference.of_clips(views.train, networks, config)
        views, reference = self._views[key]
        assert reference.networks is not None
        selected = select_networks(reference.networks, config.part(MultiViewConfig))
        return views, replace(reference, networks=selected)

    def _networks_key(self, config: Config) -> str:
        if config not in self._keys:
            self._keys[config] = networks_key(config, self.training)
        return self._keys[config]

    def _cell(self, variant: str, machine: str, seed: int) -> Cell:
        """The cell that holds the scores of a machine type."""
        config = self.configs[variant].model_copy(update={"seed": seed})
        label = self.variants[variant].label
        if not self._is_recipe_variant(variant):
            trained_together = self.data.trained_with(machine, config)
            return Cell(config, trained_together, self.data.fingerprint(trained_together), label)
        fingerprint = self.data.fingerprint(self.data.machines)
        if not _has_networks(config):
            # Nothing is random: all seeds share one cell.
            config = config.model_copy(update={"seed": self.recipe.seed})
        else:
            fingerprint += f" {self._networks_key(training_config(config, self.recipe))}"
        return Cell(config, self.data.machines, fingerprint, label)

    def _scores(self, variant: str, machine: str, seed: int) -> MachineScores | None:
        """The scores of one machine type; None if its cell failed."""
        cell = self._cell(variant, machine, seed)
        cell_scores = self.store.load(cell)
        if cell_scores is None:
            return None
        of_machine = np.array([clip.machine == machine for clip in cell_scores.clips])
        return MachineScores(
            clips=tuple(clip for clip in cell_scores.clips if clip.machine == machine),
            value=cell_scores.value[of_machine],
            oracle=None,
            oracle_epoch=None,
            parts={},
            logs=(str(self.store.folder_of(cell).relative_to(self.request.out)),),
        )


def _has_networks(config: Config) -> bool:
    """Whether networks are part of what these settings describe."""
    return system_class(config.system).trains_networks
