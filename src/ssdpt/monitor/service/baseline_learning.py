"""Machines that learn their own baseline, live: collecting, fitting, taking it into use."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from functools import partial

from ssdpt.alarms.operating_points import OperatingPointLearner
from ssdpt.alarms.speed_and_load import SpeedAndLoad
from ssdpt.errors import SsdptError
from ssdpt.monitor.learning.baseline import learn_baseline
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.normal_samples import NormalSamples
from ssdpt.monitor.service.opening import MachineOpener
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.service.voice_filter import VoiceFilter
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_LEARNING = "learning"  # key under which the requested minutes are kept until it is done


class BaselineLearning:
    """Which machines are learning, and what becomes of it."""

    def __init__(
        self,
        machines: MachineRegistry,
        opener: MachineOpener,
        values: MachineValues,
        samples: NormalSamples,
        voices: VoiceFilter,
        publisher: Publisher,
        jobs: JobQueue,
        saving: JobQueue,
        log: ServiceLog,
    ) -> None:
        """`jobs` fit models and may take minutes; `saving` is for what follows a second."""
        self._machines, self._opener, self._values = machines, opener, values
        self._samples, self._publisher, self._jobs, self._log = samples, publisher, jobs, log
        self._voices, self._saving = voices, saving

    def start(self, id: str, minutes: float) -> None:
        """Collect normal sound or snapshots for so long, then learn from them."""
        machine = self._machines[id]
        if machine.settings.model is not None:
            raise SsdptError(Sentence("machines.modelInFile", id=id))
        self._values.set(id, _LEARNING, minutes)
        # How loud it runs may be what has changed.
        self._values.set(id, "usual_dbfs", None)
        with self._machines.lock:
            machine.start_learning(minutes)
            for message in machine.set_state("learning"):
                self._publisher.publish(message)
        self._publisher.machine_changed(id)

    def stop(self, id: str) -> None:
        """Discard what was collected; the machine is judged as before."""
        with self._machines.lock:
            machine = self._machines[id]
            if machine.fitting:
                raise SsdptError(Sentence("machines.fitting", id=id))
            if machine.collector is None:
                raise SsdptError(Sentence("machines.notLearning", id=id))
            machine.collector = None
            for message in machine.set_state("starting"):
                self._publisher.publish(message)
        self._values.remove(id, _LEARNING)
        self._publisher.machine_changed(id)

    def resume(self) -> None:
        """Start again what a stop of the service has interrupted."""
        for machine in self._machines:
            minutes = self._values.get(machine.id, _LEARNING)
            if minutes is None:
                continue
            if machine.settings.model is not None:
                self._values.remove(machine.id, _LEARNING)
                continue
            self.start(machine.id, float(minutes))
            self._log.note(Sentence("service.learningAgain", machine=machine.settings.title))

    def update(self, machine: StreamMonitor, now: float) -> None:
        """After another second of a machine."""
        with self._machines.lock:
            if not self._machines.is_current(machine):
                return  # its successor has the collector now
            collector = machine.collector
            # A machine that has just started is not learned: it is not judged then either.
            running = machine.state not in ("off", "starting")
            operation = machine.operation
            if collector is not None and collector.update(
                machine.capture, now, running=running, operation=operation
            ):
                machine.collector = None
                self.learn_from(
                    machine.id, collector.clips.copy, operations=collector.operations.copy()
                )
            learner = machine.judge.take_point_learner()
        if learner is not None:
            failure = Sentence("service.noOperatingPoints", machine=machine.settings.title)
            self._jobs.submit(failure, partial(self._learn_points, machine, learner))

    def update_snapshots(self, machine: SnapshotMonitor, now: float) -> None:
        """After another snapshot of a machine: learn from those collected once there are enough."""
        with self._machines.lock:
            collector = machine.collector
            if (
                collector is None
                or not collector.complete
                or not self._machines.is_current(machine)
            ):
                return
            machine.collector = None
            judge, sounds, sample = collector.learn(machine.settings.alarm, now)
            machine.normal.adopt(judge, sounds, sample)
            for message in machine.set_state("starting"):
                self._publisher.publish(message)
        title = machine.settings.title
        self._saving.submit(
            Sentence("service.baselineNotSaved", machine=title),
            partial(self._save_snapshots, machine),
        )
        self._samples.store_later(machine)
        self._publisher.machine_changed(machine.id)
        learned = judge.baseline.steps
        self._log.note(Sentence("service.learnedFromSnapshots", machine=title, snapshots=learned))

    def _save_snapshots(self, machine: SnapshotMonitor) -> None:
        self._values.save(machine)
        if machine.collector is None:  # else a person has started it again
            self._values.remove(machine.id, _LEARNING)

    def learn_from(
        self,
        id: str,
        make_clips: Callable[[], Sequence[Floats]],
        done: Callable[[], None] = lambda: None,
        operations: Sequence[SpeedAndLoad] = (),
    ) -> None:
        """Fit a model to normal clips, (samples,) each, in the background; then call `done`.

        `operations`: speed and load at each clip, or nothing.
        """
        machine = self._machines.stream(id)
        with self._machines.lock:
            machine.fitting = True
        failure = Sentence("service.noBaseline", machine=machine.settings.title)

        def learn() -> None:
            try:
                self._learn(machine, make_clips, operations)
            finally:
                done()

        self._jobs.submit(failure, learn)

    def _learn(
        self,
        machine: StreamMonitor,
        make_clips: Callable[[], Sequence[Floats]],
        operations: Sequence[SpeedAndLoad],
    ) -> None:
        id = machine.id
        try:
            clips = make_clips()
            learned_at = machine.last.time if machine.last else clock.time()
            self._voices.learn(id, clips, machine.capture.rate)
            learned = learn_baseline(clips, machine.capture.rate, id, learned_at, operations)
            with self._machines.changing:
                # The configuration may have replaced or removed the machine meanwhile.
                current = self._machines.get(id)
                if not isinstance(current, StreamMonitor) or current.settings.model is not None:
                    return
                model = self._opener.save_model(current, learned.detector)
                with self._machines.lock:
                    current.adopt(model, learned.points, learned.references)
                    current.fitting = False
                    # What was unusual for the old baseline is another event than what comes now.
                    for message in (*current.events.close_paused(), *current.set_state("starting")):
                        self._publisher.publish(message)
            self._values.save(current)
        finally:
            self._finish(id)
        self._samples.store(current)
        title = current.settings.title
        self._log.note(Sentence("service.learnedFromClips", machine=title, clips=len(clips)))

    def _finish(self, id: str) -> None:
        """After a fit, whether it worked or not."""
        with self._machines.lock:
            machine = self._machines.get(id)
            if machine is not None:
                machine.fitting = False
            started_again = machine is not None and machine.collector is not None
        if not started_again:
            self._values.remove(id, _LEARNING)
        self._publisher.machine_changed(id)

    def _learn_points(self, machine: StreamMonitor, learner: OperatingPointLearner) -> None:
        baseline = machine.judge.baseline
        points = learner.learn()
        with self._machines.lock:
            current = self._machines.get(machine.id)
            if not isinstance(current, StreamMonitor) or current.judge.baseline is not baseline:
                return  # it has another model meanwhile
            baseline.set_points(points)
            if len(points.points) > 1:
                current.references.learn_on()
        self._values.save(current)
        self._publisher.machine_changed(machine.id)
