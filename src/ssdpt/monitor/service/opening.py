"""Opens machines: model, source and capture, and what they had learned before."""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Callable
from pathlib import Path

from ssdpt.common.files import recover_folder, writing
from ssdpt.common.temporary import remove_leftovers
from ssdpt.data.audio import describe_rate
from ssdpt.detection.detector import Detector
from ssdpt.detection.storage import DAMAGE, is_model
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.snapshot_capture import SnapshotCapture
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.learning.baseline import RATE, baseline_front_end
from ssdpt.monitor.learning.collector import CLIP_SECONDS
from ssdpt.monitor.operating import open_operating_data
from ssdpt.monitor.operating.base import OperatingDataSource
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.models import ModelCache, load_named_model, section_of
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.shaft import Shaft, open_shaft
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.sources import open_snapshots, open_source
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.playback import PlaybackClock
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.learned_models import MODELS
from ssdpt.sentences import Sentence, clauses

_MIN_HISTORY = 120.0  # seconds of sound kept for events and pictures
_MARGIN = 30.0  # seconds beyond what the recording of an event needs
_SET_BY_PEOPLE = ("muted_until", "false_alerts_per_week")  # keys of values
_LOG = logging.getLogger(__name__)


class MachineOpener:
    """Makes machines from their settings; their capture is not started.

    What a machine has learned is its own, in a folder named by its id: its baseline, or its copy
    of the model that the configuration names, once a person has labelled a sound as normal.
    """

    def __init__(
        self,
        store: Store,
        data: Path,
        models: ModelCache,
        values: MachineValues,
        log: ServiceLog,
        catalogue: Callable[[], BearingCatalogue],
        played_until: Callable[[], float],
    ) -> None:
        """`catalogue` gives the bearings that are known now; `played_until` the time, in seconds
        since 1970, that recordings and simulations have reached."""
        self._played_until = played_until
        self._store, self._data, self._models, self._values = store, data, models, values
        self._log, self._catalogue = log, catalogue
        self._unusable: dict[str, str] = {}  # why the model that a machine names cannot be used
        log.add_check(lambda: clauses(*self._unusable.values()))

    def open_at_start(self, settings: MachineSettings, config: MonitorConfig) -> MachineMonitor:
        """A machine when the service starts: a damaged model keeps no other from starting."""
        try:
            section_of(settings, load_named_model(settings, self._models))
        except SsdptError as error:
            _LOG.warning("%s", error)
            self._unusable[settings.id] = Sentence(
                "service.notJudged", error=error, machine=settings.title
            )
        return self.open(settings, config)

    def open(
        self,
        settings: MachineSettings,
        config: MonitorConfig,
        previous: MachineMonitor | None = None,
    ) -> MachineMonitor:
        """A machine; the capture of `previous` goes on where source and model are the same."""
        if previous is not None and previous.settings.model != settings.model:
            self._unusable.pop(settings.id, None)
        shaft = open_shaft(settings, self._catalogue())
        self._values.machine_added(settings.id)
        machine = self._with_nothing_learned(settings, config, shaft, previous)
        try:
            self._values.restore(machine)
        except DAMAGE as error:
            # Its values in the store are damaged: no reason to keep the others from starting.
            _LOG.warning("values of %s are damaged: %r", settings.id, error)
            self._log.note(Sentence("service.valuesDamaged", machine=settings.title))
            machine = self._with_nothing_learned(settings, config, shaft, previous)
        machine.operating = _operating_data(settings, previous)
        self._resume_events(machine)
        return machine

    def _with_nothing_learned(
        self,
        settings: MachineSettings,
        config: MonitorConfig,
        shaft: Shaft,
        previous: MachineMonitor | None,
    ) -> MachineMonitor:
        """A machine with its model, and nothing else of what it has learned."""
        if settings.sensor.snapshots:
            return self._open_snapshots(settings, shaft, previous)
        return self._open_stream(settings, config, shaft, previous)

    def _open_stream(
        self,
        settings: MachineSettings,
        config: MonitorConfig,
        shaft: Shaft,
        previous: MachineMonitor | None,
    ) -> StreamMonitor:
        model = self._model(settings)
        section = section_of(settings, model)
        capture = self._capture(settings, config, model, previous)
        usual = self._values.get(settings.id, "usual_dbfs")
        if not isinstance(usual, int | float):  # damaged, or not known yet
            usual = None
        return StreamMonitor(settings, capture, shaft, model, section, usual_dbfs=usual)

    @staticmethod
    def keeps_enough(machine: MachineMonitor, config: MonitorConfig) -> bool:
        """Whether its capture holds as much sound as recordings need, and no more on demand."""
        return not isinstance(machine, StreamMonitor) or _holds_enough(machine.capture, config)

    def own_folder(self, id: str) -> Path:
        """Where a machine keeps the model that it has learned."""
        return self._data / MODELS / id

    def model_folder(self, machine: MachineMonitor) -> Path:
        """Where the present model of a machine is."""
        own = self.own_folder(machine.id)
        learned = self._models.is_of(own, machine.model) or machine.settings.model is None
        return own if learned else machine.settings.model  # type: ignore[return-value]

    def save_model(self, machine: MachineMonitor, detector: Detector) -> LiveModel:
        """Keep what a machine has learned as its own model."""
        model = self._models.save(self.own_folder(machine.id), detector)
        named = self._named_model(machine.settings)
        self._values.set(machine.id, "learned_from", None if named is None else named.digest)
        return model

    def remove_leftovers(self) -> None:
        """Remove what was left unfinished by a service that was killed."""
        remove_leftovers(self._data / MODELS)

    def forget(self, id: str) -> None:
        """Remove all that a removed machine has learned; its history stays."""
        self._values.remove_machine(id)
        self._remove_model(id)

    def forget_baseline(self, id: str) -> None:
        """Remove what a machine has learned; what people have set stays."""
        kept = {key: self._values.get(id, key) for key in _SET_BY_PEOPLE}
        self._values.remove_machine(id)
        self._remove_model(id)
        self._values.machine_added(id)
        for key, value in kept.items():
            if value is not None:
                self._values.set(id, key, value)

    def _remove_model(self, id: str) -> None:
        self._store.drop_sample(id)
        folder = self.own_folder(id)
        if is_model(folder):
            shutil.rmtree(folder)

    def _model(self, settings: MachineSettings) -> LiveModel | None:
        """What it has learned, or the model that it names; None where there is neither."""
        named = self._named_model(settings)
        folder = self.own_folder(settings.id)
        if recover_folder(folder):
            self._log.note(Sentence("service.modelRecovered", machine=settings.title))
        origin = self._values.get(settings.id, "learned_from")
        if not is_model(folder) or origin != (named and named.digest):
            return named
        try:
            model = self._models.load(folder)
        except SsdptError as error:
            # One machine that must learn anew must not keep the others from starting.
            _LOG.warning("%s", error)
            aside = folder.with_name(f"{folder.name}.damaged")  # no id of a machine has a dot
            with writing(aside):
                shutil.rmtree(aside, ignore_errors=True)
                folder.rename(aside)
            self._log.note(
                Sentence(
                    "service.modelDamaged",
                    machine=settings.title,
                    error=error,
                    folder=aside.name,
                )
            )
            return named
        rate = settings.sensor.sample_rate
        if named is None and rate not in (None, model.detector.sample_rate):
            learned = describe_rate(model.detector.sample_rate)
            self._log.note(Sentence("service.otherRate", machine=settings.title, rate=learned))
            return None
        return model

    def _named_model(self, settings: MachineSettings) -> LiveModel | None:
        """The model that the configuration names; None where it names none or it is damaged."""
        if settings.id in self._unusable:
            return None
        return load_named_model(settings, self._models)

    def _capture(
        self,
        settings: MachineSettings,
        config: MonitorConfig,
        model: LiveModel | None,
        previous: MachineMonitor | None,
    ) -> AudioCapture:
        own_rate = settings.sensor.sample_rate or RATE
        rate = own_rate if model is None else model.detector.sample_rate
        if (
            isinstance(previous, StreamMonitor)
            and previous.settings.source == settings.source
            and previous.model is model
            and previous.capture.rate == rate
            and _holds_enough(previous.capture, config)
        ):
            return previous.capture
        front_end = baseline_front_end(rate) if model is None else model.scorer.front_end
        clip_seconds = CLIP_SECONDS if model is None else model.clip_seconds
        return AudioCapture(
            settings.id,
            open_source(settings.source, rate, self._clock_of(settings)),
            front_end,
            rate,
            seconds=_history_seconds(config),
            recent_seconds=config.retention.recent_seconds,
            frame_seconds=3 * clip_seconds,
            in_files=settings.source.arrives_in_files,
        )

    def _open_snapshots(
        self, settings: MachineSettings, shaft: Shaft, previous: MachineMonitor | None
    ) -> SnapshotMonitor:
        if (
            isinstance(previous, SnapshotMonitor)
            and previous.settings.source == settings.source
            and previous.settings.sensor == settings.sensor
        ):
            return SnapshotMonitor(settings, previous.capture, shaft)
        source = open_snapshots(settings.source, settings.sensor, self._clock_of(settings))
        return SnapshotMonitor(settings, SnapshotCapture(settings.id, source), shaft)

    def _clock_of(self, settings: MachineSettings) -> Clock:
        """What is played has times of its own."""
        is_played = settings.source.playback_speed is not None
        return PlaybackClock(self._played_until) if is_played else SYSTEM

    def _resume_events(self, machine: MachineMonitor) -> None:
        last = self._store.events(machine=machine.id, limit=1)
        last_anomaly = self._store.events(machine=machine.id, kind="anomaly", limit=1)
        machine.events.resume(
            self._store.ongoing_events(machine.id),
            last[0] if last else None,
            last_anomaly[0] if last_anomaly else None,
        )
        anomaly = machine.events.ongoing.get("anomaly")
        if anomaly is not None:
            machine.resume(anomaly.level)


def _operating_data(
    settings: MachineSettings, previous: MachineMonitor | None
) -> OperatingDataSource | None:
    """That of `previous` goes on where its settings are the same."""
    if settings.operating_data is None:
        return None
    if previous is not None and previous.settings.operating_data == settings.operating_data:
        return previous.operating
    return open_operating_data(settings.operating_data)


def _history_seconds(config: MonitorConfig) -> float:
    """Seconds of sound that are kept of each machine."""
    retention = config.retention
    return max(_MIN_HISTORY, retention.pre_roll + retention.post_roll + _MARGIN)


def _holds_enough(capture: AudioCapture, config: MonitorConfig) -> bool:
    """Whether it holds as much sound as events need, and what is to be held to be kept."""
    # Not more either: sound that is not to be held is given up at once.
    recent = max(config.retention.recent_seconds, 1 / capture.rate)
    return capture.samples.seconds >= _history_seconds(config) and math.isclose(
        capture.recent.seconds, recent, abs_tol=1 / capture.rate
    )
