"""The machines of a plant file, opened: models loaded once, sources not started yet."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ssdpt.config import load_config
from ssdpt.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.monitor.hearing import Hearing
from ssdpt.monitor.live import LiveModel
from ssdpt.monitor.machine import MachineMonitor
from ssdpt.monitor.plant import MachineSettings, PlantFile
from ssdpt.monitor.sources import open_source
from ssdpt.monitor.store import Store
from ssdpt.storage import is_model
from ssdpt.systems.texture import Texture

_RATE, _CLIP_SECONDS = 16000, 10.0  # of a machine without a model
_OPEN_EVENTS = 1000
_LEAST_MEMORY = 120.0  # seconds of sound that are kept for events and pictures


class Roster:
    """Opens machines. Those that name the same model folder share one model."""

    def __init__(self, store: Store, data: Path) -> None:
        self.store, self.data = store, data
        self._models: dict[Path, LiveModel] = {}

    def model_folder(self, settings: MachineSettings) -> Path:
        """Where the model of a machine is, or will be once it has learnt its baseline."""
        return settings.model or self.data / "models" / settings.id

    def model(self, folder: Path) -> LiveModel:
        """The model of a folder, loaded once."""
        key = folder.resolve()
        if key not in self._models:
            self._models[key] = LiveModel(Detector.load(folder, device="cpu"))
        return self._models[key]

    def forget(self, folder: Path) -> None:
        """Load it anew when it is next asked for."""
        self._models.pop(folder.resolve(), None)

    def remember_shift(self, machine: MachineMonitor) -> None:
        """A new baseline holds as long as the model does that it was taken for."""
        if machine.model is not None:
            told = {"by": machine.shift, "model": _digest(machine.model)}
            self.store.remember(machine.id, "shift", told)

    def _shift(self, id: str, model: LiveModel | None) -> float:
        told = self.store.recall(id, "shift")
        if not told or model is None or told["model"] != _digest(model):
            return 0.0
        return float(told["by"])

    @staticmethod
    def read_model(settings: MachineSettings) -> LiveModel:
        """The model that a machine names, whether its section fits as well."""
        assert settings.model is not None
        model = LiveModel(Detector.load(settings.model, device="cpu"))
        _section(settings, model)
        return model

    def open(self, settings: MachineSettings, plant: PlantFile) -> MachineMonitor:
        """Everything but starting to listen."""
        folder = self.model_folder(settings)
        model = None
        if settings.model is not None or is_model(folder):
            model = self.model(folder)
        section = _section(settings, model)
        if model is None:
            rate = _RATE
            front_end = Texture.front_end_of(load_config("best"))
        else:
            rate, front_end = model.detector.sample_rate, model.detector.system.front_end
        source = open_source(settings.source, rate)
        memory = max(_LEAST_MEMORY, plant.retention.pre_roll + plant.retention.post_roll + 30.0)
        clip = _CLIP_SECONDS if model is None else model.clip_seconds
        hearing = Hearing(
            settings.id, source, front_end, rate, seconds=memory, frame_seconds=3 * clip
        )
        recall = self.store.recall
        machine = MachineMonitor(
            settings,
            hearing,
            model,
            section=section,
            shift=self._shift(settings.id, model),
            usual_dbfs=recall(settings.id, "usual_dbfs"),
        )
        machine.per_week = float(recall(settings.id, "per_week") or settings.alarm.per_week)
        machine.muted_until = recall(settings.id, "muted_until")
        mean, seconds = recall(settings.id, "drift") or (0.0, 0.0)
        machine.drift.mean, machine.drift.seconds = float(mean), float(seconds)
        # Newest first: of two of one kind that were never ended, the newest goes on.
        for event in self.store.events(machine=settings.id, open_only=True, limit=_OPEN_EVENTS):
            if event.ended is None and event.kind not in machine.open:
                machine.resume(event)
        latest = self.store.events(machine=settings.id, limit=1)
        machine.last_event = latest[0] if latest else None
        return machine


def _digest(model: LiveModel) -> str:
    """Which model it is, by what it has heard."""
    heard = "".join(sorted(model.detector.fingerprint))
    return hashlib.blake2b(heard.encode(), digest_size=16).hexdigest()


def _section(settings: MachineSettings, model: LiveModel | None) -> str:
    """The machine ID that a model judges it as."""
    if model is None:
        return settings.section
    known = model.detector.sections
    if settings.section and settings.section not in known:
        raise SsdptError(
            f"machine {settings.id}: its model does not know section '{settings.section}', "
            f"but {', '.join(known)}"
        )
    return settings.section or (known[0] if len(known) == 1 else "")
