"""Asks whether a machine is healthy that sounds different from the start, and does what follows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import EventChanged
from ssdpt.monitor.service.event_recorder import EventRecorder
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.opening import MachineOpener
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.sentences import Sentence
from ssdpt.types import Clip, Floats


class Commissioner:
    """Follows the first hour of every machine after its baseline."""

    def __init__(
        self,
        machines: MachineRegistry,
        opener: MachineOpener,
        values: MachineValues,
        publisher: Publisher,
        recorder: EventRecorder,
        jobs: JobQueue,
        saving: JobQueue,
        log: ServiceLog,
    ) -> None:
        """`jobs` fit models and may take minutes; `saving` is for what follows a second."""
        self._machines, self._opener, self._values = machines, opener, values
        self._publisher, self._recorder, self._log = publisher, recorder, log
        self._jobs, self._saving = jobs, saving
        # Whether a person is asked, and when thresholds were checked, as last noted.
        self._noted: dict[str, tuple[bool, float | None]] = {}

    def update(self, machine: StreamMonitor) -> None:
        """After another second of a machine: note what is new."""
        question, checked_at = machine.question, machine.references.commissioned_at
        now = question is not None, checked_at
        before = self._noted.get(machine.id, (False, checked_at))
        self._noted[machine.id] = now
        if now == before:
            return
        if question is not None and not before[0]:
            title = machine.settings.title
            self._log.note(Sentence("common.of", name=title, what=question.message))
        elif checked_at is not None and checked_at != before[1] and not before[0]:
            self._log.note(Sentence("service.firstHour", machine=machine.settings.title))
        failure = Sentence("service.notSaved", machine=machine.settings.title)
        self._saving.submit(failure, partial(self._values.save, machine))
        self._publisher.machine_changed(machine.id)

    def answer(self, id: str, *, healthy: bool) -> None:
        """A person says whether it is: its sound is normal from now on, or an event begins."""
        machine = self._machines.stream(id)
        with self._machines.lock:
            if machine.question is None:
                raise SsdptError(Sentence("machines.notAsked", id=id))
            clips = _recent_clips(machine) if healthy else []
            if healthy:
                machine.accept_as_healthy()
            else:
                for message in machine.report_fault():
                    self._publisher.publish(message)
                    if isinstance(message, EventChanged):
                        self._recorder.schedule(message.event)
        self._values.save(machine)
        self._publisher.machine_changed(id)
        if healthy:
            self._log.note(Sentence("service.healthy", machine=machine.settings.title))
            failure = Sentence("service.notAdded", machine=machine.settings.title)
            self._jobs.submit(failure, partial(self._add_normal, machine, clips))

    def _add_normal(self, machine: StreamMonitor, clips: Sequence[Floats]) -> None:
        """Add every other clip to its model; the rest show how far thresholds still must move."""
        model, rate = machine.model, machine.capture.rate
        added, kept_out = clips[::2], clips[1::2]
        can_learn = model is not None and isinstance(model.detector, Detector)
        if not can_learn or not machine.section or not kept_out:
            return  # thresholds have moved: all that can be done
        # A copy: other machines may be scored by the same model at this moment.
        detector = Detector.load(self._opener.model_folder(machine), device="cpu")
        if not detector.system.adapts:
            return
        section = machine.section
        detector.adapt(
            [
                Clip(samples, rate, section=section, name=f"healthy-{number:02d}")
                for number, samples in enumerate(added)
            ],
            section=section,
        )
        scores = [
            detector.score(Clip(samples, rate, section=section, name="later")).value
            for samples in kept_out
        ]
        with self._machines.changing:
            current = self._machines.get(machine.id)
            if not isinstance(current, StreamMonitor) or current.model is not model:
                raise SsdptError(Sentence("service.thresholdsMoved"))
            learned = self._opener.save_model(current, detector)
            with self._machines.lock:
                current.replace_model(learned)
                current.judge.allow(scores)
        self._values.save(current)
        self._publisher.machine_changed(machine.id)


def _recent_clips(machine: StreamMonitor) -> list[Floats]:
    """The last minutes without a pause as clips (samples,) of the model's length."""
    if machine.model is None or machine.last is None or machine.judged_since is None:
        return []
    capture = machine.capture
    samples, _ = capture.samples.between(machine.judged_since, machine.last.time)
    size = round(machine.model.clip_seconds * capture.rate)
    return [
        np.array(samples[first : first + size])
        for first in range(len(samples) % size, len(samples), size)
    ]
