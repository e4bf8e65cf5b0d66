"""Opens machines: model, source and capture, and what they had learned before."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from ssdpt.common.files import writing
from ssdpt.data.audio import describe_rate
from ssdpt.detection.detector import Detector
from ssdpt.detection.storage import is_model
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.snapshot_capture import SnapshotCapture
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.learning.baseline import RATE, baseline_front_end
from ssdpt.monitor.learning.collector import CLIP_SECONDS
from ssdpt.monitor.scoring.live_model import LiveModel
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.models import ModelCache, load_named_model, section_of
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.sources import open_snapshots, open_source
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.learned_models import MODELS

_MIN_HISTORY = 120.0  # seconds of sound kept for events and pictures
_MARGIN = 30.0  # seconds beyond what the recording of an event needs
_LOG = logging.getLogger(__name__)


class MachineOpener:
    """Makes machines from their settings; their capture is not started.

    What a machine has learned is its own, in a folder named by its id: its baseline, or its copy
    of the model that the configuration names, once a person has labelled a sound as normal.
    """

    def __init__(
        self, store: Store, data: Path, models: ModelCache, values: MachineValues, log: ServiceLog
    ) -> None:
        self._store, self._data, self._models, self._values = store, data, models, values
        self._log = log

    def open(
        self,
        settings: MachineSettings,
        config: MonitorConfig,
        previous: MachineMonitor | None = None,
    ) -> MachineMonitor:
        """A machine; the capture of `previous` goes on where source and model are the same."""
        self._values.machine_added(settings.id)
        if settings.sensor.snapshots:
            machine: MachineMonitor = _open_snapshots(settings, previous)
        else:
            machine = self._open_stream(settings, config, previous)
        self._values.restore(machine)
        self._resume_events(machine)
        return machine

    def _open_stream(
        self, settings: MachineSettings, config: MonitorConfig, previous: MachineMonitor | None
    ) -> StreamMonitor:
        model = self._model(settings)
        section = section_of(settings, model)
        capture = self._capture(settings, config, model, previous)
        usual = self._values.get(settings.id, "usual_dbfs")
        return StreamMonitor(settings, capture, model, section, usual_dbfs=usual)

    @staticmethod
    def keeps_enough(machine: MachineMonitor, config: MonitorConfig) -> bool:
        """Whether its capture holds as much sound as the recording of an event needs."""
        if not isinstance(machine, StreamMonitor):
            return True
        return machine.capture.samples.seconds >= _history_seconds(config)

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
        named = load_named_model(machine.settings, self._models)
        self._values.set(machine.id, "learned_from", None if named is None else named.digest)
        return model

    def forget(self, id: str) -> None:
        """Remove all that a removed machine has learned; its history stays."""
        self._values.remove_machine(id)
        self._store.drop_sample(id)
        folder = self.own_folder(id)
        if is_model(folder):
            shutil.rmtree(folder)

    def _model(self, settings: MachineSettings) -> LiveModel | None:
        """What it has learned, or the model that it names; None where there is neither."""
        named = load_named_model(settings, self._models)
        folder = self.own_folder(settings.id)
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
                f"{settings.title}: its learned model cannot be read ({error}) and was moved to "
                f"{aside.name}; learn a new baseline"
            )
            return named
        rate = settings.sensor.sample_rate
        if named is None and rate not in (None, model.detector.sample_rate):
            self._log.note(
                f"{settings.title}: its baseline was learned at "
                f"{describe_rate(model.detector.sample_rate)}, not at the sample rate of its "
                "sensor; learn a new one"
            )
            return None
        return model

    def _capture(
        self,
        settings: MachineSettings,
        config: MonitorConfig,
        model: LiveModel | None,
        previous: MachineMonitor | None,
    ) -> AudioCapture:
        seconds = _history_seconds(config)
        own_rate = settings.sensor.sample_rate or RATE
        rate = own_rate if model is None else model.detector.sample_rate
        if (
            isinstance(previous, StreamMonitor)
            and previous.settings.source == settings.source
            and previous.model is model
            and previous.capture.rate == rate
            and previous.capture.samples.seconds >= seconds
        ):
            return previous.capture
        front_end = baseline_front_end(rate) if model is None else model.scorer.front_end
        clip_seconds = CLIP_SECONDS if model is None else model.clip_seconds
        return AudioCapture(
            settings.id,
            open_source(settings.source, rate),
            front_end,
            rate,
            seconds=seconds,
            frame_seconds=3 * clip_seconds,
            in_files=settings.source.arrives_in_files,
        )

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


def _open_snapshots(settings: MachineSettings, previous: MachineMonitor | None) -> SnapshotMonitor:
    if (
        isinstance(previous, SnapshotMonitor)
        and previous.settings.source == settings.source
        and previous.settings.sensor == settings.sensor
    ):
        return SnapshotMonitor(settings, previous.capture)
    source = open_snapshots(settings.source, settings.sensor)
    return SnapshotMonitor(settings, SnapshotCapture(settings.id, source))


def _history_seconds(config: MonitorConfig) -> float:
    """Seconds of sound that are kept of each machine."""
    retention = config.retention
    return max(_MIN_HISTORY, retention.pre_roll + retention.post_roll + _MARGIN)
