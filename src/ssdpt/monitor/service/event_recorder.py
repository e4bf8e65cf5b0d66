"""Keeps the sound and the picture of events."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from functools import partial

from ssdpt.alarms.findings import Finding
from ssdpt.data.audio import flac_bytes
from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.events import descriptions
from ssdpt.monitor.events.picture import EventSound, event_picture
from ssdpt.monitor.messages import Event, EventChanged
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.recognition import Recognition
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.service.voice_filter import VoiceFilter
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.monitor.store.writer import StoreWriter
from ssdpt.sentences import Sentence

_LATE_FILE = 5.0  # seconds: the next recording of a folder may come any time, or never


class EventRecorder:
    """Records an event when all of its sound has been captured."""

    def __init__(
        self,
        machines: MachineRegistry,
        store: Store,
        writer: StoreWriter,
        publisher: Publisher,
        jobs: JobQueue,
        log: ServiceLog,
        voices: VoiceFilter,
        retention: Callable[[], RetentionSettings],
        recognition: Recognition,
        recorded: Callable[[Event], None],
    ) -> None:
        """`retention` gives the present settings; `recorded` gets every recorded event."""
        self._machines, self._store, self._writer = machines, store, writer
        self._recognition = recognition
        self._publisher, self._jobs, self._log = publisher, jobs, log
        self._voices = voices
        self._retention, self._recorded = retention, recorded
        # Both under the lock of the machines.
        self._pending: dict[str, tuple[str, float]] = {}  # event: machine, time when complete
        self._submitted: set[str] = set()  # events whose recording is a job already

    def schedule(self, event: Event) -> None:
        """Record it when it is complete, if it is an anomaly without a recording.

        Call with the lock of the machines.
        """
        if event.id in self._submitted:
            return
        if event.kind == "anomaly" and not event.has_audio and event.ended is None:
            complete = _latest_begin(event) + self._retention().post_roll
            self._pending.setdefault(event.id, (event.machine, complete))

    def forget(self, machine: str) -> None:
        """A machine was removed: record none of its events any more.

        Call with the lock of the machines.
        """
        self._pending = {
            event: entry for event, entry in self._pending.items() if entry[0] != machine
        }

    def record_silent(self, machine: MachineMonitor) -> None:
        """Record what there is of events of a machine whose sound has ended."""
        silent = clock.monotonic() - machine.capture.last_chunk_at
        if machine.lost or silent > self._retention().post_roll + _LATE_FILE:
            self.record_due(machine, math.inf)

    def record_due(self, machine: MachineMonitor, now: float) -> None:
        """Record the events of a machine that are complete by `now`."""
        with self._machines.lock:
            due = [
                event
                for event, (owner, complete) in self._pending.items()
                if owner == machine.id and now >= complete
            ]
            for event in due:
                del self._pending[event]
                self._submit(machine, event)

    def record_all(self) -> None:
        """The service stops: record what there is of pending events."""
        for machine in self._machines:
            self.record_due(machine, math.inf)

    def _submit(self, machine: MachineMonitor, id: str) -> None:
        """Copy the sound now, while it is held; encode and draw it in a job."""
        event = machine.events.get(id)
        if event is None or not self._retention().keep_audio:
            return
        if isinstance(machine, SnapshotMonitor):
            sound = machine.event_sound(_latest_begin(event) + self._retention().post_roll)
        else:
            assert isinstance(machine, StreamMonitor)
            sound = self._sound(machine, event)
        title = machine.settings.title
        if sound is None or not len(sound.samples):
            self._log.note(Sentence("service.soundNotHeld", machine=title))
            return
        self._submitted.add(id)
        failure = Sentence("service.soundNotKept", machine=title)
        self._jobs.submit(failure, partial(self._record_once, machine, id, sound))

    def _sound(self, machine: StreamMonitor, event: Event) -> EventSound:
        retention, capture = self._retention(), machine.capture
        # An event begins after a minimum duration, and its cause may lie a clip before that.
        clip_seconds = 0.0 if machine.model is None else machine.model.clip_seconds
        delay = machine.settings.alarm.min_duration + clip_seconds
        began = _latest_begin(event)
        end = began + retention.post_roll
        # After a gap, or the start of the service, there is nothing to hear or see before.
        begin = capture.log_mel.first_captured(began - delay - retention.pre_roll)
        log_mel, begin = capture.log_mel.between(begin, end)
        # The first sample is in the centre of the first frame, so that picture and map agree.
        samples, begin = capture.samples.between(begin, end)
        return EventSound(
            samples,
            capture.rate,
            begin,
            log_mel,
            capture.frequencies,
            capture.mel_seconds,
            unusual_from=event.began - machine.settings.alarm.min_duration,
        )

    def _record_once(self, machine: MachineMonitor, id: str, sound: EventSound) -> None:
        try:
            self._record(machine, id, sound)
        finally:
            with self._machines.lock:
                self._submitted.discard(id)

    def _record(self, machine: MachineMonitor, id: str, sound: EventSound) -> None:
        detector = None if machine.model is None else machine.model.detector
        section = ""
        findings: tuple[Finding, ...] = ()
        speed = machine.shaft.rpm(sound.unusual_begin, sound.end)
        if isinstance(machine, StreamMonitor):
            section = machine.section
            findings = machine.find_changes(sound.unusual, sound.unusual_begin)
        picture = event_picture(sound, detector, section)
        if not self._writer.flush():  # an attachment needs its event in the store
            raise StoreUnavailable(self._writer.problem)
        # Findings and picture are of the full sound: neither can be played.
        stored_sound = self._voices.cleaned(machine.id, sound.samples, sound.rate)
        self._store.attach(id, "audio", flac_bytes(stored_sound.samples, sound.rate), ".flac")
        self._store.attach(id, "spectrogram", picture.to_bytes(), ".npz")
        looks_like = self._recognition.recognise(machine, id, sound.unusual)
        stored = self._store.event(id)
        with self._machines.lock:
            current = self._machines.get(machine.id) or machine
            event = current.events.get(id) or stored
            if event is None:
                return
            event = event.model_copy(
                update={
                    "audio_begin": sound.begin,
                    "voice_seconds": stored_sound.removed_seconds,
                    "top_bands_hz": picture.bands_hz,
                    "findings": findings or event.findings,
                    "speed_rpm": speed if findings else event.speed_rpm,
                    "message": descriptions.with_findings(event.message, event.findings, findings),
                    "looks_like": looks_like,
                }
            )
            current.events.replace(event)
            self._publisher.publish(EventChanged(event=event))
        self._recorded(event)


def _latest_begin(event: Event) -> float:
    """When it came, or came back: an earlier episode may no longer be held."""
    return event.episodes[-1].began if event.episodes else event.began
