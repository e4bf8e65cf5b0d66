"""The models of machines: loaded once, shared by machines that name the same folder."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import load_model
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.sentences import Sentence


class ModelCache:
    """Fitted or exported models, by folder."""

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        self._models: dict[Path, LiveModel] = {}
        self._lock = threading.RLock()

    def load(self, folder: Path) -> LiveModel:
        """The model of a folder, read on first use."""
        key = folder.resolve()
        with self._lock:
            if key not in self._models:
                self._models[key] = LiveModel(load_model(folder, device=self.device))
            return self._models[key]

    def save(self, folder: Path, detector: Detector) -> LiveModel:
        """Write a fitted model to its folder, and hold it."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        detector.save(folder)
        # Fitted on the CPU; where models score on a GPU, the saved one is read there.
        on_cpu = self.device == "cpu"
        model = LiveModel(detector if on_cpu else load_model(folder, device=self.device))
        with self._lock:
            self._models[folder.resolve()] = model
        return model

    def is_of(self, folder: Path, model: LiveModel | None) -> bool:
        """Whether this model is the one of the folder."""
        with self._lock:
            return model is not None and model is self._models.get(folder.resolve())

    def keep_only(self, used: Iterable[LiveModel | None]) -> None:
        """Release the models that no machine uses any more."""
        kept = {id(model) for model in used}
        with self._lock:
            self._models = {
                folder: model for folder, model in self._models.items() if id(model) in kept
            }


def section_of(settings: MachineSettings, model: LiveModel | None) -> str:
    """The machine ID within the model; empty where the model decides."""
    if model is None:
        return settings.section
    sections = model.detector.sections
    if settings.section and settings.section not in sections:
        raise SsdptError(
            Sentence(
                "machines.noSection", id=settings.id, section=settings.section, sections=sections
            )
        )
    return settings.section or (sections[0] if len(sections) == 1 else "")


def load_named_model(settings: MachineSettings, cache: ModelCache) -> LiveModel | None:
    """The model that the configuration names for a machine; None where it names none."""
    if settings.model is None:
        return None
    try:
        return cache.load(settings.model)
    except SsdptError as error:
        raise SsdptError(Sentence("machines.modelUnusable", id=settings.id, error=error)) from error
