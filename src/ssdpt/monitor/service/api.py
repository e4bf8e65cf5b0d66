"""What the HTTP API can ask of the service. Methods may be called from any thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ssdpt.alarms.operating_points import UNKNOWN
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.base import HasStatus
from ssdpt.monitor.capture.spectrum import spectrogram
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.events.picture import read_picture
from ssdpt.monitor.messages import (
    Event,
    EventLabel,
    EventSpectrogram,
    KeptRecording,
    MachineStatus,
    ModelInfo,
    OutputInfo,
    OutputTest,
    ServiceStatus,
    Spectrogram,
    Spectrum,
    WeeklyReport,
)
from ssdpt.monitor.operating.pushed_operating_data import PushedOperatingData
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.baseline_learning import BaselineLearning
from ssdpt.monitor.service.commissioner import Commissioner
from ssdpt.monitor.service.diagnosis import Diagnosis
from ssdpt.monitor.service.feedback import Feedback
from ssdpt.monitor.service.live_sound import LiveSound, LiveSounds
from ssdpt.monitor.service.machine_admin import MachineAdmin
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.normal_samples import NormalSamples
from ssdpt.monitor.service.outputs import Outputs
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.reports import Reports
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.sound_keeper import SoundKeeper
from ssdpt.monitor.service.status import ServiceView
from ssdpt.monitor.service.subscriptions import Subscription, Subscriptions
from ssdpt.monitor.service.trials import Trials
from ssdpt.monitor.setup_messages import (
    BaselineChoice,
    ChangeEffect,
    MachineDefinition,
    Microphones,
    TrialStatus,
)
from ssdpt.monitor.sources.base import PushableSource, SnapshotReceiver, SourceWithStatus
from ssdpt.monitor.sources.microphones import microphones
from ssdpt.monitor.sources.snapshot_message import SnapshotMessage
from ssdpt.monitor.store import Store
from ssdpt.monitor.week import Week
from ssdpt.sentences import Sentence, said
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
        keeper: SoundKeeper,
        live_sounds: LiveSounds,
        learning: BaselineLearning,
        commissioner: Commissioner,
        feedback: Feedback,
        reports: Reports,
        diagnosis: Diagnosis,
        admin: MachineAdmin,
        publisher: Publisher,
        outputs: Outputs,
        subscriptions: Subscriptions,
        trials: Trials,
        metrics: Metrics,
        is_ready: Callable[[], bool],
    ) -> None:
        self.metrics, self.diagnosis = metrics, diagnosis
        self._view, self._machines, self._store, self._values = view, machines, store, values
        self._samples, self._learning, self._commissioner = samples, learning, commissioner
        self._feedback, self._reports = feedback, reports
        self._keeper, self._live_sounds = keeper, live_sounds
        self._admin, self._publisher, self._subscriptions = admin, publisher, subscriptions
        self._outputs, self._trials = outputs, trials
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

    def config_upgrades(self) -> tuple[str, ...]:
        """What of the configuration file is of an earlier release, in sentences."""
        return self._view.config_upgrades

    def machine_statuses(self) -> list[MachineStatus]:
        """All machines."""
        return self._view.machines()

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

    def live_sound(self, id: str) -> LiveSound:
        """The sound of a machine from now on; SsdptError where nobody can listen to it."""
        return self._live_sounds.of_machine(id)

    def event_spectrogram(self, id: str) -> EventSpectrogram:
        """The picture of an event."""
        path = self._store.attachment(id, "spectrogram")
        if path is None:
            raise SsdptError(Sentence("api.noSpectrogram"))
        return read_picture(path.read_bytes())

    def weekly_report(self, week: Week | None = None) -> WeeklyReport:
        """Of a week, by default of the present one."""
        return self._reports.of(week)

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

    def outputs(self) -> list[OutputInfo]:
        """The outputs, and how they are doing."""
        return self._outputs.infos()

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

    def set_details(self, id: str, details: Mapping[str, str], who: str) -> Event:
        """Someone gives the cause, the work order or the fault of an event."""
        return self._feedback.set_details(id, details, who)

    def judge_recognition(self, id: str, *, right: bool, who: str) -> Event:
        """Someone says whether an event is the fault that it looks like."""
        return self._feedback.judge_recognition(id, right=right, who=who)

    def keep_sound(self, id: str, minutes: float, who: str, note: str = "") -> KeptRecording:
        """Keep the last minutes of sound of a machine."""
        return self._keeper.keep(id, minutes, who, note)

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
                raise SsdptError(Sentence("machines.tooEarly", id=id))
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
                raise SsdptError(
                    Sentence("machines.noOperatingPoint", id=id, number=number)
                ) from error
        self._values.save(machine)
        self._publisher.machine_changed(id)

    def thresholds(self, id: str, false_alerts_per_week: float) -> Thresholds:
        """What the thresholds would be."""
        machine = self._machines.stream(id)
        if machine.model is None:
            raise SsdptError(Sentence("machines.noModel", id=id))
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
    ) -> float:
        """Sound from another program, (frames, channels) or (frames,); gives its new seconds."""
        source = self._receiver(id)
        if not isinstance(source, PushableSource):
            raise SsdptError(Sentence("machines.notPushed", id=id))
        return source.push(samples, rate, channels, time)

    def push_snapshot(self, id: str, message: SnapshotMessage) -> float:
        """A snapshot from another program, in the unit of its sensor; gives its seconds."""
        source = self._receiver(id)
        if not isinstance(source, SnapshotReceiver):
            raise SsdptError(Sentence("machines.noJsonSnapshots", id=id))
        return source.push_message(message)

    def push_operating_data(
        self,
        id: str,
        *,
        running: bool | None,
        speed_rpm: float | None,
        load_percent: float | None,
    ) -> None:
        """What another program says about how a machine runs; None: says nothing."""
        machine = self._machines[id]
        if not isinstance(machine.operating, PushedOperatingData):
            raise SsdptError(Sentence("machines.noPushedOperatingData", id=id))
        machine.operating.push(running, speed_rpm, load_percent)

    def test_output(self, number: int) -> OutputTest:
        """Send a test message by an output; UnknownOutput where there is none."""
        return self._outputs.test(number)

    def receives(self, id: str) -> bool:
        """Whether sound can be sent to a machine of this id: it exists, or its source is tried."""
        return id in self._machines or self._trials.source_for(id) is not None

    def _receiver(self, id: str) -> HasStatus | SourceWithStatus:
        tried = None if id in self._machines else self._trials.source_for(id)
        return tried or self._machines[id].capture.source

    # --- Setting up -------------------------------------------------------------------------------

    def microphones(self) -> Microphones:
        """Those of this computer, or why they cannot be listed."""
        try:
            return Microphones(microphones=microphones(), problem="")
        except SsdptError as error:
            return Microphones(microphones=(), problem=said(error))

    def open_trial(self, settings: MachineSettings) -> TrialStatus:
        """Open the source of a machine that need not exist; closed when nobody looks at it."""
        return self._trials.open(self._admin.for_trial(settings))

    def trial(self, id: str, seconds: float) -> TrialStatus:
        """How a trial is doing, with a picture of the last seconds; UnknownTrial: it is over."""
        return self._trials.status(id, seconds)

    def trial_sound(self, id: str) -> LiveSound:
        """The sound of a source on trial from now on; SsdptError where nobody can listen to it."""
        return self._live_sounds.of_trial(id)

    def close_trial(self, id: str) -> None:
        """End a trial."""
        self._trials.close(id)

    def definition(self, id: str) -> MachineDefinition:
        """The settings of a machine without secrets, and where they can be changed."""
        return self._admin.definition(id)

    def change_effect(self, settings: MachineSettings) -> ChangeEffect:
        """What new settings of a machine would mean for what it has learned."""
        return self._admin.effect(settings)

    def change_machine(self, settings: MachineSettings, choice: BaselineChoice | None) -> None:
        """Give a machine new settings."""
        self._admin.change(settings, choice)

    def remove_ignored_definition(self, id: str) -> None:
        """Remove the page's definition of a machine that the file defines as well."""
        self._admin.remove_ignored(id)

    def add_machine(self, settings: MachineSettings) -> str:
        """Monitor one more machine; gives its id."""
        return self._admin.add(settings)

    def remove_machine(self, id: str) -> None:
        """Stop monitoring a machine that was added on the page."""
        self._admin.remove(id)
