"""`ssdpt ablate`: the recipe with each component removed, on the same clips, over several seeds.

All sets are fitted together, or each alone. Networks are trained once per seed, and the views of a
clip are computed once: most variants only weight them differently. A variant and seed is a cell,
and a finished cell is not scored again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config, load_config, with_overrides
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.looks import Look, LookLog
from ssdpt.experiments.ablation.networks import (
    NetworkStore,
    networks_key,
    select_networks,
    training_config,
)
from ssdpt.experiments.ablation.table import AblationTable
from ssdpt.experiments.ablation.variants import (
    FULL,
    AblationVariant,
    Change,
    ablation_variants,
)
from ssdpt.experiments.ablation.views import ClipViews, ViewExtractor, score_test_clips
from ssdpt.experiments.paper.cells import Cell, CellClip, CellScores, CellStore
from ssdpt.experiments.paper.data import read_data_sets
from ssdpt.experiments.paper.engine import Engine, run_cells
from ssdpt.experiments.paper.results import ExperimentResults, MachineScores
from ssdpt.systems import system_class
from ssdpt.systems.multiview import MultiViewConfig
from ssdpt.systems.parts.shared_reference import SharedReference, can_train_networks
from ssdpt.training.loop import choose_device
from ssdpt.types import Recording


@dataclass(frozen=True, slots=True)
class AblationRequest:
    """The request of one ablation."""

    roots: tuple[Path, ...]
    out: Path
    seeds: int = 3
    variants: tuple[str, ...] = ()  # none: all
    candidates: tuple[Change, ...] = ()  # further changes of the recipe
    published: bool = False  # also the published recipe
    alone: bool = False  # each set is fitted without the others
    looks: Path | None = None  # the log of looks; none: OUT/looks.jsonl
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
        self._chosen_variants()  # fails before anything is read
        self.data = read_data_sets(request.roots, reporter)
        self.notes = list(self.data.notes)
        if _has_networks(self.recipe):
            self._check_networks()
        for note in self.notes:
            reporter.warn(note)
        chosen = self._chosen_variants()
        self.variants = {variant.name: variant for variant in chosen}
        self.configs = {
            variant.name: with_overrides(self.recipe, dict(variant.settings)) for variant in chosen
        }
        self.store = CellStore(request.out / "cells")
        self.networks = NetworkStore(request.out / "networks")
        self._extractors: dict[str, ViewExtractor] = {}  # by front end
        self._keys: dict[tuple[Config, tuple[str, ...]], str] = {}
        self._views: dict[tuple[str, ...], tuple[ClipViews, SharedReference]] = {}  # of one seed

    @property
    def seeds(self) -> range:
        return range(self.recipe.seed, self.recipe.seed + self.request.seeds)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The sets that are fitted together."""
        machines = self.data.machines
        return [(machine,) for machine in machines] if self.request.alone else [machines]

    def run(self) -> AblationTable:
        """Score all unfinished cells, write the tables, and log the looks."""
        failures = self._score_recipe_variants()
        others = [
            self._cell(name, machine, seed)
            for name in self.configs
            if not self._is_recipe_variant(name)
            for machine in self.data.machines
            for seed in self.seeds
        ]
        failures |= run_cells(others, self.data, self.store, Engine(), self.reporter)
        results = ExperimentResults(
            self.variants,
            self.data.machines,
            self.seeds,
            self._scores,
            notes=[*self.notes, *(f"{name} failed: {why}" for name, why in failures.items())],
        )
        variants, alone = list(self.variants.values()), self.request.alone
        table = AblationTable(results, variants, self.request.command, alone=alone)
        table.write(self.request.out)
        self._log_looks(table)
        return table

    def _chosen_variants(self) -> list[AblationVariant]:
        request = self.request
        return ablation_variants(
            self.recipe,
            request.variants,
            candidates=request.candidates,
            published=request.published,
        )

    def _check_networks(self) -> None:
        """Note which sets have nothing to classify; the recipe has no networks if all have not."""
        without = [group for group in self.groups if not can_train_networks(self.training(group))]
        if len(without) == len(self.groups):
            self.notes.append(
                "only one machine ID: there is nothing to classify, so no networks are used"
            )
            self.recipe = self.recipe.model_copy(update={"system": "texture"})
        elif without:
            self.notes.append(
                f"no networks for {', '.join(name for group in without for name in group)}: alone, "
                "one machine ID has nothing to classify"
            )

    def training(self, machines: Sequence[str]) -> list[Recording]:
        """The normal recordings of these sets."""
        return [item for name in machines for item in self.data.by_machine[name].train]

    def _is_recipe_variant(self, variant: str) -> bool:
        """Whether a variant uses the views of the recipe; other systems run as normal cells."""
        return system_class(self.configs[variant].system).uses_shared_reference

    def _score_recipe_variants(self) -> dict[str, str]:
        """Score the variants of the recipe, seed by seed; gives those that failed, and why."""
        names = [name for name in self.configs if self._is_recipe_variant(name)]
        failures = {}
        total = len(names) * len(self.seeds) * len(self.groups)
        with self.reporter.task("variants", total=total) as task:
            for seed in self.seeds:
                self._views.clear()
                for group in self.groups:
                    for name in names:
                        cell = self._cell(name, group[0], seed)
                        try:
                            if self.store.load(cell) is None:
                                self.store.save(cell, self._score(cell))
                        except SsdptError as error:
                            if name == FULL:
                                raise
                            failures[cell.name] = str(error)
                        task.advance(note=f"{name}, seed {seed}")
        return failures

    def _score(self, cell: Cell) -> CellScores:
        begun = time.monotonic()
        views, reference = self._extract(cell.config, cell.machines)
        scores = score_test_clips(views, reference, cell.config)
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
            facts={
                "device": str(choose_device(cell.config.device)),
                "background": reference.origin,
            },
        )

    def _extract(
        self, config: Config, machines: tuple[str, ...]
    ) -> tuple[ClipViews, SharedReference]:
        """The views of the clips of `machines`, and the reference shared by them."""
        extractor = self._extractor(config)
        front_end = _front_end_key(config)
        if not _has_networks(config):
            place = (front_end, *machines)
            if place not in self._views:
                views = extractor.untrained.only(machines)
                self._views[place] = views, SharedReference.of_clips(views.train, None, config)
            return self._views[place]
        trained = training_config(config, self.recipe)
        key = self._networks_key(trained, machines)
        place = (front_end, key, *machines)
        if place not in self._views:
            training_clips = partial(extractor.training_clips, machines)
            networks = self.networks.get(trained, key, training_clips, self.reporter)
            own = extractor.untrained.only(machines)
            views = own.joined_with(extractor.trained(networks, machines))
            self._views[place] = views, SharedReference.of_clips(views.train, networks, config)
        views, reference = self._views[place]
        assert reference.networks is not None
        selected = select_networks(reference.networks, config.part(MultiViewConfig))
        return views, replace(reference, networks=selected)

    def _extractor(self, config: Config) -> ViewExtractor:
        key = _front_end_key(config)
        if key not in self._extractors:
            self._extractors[key] = ViewExtractor(self.data, config, self.reporter)
        return self._extractors[key]

    def _networks_key(self, config: Config, machines: tuple[str, ...]) -> str:
        if (config, machines) not in self._keys:
            self._keys[config, machines] = networks_key(config, self.training(machines))
        return self._keys[config, machines]

    def _cell(self, variant: str, machine: str, seed: int) -> Cell:
        """The cell that holds the scores of a set."""
        config = self.configs[variant].model_copy(update={"seed": seed})
        label = self.variants[variant].label
        alone = self.request.alone
        if not self._is_recipe_variant(variant):
            machines = (machine,) if alone else self.data.trained_with(machine, config)
            return Cell(config, machines, self.data.fingerprint(machines), label)
        machines = (machine,) if alone else self.data.machines
        fingerprint = self.data.fingerprint(machines)
        if _has_networks(config) and not can_train_networks(self.training(machines)):
            config = config.model_copy(update={"system": "texture"})
        if not _has_networks(config):
            # Nothing is random: all seeds share one cell.
            config = config.model_copy(update={"seed": self.recipe.seed})
        else:
            key = self._networks_key(training_config(config, self.recipe), machines)
            fingerprint += f" {key}"
        return Cell(config, machines, fingerprint, label)

    def _scores(self, variant: str, machine: str, seed: int) -> MachineScores | None:
        """The scores of one set; None if its cell failed."""
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

    def _log_looks(self, table: AblationTable) -> None:
        """Every variant with figures is a look at the labels."""
        looks = []
        for name, variant in self.variants.items():
            keys = sorted(
                {
                    self._cell(name, machine, seed).key
                    for machine in self.data.machines
                    for seed in self.seeds
                }
            )
            looks.append(
                Look(
                    key=hashlib.blake2b(" ".join(keys).encode(), digest_size=16).hexdigest(),
                    variant=name,
                    settings={**(self.request.overrides or {}), **variant.settings},
                    fitted="alone" if self.request.alone else "together",
                    seeds=len(self.seeds),
                    figures=table.figures[name],
                    command=self.request.command,
                )
            )
        log = LookLog(self.request.looks or self.request.out / "looks.jsonl")
        new = log.add(look for look in looks if look.figures)
        self.reporter.say(f"{new} new of {len(log.read())} looks at test labels, {log.path}")


def _front_end_key(config: Config) -> str:
    """Changes with all settings that change the frames of a clip, or its untrained views."""
    return config.model_dump_json(include={"audio": True, "features": True, "texture": {"seconds"}})


def _has_networks(config: Config) -> bool:
    """Whether networks are part of what these settings describe."""
    return system_class(config.system).trains_networks
