"""What people say about events, and what the machine learns from it."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import soundfile

from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.gaps import without_gaps
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
from ssdpt.sentences import Sentence
from ssdpt.types import Clip

LABEL_COMMENTS = {
    "normal": Sentence("events.markedNormal"),
    "fault": Sentence("events.markedFault"),
    "": Sentence("events.unmarked"),
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
        """Who says what it was has seen it: that acknowledges it, and nobody is reminded of it.

        `normal` also adds the event's sound to the normal clips of the machine's model.
        """
        self._change(lambda: self._store.label(id, label, who, clock.time()))
        event = self.comment(id, who, LABEL_COMMENTS[label])
        if label and event.acknowledged is None:
            event = self.acknowledge(id, who)
        machine = self._machines.get(event.machine)
        if machine is None or event.kind != "anomaly":
            return event
        if label == "fault":
            with self._machines.lock:
                machine.exclude_fault(event.began, event.ended)
        elif label == "normal" and isinstance(machine, SnapshotMonitor):
            self._log.note(Sentence("service.snapshotsStay", machine=machine.settings.title))
        elif label == "normal" and event.has_audio:
            self.learn_from(event)
        elif label == "normal" and not self._keep_audio():
            self._log.note(Sentence("service.noSoundToAdd", machine=machine.settings.title))
        return event

    def set_details(self, id: str, details: Mapping[str, str], who: str) -> Event:
        """Set cause, work order or fault, by the names of the fields; "" removes one."""
        return self._change(lambda: self._store.set_details(id, who, clock.time(), details))

    def judge_recognition(self, id: str, *, right: bool, who: str) -> Event:
        """Say whether an event is the fault that it looks like."""
        event = self._store.event(id)
        if event is not None and event.looks_like is None:
            raise SsdptError(Sentence("api.nothingRecognised"))
        if right and event is not None and event.looks_like is not None:
            return self.set_details(id, {"fault": event.looks_like.fault}, who)
        return self._change(lambda: self._store.reject_looks_like(id, who, clock.time()))

    def learn_from(self, event: Event) -> None:
        """Add the sound of an event to the normal clips, if it is labelled so and recorded.

        Called after either, since label and recording come in any order.
        """
        machine = self._machines.get(event.machine)
        if event.label == "normal" and event.has_audio and isinstance(machine, StreamMonitor):
            failure = Sentence("service.notAdded", machine=machine.settings.title)
            self._jobs.submit(failure, partial(self._add_normal, machine, event))

    def _add_normal(self, machine: StreamMonitor, event: Event) -> None:
        id = machine.id
        path = self._store.attachment(event.id, "audio")
        machine = self._machines.stream(id) if id in self._machines else machine
        model = machine.model
        if model is None or path is None:
            return
        if not machine.section:
            raise SsdptError(Sentence("service.severalSections"))
        # A copy: other machines may be scored by the same model at this moment.
        detector = Detector.load(self._opener.model_folder(machine), device="cpu")
        sound = _without_cuts(path, machine.section) if event.voice_seconds else path
        detector.adapt([sound], section=machine.section)
        with self._machines.changing:
            current = self._machines.get(id)
            if not isinstance(current, StreamMonitor) or current.model is not model:
                raise SsdptError(Sentence("service.labelAgain"))
            learned = self._opener.save_model(current, detector)
            with self._machines.lock:
                current.replace_model(learned)
        self._values.save(current)
        self._log.note(Sentence("service.soundNormal", machine=current.settings.title))

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


def _without_cuts(path: Path, section: str) -> Clip:
    """The recording of an event without the silence where voices were cut out."""
    samples, rate = soundfile.read(path, dtype="float32")
    pieces = without_gaps(samples, rate)
    if not pieces:
        raise SsdptError(Sentence("service.tooManyVoices"))
    return Clip(np.concatenate(pieces), rate, section=section)
