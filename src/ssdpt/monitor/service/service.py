"""The monitoring service: its parts, joined."""

from __future__ import annotations

import logging
import time as clock
from functools import partial
from pathlib import Path

from ssdpt.common.at_once import do_at_once
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.base import Capture
from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.messages import ServiceChanged, ServiceStopped
from ssdpt.monitor.operating.base import OperatingDataSource
from ssdpt.monitor.outputs.metrics import MAX_EVENTS, Metrics
from ssdpt.monitor.service.added_machines import AddedMachines
from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.service.baseline_learning import BaselineLearning
from ssdpt.monitor.service.commissioner import Commissioner
from ssdpt.monitor.service.current_config import CurrentConfig
from ssdpt.monitor.service.diagnosis import Diagnosis
from ssdpt.monitor.service.event_recorder import EventRecorder
from ssdpt.monitor.service.feedback import Feedback
from ssdpt.monitor.service.housekeeping import Housekeeping
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.last_run import LAST_RUN, LastRun
from ssdpt.monitor.service.live_sound import LiveSounds
from ssdpt.monitor.service.loop import MonitorLoop
from ssdpt.monitor.service.machine_admin import MachineAdmin
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.models import ModelCache
from ssdpt.monitor.service.normal_samples import NormalSamples
from ssdpt.monitor.service.opening import MachineOpener
from ssdpt.monitor.service.outputs import Outputs
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.recognition import Recognition
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.reports import Reports
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.sound_keeper import SoundKeeper
from ssdpt.monitor.service.status import ServiceView
from ssdpt.monitor.service.status_changes import StatusChanges
from ssdpt.monitor.service.subscriptions import Subscriptions
from ssdpt.monitor.service.trials import Trials
from ssdpt.monitor.service.voice_filter import VoiceFilter
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.learned_models import MACHINES
from ssdpt.monitor.store.upgrades import describe
from ssdpt.monitor.store.writer import StoreWriter
from ssdpt.sentences import Sentence

# Seconds at most when the service stops; together less than what its supervisor waits.
_STOPPING = 2.0  # for the loop and all sources to end
_LAST_JOBS = 2.0  # to keep recordings of events
_LAST_WRITES = 3.0  # to write what is left, and to send the last messages
_LOG = logging.getLogger(__name__)


