"""The machines of a plant file, opened: models loaded once, sources not started yet."""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ssdpt.alarms.judge import MachineJudge
from ssdpt.common.files import writing
from ssdpt.config.tree import load_config
from ssdpt.detection.detector import Detector
from ssdpt.detection.storage import is_model
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.sources import open_source
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.learned_models import MODELS
from ssdpt.systems import system_class

_RATE, _CLIP_SECONDS = 16000, 10.0  # of a machine without a model
_LEAST_MEMORY = 120.0  # seconds of sound that are kept for events and pictures
_LOG = logging.getLogger(__name__)


class MachineRegistry:
    """Opens machines. Those that name the same model folder share one model.

    What a machine has learnt is its own, in a folder of its name: its baseline, or its copy of the
    model that the plant file names, once someone has said of a sound that it is normal.
    """

    def __init__(self, store: Store, data: Path, note: Callable[[str], None]) -> None:
        """`note` is told what whoever runs the plant should know."""
        self.store, self.data, self.note = store, data, note
        self._models: dict[Path, LiveModel] = {}
        self._remembered: dict[tuple[str, str], Any] = {}
        self._gone: set[str] = set()  # machines that were removed
        self._lock = threading.RLock()  # of these

    def own_folder(self, id: str) -> Path:
        """Where a machine keeps what it has learnt."""
        return self.data / MODELS / id

    def folder_of(self, machine: MachineMonitor) -> Path:
        """Where the model is that a machine is judged by."""
        own = self.own_folder(machine.id)
        is_own = machine.judge.model is self._models.get(own.resolve())
        return own if is_own or machine.settings.model is None else machine.settings.model

    def model(self, folder: Path) -> LiveModel:
        """The model of a folder, loaded once."""
        key = folder.resolve()
        with self._lock:
            if key not in self._models:
                self._models[key] = LiveModel(Detector.load(folder, device="cpu"))
            return self._models[key]

    def forget_models(self, used: Iterable[LiveModel | None]) -> None:
        """Let go of models that no machine is judged by any more."""
        kept = {id(model) for model in used}
        with self._lock:
            self._models = {key: one for key, one in self._models.items() if id(one) in kept}

    @staticmethod
    def read_model(settings: MachineSettings) -> LiveModel:
        """The model that a machine names, whether its section fits as well."""
        assert settings.model is not None
        with _named(settings):
            model = LiveModel(Detector.load(settings.model, device="cpu"))
        _section(settings, model)
        return model

    def learnt(self, machine: MachineMonitor, detector: Detector) -> LiveModel:
        """Keep what a machine has learnt, as its own."""
        folder = self.own_folder(machine.id)
        folder.parent.mkdir(parents=True, exist_ok=True)
        detector.save(folder)
        named = machine.settings.model
        origin = None if named is None else self.model(named).digest
        self._remember(machine.id, "learnt_from", origin)
        model = LiveModel(detector)
        with self._lock:
            self._models[folder.resolve()] = model
        return model

    def open(
        self, settings: MachineSettings, plant: MonitorConfig, before: MachineMonitor | None = None
    ) -> MachineMonitor:
        """Everything but starting to listen; `before` is heard on where its source is the same."""
        self._gone.discard(settings.id)
        model = self._model_of(settings)
        judge = MachineJudge(settings.alarm, model, _section(settings, model))
        hearing = self._hearing(settings, plant, model, before)
        recall = self.store.recall
        machine = MachineMonitor(
            settings, hearing, judge, usual_dbfs=recall(settings.id, "usual_dbfs")
        )
        machine.muted_until = recall(settings.id, "muted_until")
        asked = recall(settings.id, "per_week")
        # What was asked for on the page holds until the plant file asks for something else.
        if isinstance(asked, dict) and asked["instead_of"] == settings.alarm.per_week:
            judge.per_week = float(asked["per_week"])
        elif asked is not None:
            self._remember(settings.id, "per_week", None)
        told = recall(settings.id, "baseline")
        if told and model is not None and told["model"] == model.digest:
            marks = recall(settings.id, "marks")
            judge.baseline.recall(told, marks)
            machine.spectrum.recall(recall(settings.id, "spectra") or {})
        # Newest first: of two of one kind that were never ended, the newest goes on.
        for event in self.store.going_on(settings.id):
            if event.kind not in machine.events.open:
                machine.events.resume(event)
                if event.kind == "anomaly":
                    judge.levels.level = event.level
        latest = self.store.events(machine=settings.id, limit=1)
        machine.events.last = latest[0] if latest else None
        return machine

    def end_events_of_others(self, ids: Iterable[str]) -> None:
        """Machines that left the plant while nobody listened have no events that go on."""
        for id in {event.machine for event in self.store.going_on()} - set(ids):
            self.store.end_events(id, clock.time())

    @staticmethod
    def remembers_enough(machine: MachineMonitor, plant: MonitorConfig) -> bool:
        """Whether as much of its sound is held as the recording of an event needs."""
        return machine.hearing.ring.seconds >= _memory(plant)

    def remember(self, machine: MachineMonitor) -> None:
        """What must outlive a restart."""
        judge = machine.judge
        self._remember(machine.id, "usual_dbfs", machine.running.usual_dbfs)
        if judge.model is not None:
            told = {"model": judge.model.digest, **judge.baseline.to_json()}
            self._remember(machine.id, "baseline", told)
            self._remember(machine.id, "marks", judge.baseline.marks.to_json())
            self._remember(machine.id, "spectra", machine.spectrum.to_json())

    def ask(self, machine: MachineMonitor, per_week: float) -> None:
        """So many false alerts a week, instead of what the plant file asks for."""
        told = {"per_week": per_week, "instead_of": machine.settings.alarm.per_week}
        self._remember(machine.id, "per_week", told)
        machine.judge.per_week = per_week

    def forget(self, id: str) -> None:
        """A machine that was removed: all that it has learnt; its history stays."""
        with self._lock:
            self._gone.add(id)  # whoever is about to remember something of it comes too late
            self.store.forget(id)
            self._remembered = {key: told for key, told in self._remembered.items() if key[0] != id}
        self.store.drop_sample(id)
        folder = self.own_folder(id)
        if is_model(folder):
            shutil.rmtree(folder)

    def _remember(self, id: str, name: str, told: Any) -> None:
        """Not written again as long as it is the same."""
        with self._lock:
            if id in self._gone:
                return
            if (id, name) not in self._remembered or self._remembered[id, name] != told:
                self.store.remember(id, name, told)
                self._remembered[id, name] = told

    def _model_of(self, settings: MachineSettings) -> LiveModel | None:
        """What it has learnt, or the model that it names; None where there is neither."""
        with _named(settings):
            named = None if settings.model is None else self.model(settings.model)
        folder = self.own_folder(settings.id)
        origin = self.store.recall(settings.id, "learnt_from")
        if not is_model(folder) or origin != (named and named.digest):
            return named
        try:
            return self.model(folder)
        except SsdptError as error:
            # One machine that must learn anew must not keep the others from being listened to.
            _LOG.warning("%s", error)
            aside = folder.with_name(f"{folder.name}.damaged")  # no machine's name has a dot
            with writing(aside):
                shutil.rmtree(aside, ignore_errors=True)
                folder.rename(aside)
            self.note(
                f"{settings.title}: what it has learnt cannot be read ({error}), and was put aside "
                f"as {aside.name}; let it learn anew"
            )
            return named

    def _hearing(
        self,
        settings: MachineSettings,
        plant: MonitorConfig,
        model: LiveModel | None,
        before: MachineMonitor | None,
    ) -> AudioCapture:
        if model is None:
            rate = _RATE
            config = load_config("best")
            front_end = system_class(config.system).front_end_of(config)
        else:
            rate, front_end = model.detector.sample_rate, model.detector.system.front_end
        memory = _memory(plant)
        clip = _CLIP_SECONDS if model is None else model.clip_seconds
        if (
            before is not None
            and before.settings.source == settings.source
            and before.judge.model is model
            and before.hearing.ring.seconds >= memory
        ):
            return before.hearing
        source = open_source(settings.source, rate)
        return AudioCapture(
            settings.id,
            source,
            front_end,
            rate,
            seconds=memory,
            frame_seconds=3 * clip,
            in_files=settings.source.kind in ("folder", "pushed"),
        )


@contextlib.contextmanager
def _named(settings: MachineSettings) -> Iterator[None]:
    """What is wrong with a model is told with the machine that names it."""
    try:
        yield
    except SsdptError as error:
        raise SsdptError(f"machine {settings.id}: its model cannot be used: {error}") from error


def _memory(plant: MonitorConfig) -> float:
    """Seconds of sound that are held of each machine."""
    return max(_LEAST_MEMORY, plant.retention.pre_roll + plant.retention.post_roll + 30.0)


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
