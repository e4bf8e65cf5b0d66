"""The loop: every captured second is scored, judged and published."""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Callable
from functools import partial

from ssdpt.common.background_thread import BackgroundThread
from ssdpt.monitor.messages import EventChanged, Message
from ssdpt.monitor.scoring.live_model import LiveModel, LiveScore
from ssdpt.monitor.service.baseline_learning import BaselineLearning
from ssdpt.monitor.service.commissioner import Commissioner
from ssdpt.monitor.service.event_recorder import EventRecorder
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor

_PAUSE = 0.05  # seconds between rounds in which nothing was due
_DELAYS_KEPT = 20_000


class MonitorLoop(BackgroundThread):
    """One thread over all machines; those that share a model are scored in one batch."""

    def __init__(
        self,
        machines: MachineRegistry,
        publisher: Publisher,
        learning: BaselineLearning,
        commissioner: Commissioner,
        recorder: EventRecorder,
        prognosis: Prognosis,
        log: ServiceLog,
        every_second: Callable[[], None],
    ) -> None:
        """`every_second` is called about once a second."""
        super().__init__("ssdpt-loop")
        self._machines, self._publisher, self._learning = machines, publisher, learning
        self._commissioner, self._recorder, self._prognosis = commissioner, recorder, prognosis
        self._log, self._every_second = log, every_second
        self.delays: deque[float] = deque(maxlen=_DELAYS_KEPT)  # seconds, last sample to verdict
        self.readings = 0  # seconds of all machines so far

    def _run(self) -> None:
        last_check = clock.monotonic()
        while not self._stop.is_set():
            busy = False
            try:
                busy = self._round()
                if clock.monotonic() - last_check >= 1.0:
                    last_check = clock.monotonic()
                    self._check_silent_machines()
                    self._every_second()
            except Exception as error:
                # Whatever it is, the other machines are still monitored.
                self._log.failure("a round of the monitor", error)
            if not busy:
                self._stop.wait(_PAUSE)

    def _round(self) -> bool:
        """Process every machine with another captured second; whether there was one."""
        due = [machine for machine in self._machines if machine.due]
        by_model: dict[int, tuple[LiveModel | None, list[MachineMonitor]]] = {}
        for machine in due:
            by_model.setdefault(id(machine.model), (machine.model, []))[1].append(machine)
        for model, group in by_model.values():
            for machine, score in zip(group, self._scores(model, group), strict=True):
                if self._apply(machine, partial(_process, machine, model, score)):
                    self._follow_up(machine)
                machine.capture.second_judged.set()  # the next second may come
        return bool(due)

    def _scores(
        self, model: LiveModel | None, group: list[MachineMonitor]
    ) -> list[LiveScore | None]:
        if model is not None:
            try:
                streams = [one for one in group if isinstance(one, StreamMonitor)]
                return model.score([(one.capture.frames, one.cursor) for one in streams])
            except Exception as error:
                # One bad model must not end the monitoring of the others.
                self._log.failure(f"scoring {group[0].settings.title}", error)
        return [None] * len(group)

    def _apply(self, machine: MachineMonitor, process: Callable[[], list[Message]]) -> bool:
        """Process a machine and publish the result, under one lock; whether it worked."""
        with self._machines.lock:
            if not self._machines.is_current(machine):
                return False  # it was replaced or removed meanwhile
            try:
                for message in process():
                    message = self._prognosis.with_severity(machine, message)
                    self._publisher.publish(message)
                    if isinstance(message, EventChanged):
                        self._recorder.schedule(message.event)
            except Exception as error:
                self._log.failure(f"a second of {machine.settings.title}", error)
                return False
            return True

    def _follow_up(self, machine: MachineMonitor) -> None:
        """What follows from another second of a machine."""
        if machine.last is None:
            return  # nothing that can be used has arrived yet
        now = machine.last.time
        self.readings += 1
        self.delays.append(clock.time() - now)
        with self._machines.lock:
            self._prognosis.update(machine)
        if isinstance(machine, StreamMonitor):
            self._learning.update(machine, now)
            self._commissioner.update(machine)
        elif isinstance(machine, SnapshotMonitor):
            self._learning.update_snapshots(machine, now)
        self._recorder.record_due(machine, now)

    def _check_silent_machines(self) -> None:
        """Nothing more is waited for from machines that send nothing."""
        for machine in self._machines:
            self._apply(machine, machine.check_lost)
            self._recorder.record_silent(machine)


def _process(
    machine: MachineMonitor, model: LiveModel | None, score: LiveScore | None
) -> list[Message]:
    """Process the last second; a score of a model that was replaced meanwhile does not count."""
    return machine.process(score if machine.model is model else None)
