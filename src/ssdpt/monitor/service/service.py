"""The monitoring service: its parts, joined."""

from __future__ import annotations

import logging
import time as clock
from pathlib import Path

from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.messages import (
    ServiceChanged,
)
from ssdpt.monitor.outputs.metrics import MAX_EVENTS, Metrics
from ssdpt.monitor.service.added_machines import AddedMachines
from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.service.baseline_learning import BaselineLearning
from ssdpt.monitor.service.commissioner import Commissioner
from ssdpt.monitor.service.current_config import CurrentConfig
from ssdpt.monitor.service.event_recorder import EventRecorder
from ssdpt.monitor.service.feedback import Feedback
from ssdpt.monitor.service.housekeeping import Housekeeping
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.loop import MonitorLoop
from ssdpt.monitor.service.machine_admin import MachineAdmin
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.models import ModelCache
from ssdpt.monitor.service.normal_samples import NormalSamples
from ssdpt.monitor.service.opening import MachineOpener
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.publisher import Publisher, open_outputs
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.status import ServiceView
from ssdpt.monitor.service.status_changes import StatusChanges
from ssdpt.monitor.service.subscriptions import Subscriptions
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.monitor.store.learned_models import MACHINES
from ssdpt.monitor.store.writer import StoreWriter

_LAST_JOBS = 3.0  # seconds to keep recordings of events when the service stops
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
        self.machines = MachineRegistry()
        self.metrics = Metrics(store.events(open_only=True, limit=MAX_EVENTS))
        self.metrics.watch_questions(
            lambda: {machine.id: machine.question is not None for machine in self.machines}
        )
        self._writer = StoreWriter(store)
        self.log.add_check(lambda: self._writer.problem)
        self._subscriptions = Subscriptions()
        outputs = open_outputs(self.config.outputs, self._current.titles)
        values = MachineValues(store, self.machines.lock)
        prognosis = Prognosis(self.machines, store, values)
        self._view = ServiceView(self.machines, self._current, prognosis, self.log, demo=demo)
        self._publisher = publisher = Publisher(
            self._writer, self._subscriptions, self.metrics, outputs, self._view.machine_if_known
        )
        self._status_changes = StatusChanges(self.machines, publisher)
        models = ModelCache(self.config.device)
        opener = MachineOpener(store, data, models, values, self.log)
        # The sound of an event does not wait until the models of other machines are fitted.
        self._recordings = JobQueue(self.log, "recordings")
        self._fits = JobQueue(self.log, "fits")
        samples = NormalSamples(store, self._recordings, self._keeps_audio)
        self.learning = BaselineLearning(
            machines=self.machines,
            opener=opener,
            values=values,
            samples=samples,
            publisher=publisher,
            jobs=self._fits,
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
            retention=lambda: self.config.retention,
            recorded=feedback.learn_from,
        )
        commissioner = Commissioner(
            machines=self.machines,
            opener=opener,
            values=values,
            publisher=publisher,
            recorder=recorder,
            jobs=self._fits,
            log=self.log,
        )
        self._housekeeping = Housekeeping(
            machines=self.machines,
            store=store,
            values=values,
            samples=samples,
            prognosis=prognosis,
            log=self.log,
            retention=lambda: self.config.retention,
        )
        self._admin = MachineAdmin(
            machines=self.machines,
            current=self._current,
            opener=opener,
            models=models,
            publisher=publisher,
            recorder=recorder,
            housekeeping=self._housekeeping,
            writer=self._writer,
            metrics=self.metrics,
        )
        self.loop = MonitorLoop(
            machines=self.machines,
            publisher=publisher,
            learning=self.learning,
            commissioner=commissioner,
            recorder=recorder,
            prognosis=prognosis,
            log=self.log,
            every_second=self._publish_changes,
        )
        self.api = MonitorApi(
            view=self._view,
            machines=self.machines,
            store=store,
            values=values,
            samples=samples,
            learning=self.learning,
            commissioner=commissioner,
            feedback=feedback,
            admin=self._admin,
            publisher=publisher,
            subscriptions=self._subscriptions,
            metrics=self.metrics,
            is_ready=lambda: self.ready,
        )
        self._published: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._admin.open_all()

    @property
    def config(self) -> MonitorConfig:
        """The configuration in use, with the machines that were added on the page."""
        return self._current.config

    def start(self) -> None:
        """Start capture and loop."""
        self._end_events_of_removed_machines()
        self._writer.start()
        for machine in self.machines:
            machine.capture.start()
        self.loop.start()
        self._housekeeping.start()
        self.learning.resume()

    def stop(self) -> None:
        """End in order: everything captured is written, outputs are closed."""
        self._subscriptions.close()
        self.loop.stop()
        self._housekeeping.stop()
        for machine in self.machines:
            machine.capture.ask_to_stop()  # all at once, then wait for each
        for machine in self.machines:
            machine.capture.stop(0.5)
        self._recorder.record_all()
        self._recordings.close(_LAST_JOBS)
        self._fits.close(_LAST_JOBS)
        try:
            self._housekeeping.save_values()
        except StoreUnavailable as error:
            _LOG.warning("what machines have learned was not saved: %s", error)
        finally:
            self._publisher.close()

    @property
    def ready(self) -> bool:
        """Whether the loop runs and the store accepts data."""
        return self.loop.alive and self._housekeeping.alive and not self._writer.problem

    def reload(self) -> list[str]:
        """Read the configuration file again; gives what has changed."""
        return self._admin.reload()

    def _keeps_audio(self) -> bool:
        return self.config.retention.keep_audio

    def _publish_changes(self) -> None:
        """What no other message carries, for the live stream."""
        self._status_changes.check()
        state = self.log.notes, self.log.problems
        if state != self._published:
            self._published = state
            self._subscriptions.publish(ServiceChanged(status=self._view.service()))

    def _end_events_of_removed_machines(self) -> None:
        """Machines that were removed while the service was stopped have no ongoing events."""
        ongoing = {event.machine for event in self._store.ongoing_events()}
        for id in ongoing - set(self.machines.ids()):
            self._store.end_events(id, clock.time())
