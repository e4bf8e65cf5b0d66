"""What people say about events, and what the machine learns from it."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable
from functools import partial

from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Event, EventChanged, EventLabel
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.opening import MachineOpener
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.monitor.store.writer import StoreWriter

_LABEL_COMMENTS = {
    "normal": "marked this as normal",
    "fault": "marked this as a fault",
    "": "removed the label",
}


class Feedback:
    """Acknowledges, comments and labels events; every action is durable before it returns."""

    def __init__(
        self,
        machines: MachineRegistry,
        store: Store,
        writer: StoreWriter,
        opener: MachineOpener,
        values: MachineValues,
        publisher: Publisher,
        jobs: JobQueue,
        log: ServiceLog,
        keep_audio: Callable[[], bool],
    ) -> None:
        self._machines, self._store, self._writer = machines, store, writer
        self._opener, self._values, self._publisher = opener, values, publisher
        self._jobs, self._log, self._keep_audio = jobs, log, keep_audio
        self._lock = threading.Lock()  # one action at a time: published in order

    def acknowledge(self, id: str, who: str, comment: str = "") -> Event:
        return self._change(lambda: self._store.acknowledge(id, who, clock.time(), comment))

    def comment(self, id: str, who: str, text: str) -> Event:
        return self._change(lambda: self._store.comment(id, who, clock.time(), text))

    def label(self, id: str, label: EventLabel, who: str) -> Event:
        """`normal` also adds the event's sound to the normal clips of the machine's model."""
        self._change(lambda: self._store.label(id, label, who, clock.time()))
        event = self.comment(id, who, _LABEL_COMMENTS[label])
        machine = self._machines.get(event.machine)
        if machine is None or event.kind != "anomaly":
            return event
        if label == "fault":
            with self._machines.lock:
                machine.exclude_fault(event.began, event.ended)
        elif label == "normal" and isinstance(machine, SnapshotMonitor):
            self._log.note(
                f"{machine.settings.title}: the baseline of snapshots does not change; learn a new "
                "baseline if the machine is healthy as it is now"
            )
        elif label == "normal" and event.has_audio:
            self.learn_from(event)
        elif label == "normal" and not self._keep_audio():
            self._log.note(
                f"{machine.settings.title}: no sound is kept, so none can be added as normal; "
                "learn a new baseline instead"
            )
        return event

    def learn_from(self, event: Event) -> None:
        """Add the sound of an event to the normal clips, if it is labelled so and recorded.

        Called after either, since label and recording come in any order.
        """
        machine = self._machines.get(event.machine)
        if event.label == "normal" and event.has_audio and isinstance(machine, StreamMonitor):
            failure = f"{machine.settings.title}: the sound was not added as normal"
            self._jobs.submit(failure, partial(self._add_normal, machine, event))

    def _add_normal(self, machine: StreamMonitor, event: Event) -> None:
        id = machine.id
        path = self._store.attachment(event.id, "audio")
        machine = self._machines.stream(id) if id in self._machines else machine
        model = machine.model
        if model is None or path is None:
            return
        if not machine.section:
            raise SsdptError(
                "its model has several sections; name the section of the machine in the "
                "configuration file"
            )
        # A copy: other machines may be scored by the same model at this moment.
        detector = Detector.load(self._opener.model_folder(machine), device="cpu")
        detector.adapt([path], section=machine.section)
        with self._machines.lock:
            current = self._machines.get(id)
            if not isinstance(current, StreamMonitor) or current.model is not model:
                raise SsdptError("the model changed meanwhile; label the event again")
            current.replace_model(self._opener.save_model(current, detector))
        self._values.save(current)
        self._log.note(f"{current.settings.title}: the sound of an event is normal from now on")

    def _change(self, change: Callable[[], Event]) -> Event:
        if not self._writer.flush():
            raise StoreUnavailable(self._writer.problem)
        with self._lock:
            event = change()
            with self._machines.lock:
                machine = self._machines.get(event.machine)
                if machine is not None:
                    event = machine.events.take_actions(event)
                self._publisher.publish(EventChanged(event=event))
        return event
