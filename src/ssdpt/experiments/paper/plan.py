"""Estimates time and memory of a run: every kind of cell is tried on a few synthetic clips."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config, epochs_of, learned_from
from ssdpt.data import audio
from ssdpt.experiments.paper.cells import Cell, CellStore
from ssdpt.experiments.paper.data import PaperData
from ssdpt.experiments.paper.run import normal_clips
from ssdpt.features.cache import FeatureSet
from ssdpt.features.front_end import FrontEnd
from ssdpt.systems import system_class
from ssdpt.systems.base import FitContext
from ssdpt.training.loop import choose_device, duration
from ssdpt.training.parallel import parallel_jobs
from ssdpt.types import Recording

_FEW, _MORE = 6, 18  # clips; the difference of their times excludes the fixed cost of a fit
_FREE_SETTINGS = {"mask", "alpha", "beta", "score", "target", "error", "seed", "preprocessing"}


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one kind of cell on this machine."""

    start: float  # fixed seconds per cell
    learning: float  # seconds per training clip and epoch
    scoring: float  # seconds per clip


@dataclass(frozen=True, slots=True)
class PlanRow:
    """All cells of one system."""

    system: str
    cells: int
    finished: int
    seconds: float  # of the unfinished cells


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The estimated cost of a run."""

    rows: tuple[PlanRow, ...]
    device: str
    memory: float  # peak bytes, including frames on a GPU
    cache: float  # bytes of cached frames on the disk

    @property
    def seconds(self) -> float:
        return sum(row.seconds for row in self.rows)

    def table(self) -> list[dict[str, str]]:
        """Rows of text; keys are headings."""
        return [
            {
                "system": row.system,
                "cells": str(row.cells),
                "finished": str(row.finished),
                "time": duration(row.seconds) if row.seconds else "–",
            }
            for row in self.rows
        ]

    def summary(self) -> str:
        cells = sum(row.cells - row.finished for row in self.rows)
        return (
            f"{cells} cells to run on {self.device}: about {duration(self.seconds)}, "
            f"{self.memory / 1e9:.1f} GB of memory, {self.cache / 1e9:.1f} GB of cached features"
        )


def make_plan(
    cells: Sequence[Cell],
    data: PaperData,
    store: CellStore,
    device: str,
    reporter: Reporter = SILENT,
) -> RunPlan:
    """Estimate the cost of all cells that are not in the store."""
    distinct = {cell.key: cell for cell in cells}
    finished = {key for key, cell in distinct.items() if store.load(cell) is not None}
    waiting = [cell for key, cell in distinct.items() if key not in finished]
    costs: dict[str, Cost] = {}
    kinds = {_kind(cell.config): cell for cell in waiting}
    seconds = _clip_seconds(data)
    with reporter.task("trying every kind of cell", total=len(kinds)) as task:
        for kind, cell in kinds.items():
            costs[kind] = _try(cell.config, seconds)
            task.advance(note=cell.config.system)
    rows = []
    for system in dict.fromkeys(cell.config.system for cell in distinct.values()):
        of_system = {key: cell for key, cell in distinct.items() if cell.config.system == system}
        rows.append(
            PlanRow(
                system,
                len(of_system),
                len(of_system.keys() & finished),
                sum(
                    _seconds(cell, costs[_kind(cell.config)], data)
                    for key, cell in of_system.items()
                    if key not in finished
                ),
            )
        )
    sizes = [_frame_bytes(cell, data, seconds) for cell in waiting]
    # The peak of the trial cells, plus the frames of the real cells.
    jobs = parallel_jobs(device)
    peak = jobs * max(sizes, default=0.0) + (jobs if waiting else 0) * _memory(device)
    front_ends = {
        (cell.machines, _front_end(cell.config).name): size
        for cell, size in zip(waiting, sizes, strict=True)
    }
    return RunPlan(tuple(rows), str(choose_device(device)), peak, sum(front_ends.values()))


def _kind(config: Config) -> str:
    """A key of everything that affects the cost; masks, weights and seeds do not."""
    return json.dumps(_without(learned_from(config)), sort_keys=True)


def _without(tree: object) -> object:
    if isinstance(tree, dict):
        return {name: _without(value) for name, value in tree.items() if name not in _FREE_SETTINGS}
    return [_without(item) for item in tree] if isinstance(tree, list) else tree


def _try(config: Config, seconds: float) -> Cost:
    """Fit on few and on more clips of noise for one epoch, and score them."""
    few, more = (_time_fit(config, count, seconds) for count in (_FEW, _MORE))
    learning = max((more[0] - few[0]) / (_MORE - _FEW), 1e-5)
    start = max(few[0] - _FEW * learning, 0.0)
    return Cost(start, learning, min(few[1], more[1]))


def _time_fit(config: Config, clips: int, seconds: float) -> tuple[float, float]:
    """Seconds of a fit of one epoch, and seconds per scored clip."""
    kind = system_class(config.system)
    synthetic = _synthetic(kind.front_end_of(config), clips, seconds, config.audio.sample_rate)
    one_epoch = _one_epoch(config)
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        begun = time.perf_counter()
        system = kind.fit(synthetic.all(), one_epoch, FitContext(Path(folder), "plan"))
        fitted = time.perf_counter()
        scorers = system.score_many([synthetic.clip(index) for index in range(clips)])
        for score_as in scorers:
            score_as(system.sections[0])
        return fitted - begun, (time.perf_counter() - fitted) / clips


def _one_epoch(config: Config) -> Config:
    """The same settings with a single epoch."""
    changed = {}
    for name in type(config).model_fields:
        settings = getattr(config, name)
        if hasattr(settings, "training"):
            training = settings.training.model_copy(update={"epochs": 1})
            changed[name] = settings.model_copy(update={"training": training})
    return config.model_copy(update=changed)


def _seconds(cell: Cell, cost: Cost, data: PaperData) -> float:
    machines = [data.by_machine[name] for name in cell.machines]
    clips = sum(len(machine.train) for machine in machines)
    tested = sum(len(machine.test) + len(normal_clips(machine.train)) for machine in machines)
    epochs = epochs_of(cell.config)
    scored = min(epochs, cell.scored_epochs)
    return cost.start + epochs * clips * cost.learning + scored * tested * cost.scoring


def _synthetic(front_end: FrontEnd, clips: int, seconds: float, rate: int) -> FeatureSet:
    """Clips of noise in two sections."""
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 0.01, max(1, round(seconds * rate))).astype(np.float32)
    frames = front_end(noise)
    return FeatureSet(
        tuple(Recording(Path(f"{n}.wav"), "noise", f"{n % 2:02}") for n in range(clips)),
        np.tile(frames, (clips, 1)),
        np.arange(clips + 1, dtype=np.int64) * len(frames),
    )


def _front_end(config: Config) -> FrontEnd:
    return system_class(config.system).front_end_of(config)


def _clip_seconds(data: PaperData) -> float:
    """The mean length of the first clip of every machine."""
    first = [machine.train[0].path for machine in data.by_machine.values()]
    return float(np.mean([audio.probe(path).seconds for path in first]))


def _frame_bytes(cell: Cell, data: PaperData, seconds: float) -> float:
    """Bytes of the cell's clips as stored by its front end."""
    front_end = _front_end(cell.config)
    machines = [data.by_machine[name] for name in cell.machines]
    clips = sum(len(machine.train) + len(machine.test) for machine in machines)
    width = front_end.bins * np.dtype(front_end.storage).itemsize
    return clips * seconds / front_end.frame_seconds * width


def _memory(device: str) -> float:
    """Peak memory of this process so far, in bytes; on a GPU, of its memory."""
    if choose_device(device).type == "cuda":
        return float(torch.cuda.max_memory_reserved())
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
