"""What the HTTP API can ask of the service. Methods may be called from any thread."""

from __future__ import annotations

from collections.abc import Callable

from ssdpt.alarms.operating_points import UNKNOWN
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.spectrum import spectrogram
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.events.picture import read_picture
from ssdpt.monitor.messages import (
    Event,
    EventLabel,
    EventSpectrogram,
    MachineStatus,
    ModelInfo,
    ServiceStatus,
    Spectrogram,
    Spectrum,
)
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.baseline_learning import BaselineLearning
from ssdpt.monitor.service.commissioner import Commissioner
from ssdpt.monitor.service.feedback import Feedback
from ssdpt.monitor.service.machine_admin import MachineAdmin
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.normal_samples import NormalSamples
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.status import ServiceView
from ssdpt.monitor.service.subscriptions import Subscription, Subscriptions
from ssdpt.monitor.sources.base import PushableSource, SnapshotReceiver
from ssdpt.monitor.sources.snapshot_message import SnapshotMessage
from ssdpt.monitor.store import Store
from ssdpt.types import Floats


class MonitorApi:
    """Reads what is shown, and does what people ask for."""

    def __init__(
        self,
        view: ServiceView,
        machines: MachineRegistry,
        store: Store,
        values: MachineValues,
        samples: NormalSamples,
        learning: BaselineLearning,
        commissioner: Commissioner,
        feedback: Feedback,
        admin: MachineAdmin,
        publisher: Publisher,
        subscriptions: Subscriptions,
        metrics: Metrics,
        is_ready: Callable[[], bool],
    ) -> None:
        self.metrics = metrics
        self._view, self._machines, self._store, self._values = view, machines, store, values
        self._samples, self._learning, self._commissioner = samples, learning, commissioner
        self._feedback = feedback
        self._admin, self._publisher, self._subscriptions = admin, publisher, subscriptions
        self._is_ready = is_ready

    # --- What is shown ----------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether the loop runs and the store accepts data; a lost machine is an event."""
        return self._is_ready()

    def machine_ids(self) -> list[str]:
        return self._machines.ids()

    def status(self) -> ServiceStatus:
        """The service itself."""
        return self._view.service()

    def machine_statuses(self) -> list[MachineStatus]:
        """All machines."""
        statuses = [self._view.machine_if_known(id) for id in self._machines.ids()]
        return [status for status in statuses if status is not None]

    def machine_status(self, id: str) -> MachineStatus:
        """One machine; UnknownMachine where there is none."""
        return self._view.machine(id)

    def subscribe(self) -> Subscription:
        """Everything that happens from now on."""
        return self._subscriptions.subscribe()

    def spectrum(self, id: str) -> Spectrum:
        """The last second, or snapshot, against the normal range."""
        machine = self._machines[id]
        if isinstance(machine, SnapshotMonitor):
            return machine.spectrum()
        machine = self._machines.stream(id)
        capture, point = machine.capture, machine.operating_point or UNKNOWN
        now = capture.spectrum(capture.log_mel.end)
        return machine.references.spectrum.compare(capture.frequencies, now, point)

    def spectrogram(self, id: str, seconds: float) -> Spectrogram:
        """The last seconds."""
        machine = self._machines[id]
        if isinstance(machine, SnapshotMonitor):
            return machine.spectrogram(seconds)
        capture = self._machines.stream(id).capture
        end = capture.log_mel.end
        frames, begin = capture.log_mel.between(end - seconds, end)
        return spectrogram(frames, begin, capture.frequencies, capture.mel_seconds)

    def normal_sample(self, id: str) -> bytes:
        """Some seconds of normal sound, or normal snapshots end to end, as a FLAC file."""
        return self._samples.flac(self._machines[id])

    def event_spectrogram(self, id: str) -> EventSpectrogram:
        """The picture of an event."""
        path = self._store.attachment(id, "spectrogram")
        if path is None:
            raise SsdptError("this event has no spectrogram")
        return read_picture(path.read_bytes())

    def models(self) -> list[ModelInfo]:
        """The models of all machines that have one."""
        return [
            ModelInfo(
                machine=machine.id,
                system=model.detector.system_name,
                card_markdown=model.detector.card(),
                sections=model.detector.sections,
                recordings=len(model.detector.fingerprint),
                version=model.detector.facts()["version"],
            )
            for machine in self._machines
            if (model := machine.model) is not None
        ]

    # --- What people do ---------------------------------------------------------------------------

    def acknowledge(self, id: str, who: str, comment: str = "") -> Event:
        """Someone has seen an event."""
        return self._feedback.acknowledge(id, who, comment)

    def comment(self, id: str, who: str, text: str) -> Event:
        """Someone writes about an event."""
        return self._feedback.comment(id, who, text)

    def label(self, id: str, label: EventLabel, who: str) -> Event:
        """Someone says what an event was; `normal` is added to the machine's model."""
        return self._feedback.label(id, label, who)

    def mute(self, id: str, until: float | None) -> None:
        """No new events of this machine until then; None ends it."""
        machine = self._machines[id]
        self._values.set(id, "muted_until", until)
        machine.muted_until = until
        self._publisher.machine_changed(id)

    def accept_drift(self, id: str) -> None:
        """Take the scores of the last minutes as usual, and their sound as normal."""
        machine = self._machines.stream(id)
        with self._machines.lock:
            if not machine.judge.can_accept_drift:
                raise SsdptError(
                    f"machine {id}: judged for less than five minutes as it sounds now; try again "
                    "later"
                )
            machine.accept_drift()
        self._values.save(machine)
        self._samples.store_later(machine)
        self._publisher.machine_changed(id)

    def commission(self, id: str, *, healthy: bool) -> None:
        """Answer whether a machine is healthy that sounds different from the start."""
        self._commissioner.answer(id, healthy=healthy)

    def name_operating_point(self, id: str, number: int, name: str) -> None:
        """Give an operating point a name."""
        with self._machines.lock:
            machine = self._machines.stream(id)
            try:
                machine.judge.name_point(number, name.strip())
            except IndexError as error:
                raise SsdptError(f"machine {id} has no operating point {number}") from error
        self._values.save(machine)
        self._publisher.machine_changed(id)

    def thresholds(self, id: str, false_alerts_per_week: float) -> Thresholds:
        """What the thresholds would be."""
        machine = self._machines.stream(id)
        if machine.model is None:
            raise SsdptError(f"machine {id} has no model yet: learn its baseline first")
        return machine.judge.thresholds_at(false_alerts_per_week)

    def set_false_alerts(self, id: str, false_alerts_per_week: float) -> Thresholds:
        """Accept so many false alerts per week from now on."""
        thresholds = self.thresholds(id, false_alerts_per_week)
        self._values.set_false_alerts(self._machines[id], false_alerts_per_week)
        self._publisher.machine_changed(id)
        return thresholds

    def start_learning(self, id: str, minutes: float) -> None:
        """Learn a new baseline from so many minutes of running."""
        self._learning.start(id, minutes)

    def stop_learning(self, id: str) -> None:
        """Discard what was collected."""
        self._learning.stop(id)

    def push(
        self, id: str, samples: Floats, rate: int, channels: int, time: float | None = None
    ) -> None:
        """Sound from another program, (frames, channels) or (frames,)."""
        machine = self._machines[id]
        source = machine.capture.source
        if not isinstance(source, PushableSource):
            raise SsdptError(
                f"machine {id} has a {machine.settings.source.kind} source; only a source of kind "
                "pushed accepts sound"
            )
        source.push(samples, rate, channels, time)

    def push_snapshot(self, id: str, message: SnapshotMessage) -> float:
        """A snapshot from another program, in the unit of its sensor; gives its seconds."""
        machine = self._machines[id]
        source = machine.capture.source
        if not isinstance(source, SnapshotReceiver):
            raise SsdptError(
                f"machine {id} takes no snapshots as JSON; its source must be of kind pushed, and "
                "its sensor must have snapshots: true"
            )
        return source.push_message(message)

    def add_machine(self, settings: MachineSettings) -> str:
        """Monitor one more machine; gives its id."""
        return self._admin.add(settings)

    def remove_machine(self, id: str) -> None:
        """Stop monitoring a machine that was added on the page."""
        self._admin.remove(id)