class MonitorService:
    """Monitors machines until it is stopped; `api` is what others can ask of it."""

    def __init__(
        self,
        config: MonitorConfig,
        store: Store,
        data: Path,
        *,
        path: Path | None = None,
        demo: bool = False,
    ) -> None:
        """`data`: folder of learned models; `path`: of the configuration file."""
        self._store = store
        self._current = CurrentConfig(config, AddedMachines(data / MACHINES), path)
        self.log = ServiceLog()
        if store.upgraded is not None:
            self.log.note(describe(store.upgraded))
        for sentence in config.upgrade_notes:
            self.log.note(Sentence("config.change", change=sentence))
        self.machines = MachineRegistry()
        self.metrics = Metrics(store.events(open_only=True, limit=MAX_EVENTS))
        self.metrics.watch_questions(
            lambda: {machine.id: machine.question is not None for machine in self.machines}
        )
        self._writer = StoreWriter(store)
        self.log.add_check(lambda: self._writer.problem)
        self._subscriptions, self._trials = Subscriptions(), Trials(lambda: self.config)
        self._last_run = LastRun(data / LAST_RUN)
        self._outputs = outputs = Outputs(self.config, store, self.metrics, self._not_monitoring)
        values = MachineValues(store, self.machines.lock)
        prognosis = Prognosis(self.machines, store, values)
        self._view = ServiceView(
            self.machines,
            self._current,
            prognosis,
            self.log,
            lambda: self.loop.shedding,
            demo=demo,
        )
        self._publisher = publisher = Publisher(
            self._writer, self._subscriptions, self.metrics, outputs, self._view.machine_if_known
        )
        self._status_changes = StatusChanges(self.machines, publisher)
        models = ModelCache(self.config.device)
        opener = MachineOpener(
            store,
            data,
            models,
            values,
            self.log,
            lambda: self._current.bearings,
            self.machines.played_until,
        )
        # The sound of an event does not wait until the models of other machines are fitted.
        self._recordings = JobQueue(self.log, "recordings")
        self._fits = JobQueue(self.log, "fits")
        voices = VoiceFilter(lambda: self.config.retention, values)
        samples = NormalSamples(store, self._recordings, voices, self._keeps_audio)
        keeper = SoundKeeper(self.machines, store, voices, lambda: self.config.retention)
        self.learning = BaselineLearning(
            machines=self.machines,
            opener=opener,
            values=values,
            samples=samples,
            voices=voices,
            publisher=publisher,
            jobs=self._fits,
            saving=self._recordings,
            log=self.log,
        )
        feedback = Feedback(
            machines=self.machines,
            store=store,
            writer=self._writer,
            opener=opener,
            values=values,
            publisher=publisher,
            jobs=self._fits,
            log=self.log,
            keep_audio=self._keeps_audio,
        )
        self._recorder = recorder = EventRecorder(
            machines=self.machines,
            store=store,
            writer=self._writer,
            publisher=publisher,
            jobs=self._recordings,
            log=self.log,
            voices=voices,
            retention=lambda: self.config.retention,
            recognition=Recognition(self.machines, store),
            recorded=feedback.learn_from,
        )
        commissioner = Commissioner(
            machines=self.machines,
            opener=opener,
            values=values,
            publisher=publisher,
            recorder=recorder,
            jobs=self._fits,
            saving=self._recordings,
            log=self.log,
        )
        reports = Reports(
            store=store,
            publisher=publisher,
            config=lambda: self.config,
            machines=self._view.machines,
            now=lambda: self._view.service().now,
        )
        self._housekeeping = Housekeeping(
            machines=self.machines,
            store=store,
            values=values,
            samples=samples,
            prognosis=prognosis,
            reports=reports,
            log=self.log,
            last_run=self._last_run,
            retention=lambda: self.config.retention,
        )
        self._admin = MachineAdmin(
            machines=self.machines,
            current=self._current,
            opener=opener,
            models=models,
            publisher=publisher,
            outputs=outputs,
            recorder=recorder,
            housekeeping=self._housekeeping,
            writer=self._writer,
            metrics=self.metrics,
            voices=voices,
            prognosis=prognosis,
        )
        self.loop = MonitorLoop(
            machines=self.machines,
            publisher=publisher,
            learning=self.learning,
            commissioner=commissioner,
            recorder=recorder,
            prognosis=prognosis,
            log=self.log,
            every_second=self._every_second,
        )
        self.api = MonitorApi(
            view=self._view,
            machines=self.machines,
            store=store,
            values=values,
            samples=samples,
            keeper=keeper,
            live_sounds=LiveSounds(self.machines, self._trials, lambda: self.config, voices),
            learning=self.learning,
            commissioner=commissioner,
            feedback=feedback,
            reports=reports,
            diagnosis=Diagnosis(self.machines, store, samples, lambda: self._current.bearings),
            admin=self._admin,
            publisher=publisher,
            outputs=outputs,
            subscriptions=self._subscriptions,
            trials=self._trials,
            metrics=self.metrics,
            is_ready=lambda: self.ready,
        )
        self.metrics.watch_shedding(
            lambda: 0 if self.loop.shedding is None else self.loop.shedding.degree,
            lambda: self.loop.left_out,
        )
        self._published: object = ((), (), None)  # what was last said of the service
        self._admin.open_all()

    @property
    def config(self) -> MonitorConfig:
        """The configuration in use, with the machines that were added on the page."""
        return self._current.config

    def start(self) -> None:
        """Start capture and loop."""
        self._end_events_of_removed_machines()
        self._writer.start()
        for part in self._parts:
            part.start()
        self.loop.start()
        self._outputs.start()  # after the loop: a heartbeat says whether it runs
        self._tell_start()
        self._housekeeping.start()
        self.learning.resume()

    def stop(self) -> None:
        """End in order: everything captured is written, outputs are closed.

        Takes some seconds at most, however many machines there are and whatever hangs.
        """
        self._subscriptions.close()
        self._trials.close_all()
        parts = self._parts
        for thread in (self.loop, self._housekeeping, *parts):
            thread.ask_to_stop()  # all at once, then wait for each
        end = clock.monotonic() + _STOPPING
        for thread in (self.loop, self._housekeeping, *parts):
            thread.stop(max(0.0, end - clock.monotonic()))
        self._recorder.record_all()
        do_at_once(
            {jobs.name: partial(jobs.close, _LAST_JOBS) for jobs in (self._recordings, self._fits)},
            _LAST_JOBS,
        )
        self._tell_stop()
        late = do_at_once(
            {
                "saving what machines have learned": self._housekeeping.save_values,
                "writing to the store": self._writer.stop,
                "closing the outputs": self._outputs.close,
            },
            _LAST_WRITES,
        )
        if late:
            _LOG.warning("the service stops without waiting any longer for: %s", ", ".join(late))

    @property
    def ready(self) -> bool:
        """Whether the loop runs and the store accepts data."""
        return self.loop.alive and self._housekeeping.alive and not self._writer.problem

    def _not_monitoring(self) -> str:
        """Why machines are not monitored; empty while they are."""
        if self.loop.stuck:
            return Sentence("service.loopStuck")
        return self._writer.problem

    def _tell_start(self) -> None:
        started = self._last_run.before(clock.time())
        if started is not None:
            self._publisher.publish(started)
        self._last_run.alive(clock.time())

    def _tell_stop(self) -> None:
        now = clock.time()
        self._publisher.publish(ServiceStopped(at=now))
        try:
            self._last_run.stopped(now)
        except SsdptError as error:
            _LOG.warning("%s", error)

    def reload(self) -> list[str]:
        """Read the configuration file again; gives what has changed."""
        return self._admin.reload()

    @property
    def _parts(self) -> list[Capture | OperatingDataSource]:
        return [part for machine in self.machines for part in machine.parts]

    def _keeps_audio(self) -> bool:
        return self.config.retention.keep_audio

    def _every_second(self) -> None:
        self._trials.close_unused()
        self._publish_changes()

    def _publish_changes(self) -> None:
        """What no other message carries, for the live stream."""
        self._status_changes.check()
        state = self.log.notes, self.log.problems, self.loop.shedding
        if state != self._published:
            self._published = state
            self._subscriptions.publish(ServiceChanged(status=self._view.service()))

    def _end_events_of_removed_machines(self) -> None:
        """Machines that were removed while the service was stopped have no ongoing events."""
        ongoing = {event.machine for event in self._store.ongoing_events()}
        for id in ongoing - set(self.machines.ids()):
            self._store.end_events(id, clock.time())
