"""A plant for the load benchmark: recordings, a model for every machine, a configuration file."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import yaml

from ssdpt.common.files import write_text
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.simulator.live import LiveMachine
from ssdpt.detection.detector import Detector
from ssdpt.monitor.config import read_monitor_config, store_url
from ssdpt.monitor.learning.baseline import RATE, learn_baseline
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.learned_models import MODELS
from ssdpt.types import Clip

_KINDS = ("fan", "gearbox", "pump", "slider")  # what the machines replay, in turn
_RECORDING_CLIPS = 6  # of ten seconds each, in one recording
_NORMAL_CLIPS = 30  # that a model is learned from: five minutes


@dataclass(frozen=True, slots=True)
class LoadPlant:
    """Where the files of a plant are."""

    folder: Path
    ids: tuple[str, ...]  # of its machines
    speed: float
    shared_model: Path | None  # None: every machine has learned its own

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "monitor.yaml"

    @property
    def data(self) -> Path:
        """The data folder of the service."""
        return self.folder / "data"

    def write_config(self, machines: int) -> None:
        """Let the service monitor the first so many machines."""
        tree = {
            "name": "load",
            "speed": self.speed,
            "device": "cpu",
            "machines": [self._machine(number) for number in range(machines)],
        }
        write_text(self.config, yaml.safe_dump(tree, sort_keys=False))

    def _machine(self, number: int) -> dict[str, Any]:
        source = {
            "kind": "replay",
            "path": f"{_kind(number)}.wav",
            "speed": self.speed,
            "loop": True,
        }
        machine: dict[str, Any] = {"id": self.ids[number], "type": _kind(number), "source": source}
        if self.shared_model is not None:
            machine |= {"model": self.shared_model.name, "section": "00"}
        return machine


def build_plant(
    folder: Path, machines: int, speed: float, shared: Config | None, reporter: Reporter
) -> LoadPlant:
    """A plant in an empty folder.

    Machines of one kind replay one recording, so that no time is spent on simulation. A baseline is
    learned once for each kind and copied to every machine of it: each loads and uses its own.
    `shared`: settings of one model that all machines share instead.
    """
    ids = tuple(f"m{number:03d}" for number in range(machines))
    kinds = [_kind(number) for number in range(min(machines, len(_KINDS)))]
    simulated = {kind: LiveMachine(kind) for kind in kinds}
    for kind, machine in simulated.items():
        sound = np.concatenate(machine.normal_clips(_RECORDING_CLIPS, take=0))
        soundfile.write(folder / f"{kind}.wav", sound, RATE)
    clips = {kind: machine.normal_clips(_NORMAL_CLIPS) for kind, machine in simulated.items()}
    if shared is not None:
        model = folder / "model"
        _fit_shared(clips, shared, reporter).save(model)
        plant = LoadPlant(folder, ids, speed, model)
        plant.write_config(machines)
        return plant
    plant = LoadPlant(folder, ids, speed, None)
    plant.write_config(len(kinds))
    values = _learn_baselines(plant, clips, reporter)
    _copy_baselines(plant, values)
    plant.write_config(machines)
    return plant


def _kind(number: int) -> str:
    return _KINDS[number % len(_KINDS)]


def _fit_shared(clips: dict[str, list[np.ndarray]], config: Config, reporter: Reporter) -> Detector:
    normal = [
        Clip(samples, RATE, section=f"{section:02d}", name=f"{kind}-{number:04d}")
        for section, (kind, group) in enumerate(clips.items())
        for number, samples in enumerate(group)
    ]
    return Detector.fit(normal, config=config, machine="load", reporter=reporter)


def _learn_baselines(
    plant: LoadPlant, clips: dict[str, list[np.ndarray]], reporter: Reporter
) -> list[dict[str, Any]]:
    """Learn a baseline for one machine of each kind; gives what the store keeps of each."""
    config = read_monitor_config(plant.config)
    plant.data.mkdir()
    values = []
    with Store.open(store_url(config, plant.data), plant.data, writer=True) as store:
        service = MonitorService(config, store, plant.data, path=plant.config)
        with reporter.task("learning baselines", total=len(clips)) as task:
            for machine, group in zip(service.machines, clips.values(), strict=True):
                assert isinstance(machine, StreamMonitor)
                learned = learn_baseline(group, RATE, machine.id, time.time())
                learned.detector.save(plant.data / MODELS / machine.id)
                machine.adopt(LiveModel(learned.detector), learned.points, learned.references)
                values.append(machine.learned_values())
                task.advance()
    return values


def _copy_baselines(plant: LoadPlant, values: list[dict[str, Any]]) -> None:
    """Give every machine what the one of its kind has learned."""
    config = read_monitor_config(plant.config)
    models = plant.data / MODELS
    for number in range(len(values), len(plant.ids)):
        shutil.copytree(models / plant.ids[number % len(values)], models / plant.ids[number])
    with Store.open(store_url(config, plant.data), plant.data, writer=True) as store:
        store.set_values(
            {
                (id, key): value
                for number, id in enumerate(plant.ids)
                for key, value in values[number % len(values)].items()
            }
        )
