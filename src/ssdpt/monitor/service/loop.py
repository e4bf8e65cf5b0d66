"""The loop: every captured second is scored, judged and published.

While it cannot keep up, the rule of `load_shedding` says what is left out.
"""

from __future__ import annotations

import logging
import time as clock
from collections import Counter
from collections.abc import Callable
from functools import partial

from ssdpt.common.background_thread import BackgroundThread
from ssdpt.common.threads import SINGLE_BLAS_THREAD
from ssdpt.monitor.messages import EventChanged, Message, SheddingStatus
from ssdpt.monitor.scoring.live_model import LiveModel, LiveScore
from ssdpt.monitor.service.baseline_learning import BaselineLearning
from ssdpt.monitor.service.commissioner import Commissioner
from ssdpt.monitor.service.event_recorder import EventRecorder
from ssdpt.monitor.service.load_meter import LoadMeter
from ssdpt.monitor.service.load_shedding import LoadShedding, Turn
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.sentences import Sentence

_PAUSE = 0.05  # seconds between rounds in which nothing was due
_STUCK = 60.0  # seconds for one round at most
# Seconds of machines that were not scored or not looked at by the rule, or missed against it.
LEFT_OUT = ("unscored", "skipped", "missed")
_LOG = logging.getLogger(__name__)


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
        self._meter, self._shedding = LoadMeter(clock.monotonic), LoadShedding()
        self._shedding_since = 0.0  # seconds since 1970
        self.readings = 0  # seconds of all machines so far
        self.left_out = Counter(dict.fromkeys(LEFT_OUT, 0))  # further seconds, or part of them
        self._last_round = clock.monotonic()

    @property
    def stuck(self) -> bool:
        """Whether it has not come round for so long that it hangs, or has not started."""
        return not self.alive or clock.monotonic() - self._last_round > _STUCK

    @property
    def shedding(self) -> SheddingStatus | None:
        """What is left out now; None: nothing."""
        if self._shedding.number == 0:
            return None
        degree = self._shedding.degree
        return SheddingStatus(
            degree=self._shedding.number,
            score_every=degree.score_every,
            second_every=degree.second_every,
            since=self._shedding_since,
        )

    def _run(self) -> None:
        last_check = clock.monotonic()
        while not self._stop.is_set():
            busy = False
            try:
                self._last_round = clock.monotonic()
                with self._meter.working():
                    busy = self._round()
                    if clock.monotonic() - last_check >= 1.0:
                        last_check = clock.monotonic()
                        self._check_silent_machines()
                        self._shedding.keep_only(self._machines.ids())
                        self._every_second()
                self._adapt_to_load()
            except Exception as error:
                # Whatever it is, the other machines are still monitored.
                self._log.failure(Sentence("service.round"), error)
            if not busy:
                self._stop.wait(_PAUSE)

    def _round(self) -> bool:
        """Process every machine with another captured second; whether there was one."""
        due = sorted(
            (machine for machine in self._machines if machine.due), key=lambda one: not one.urgent
        )
        if not due:
            return False
        by_model: dict[int, tuple[LiveModel | None, list[MachineMonitor]]] = {}
        for machine in due:
            turn = self._turn(machine)
            if turn == "score":
                by_model.setdefault(id(machine.model), (machine.model, []))[1].append(machine)
            elif turn == "read":
                self._process(machine, partial(machine.process, None, scored=False))
            else:
                machine.capture.second_judged.set()
        with SINGLE_BLAS_THREAD:  # once, not for every model
            for model, group in by_model.values():
                with self._meter.scoring():
                    scores = self._scores(model, group)
                for machine, score in zip(group, scores, strict=True):
                    self._process(machine, partial(_process, machine, model, score))
        return True

    def _turn(self, machine: MachineMonitor) -> Turn:
        """What is done with the new second of a machine."""
        seconds = machine.look()
        if not machine.can_be_shed:
            return "score"
        self.left_out["missed"] += seconds - 1
        turn = self._shedding.turn(machine.id, seconds, urgent=machine.urgent)
        if isinstance(machine, StreamMonitor):
            machine.cursor.every = self._shedding.segments_every(machine.id)
        if turn == "read" and (machine.model is None or machine.model.hop is not None):
            return "score"  # a part of its new segments
        if turn != "score":
            self.left_out["unscored" if turn == "read" else "skipped"] += 1
        return turn

    def _process(self, machine: MachineMonitor, process: Callable[[], list[Message]]) -> None:
        """Process the new second of a machine, and let the next one come."""
        if self._apply(machine, process):
            self._follow_up(machine)
        machine.capture.second_judged.set()

    def _adapt_to_load(self) -> None:
        """Leave out more or less where the last seconds were too busy, or calm."""
        load = self._meter.take()
        if load is None:
            return
        before = self._shedding.number
        if not self._shedding.update(load.seconds, scoring=load.scoring, other=load.other):
            return
        degree = self._shedding.degree
        if before == 0:
            self._shedding_since = clock.time()
        if self._shedding.number > before:
            _LOG.warning(
                "scoring cannot keep up (busy %.0f %% of the time): %s",
                100 * (load.scoring + load.other),
                degree.left_out,
            )
        elif self._shedding.number == 0:
            _LOG.warning("scoring keeps up again: every second is scored")

    def _scores(
        self, model: LiveModel | None, group: list[MachineMonitor]
    ) -> list[LiveScore | None]:
        if model is not None:
            try:
                streams = [one for one in group if isinstance(one, StreamMonitor)]
                return model.score([(one.capture.frames, one.cursor) for one in streams])
            except Exception as error:
                # One bad model must not end the monitoring of the others.
                title = group[0].settings.title
                self._log.failure(Sentence("service.scoring", machine=title), error)
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
                title = machine.settings.title
                self._log.failure(Sentence("service.second", machine=title), error)
                return False
            return True

    def _follow_up(self, machine: MachineMonitor) -> None:
        """What follows from another second of a machine."""
        if machine.last is None:
            return  # nothing that can be used has arrived yet
        now = machine.last.time
        self.readings += 1
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
