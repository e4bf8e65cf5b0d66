"""The watch over all machines of a plant: every second is judged, remembered and told of."""

from __future__ import annotations

import logging
import math
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ssdpt.alarms.operating_points import OperatingPointLearner
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.learning.baseline import Learning
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.outputs import open_output
from ssdpt.monitor.outputs.base import Output
from ssdpt.monitor.outputs.messages import EventChanged, Message, ReadingTaken, event_json
from ssdpt.monitor.outputs.metrics import REMEMBERED, Metrics
from ssdpt.monitor.scoring.live_model import LiveModel, LiveScore
from ssdpt.monitor.service.added_machines import AddedMachines
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.subscriptions import Subscriptions
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.monitor.store.learned_models import MACHINES
from ssdpt.monitor.store.writer import Writer
from ssdpt.types import Floats

_PAUSE = 0.05  # seconds between rounds in which nothing was due
_HOUSEKEEPING = 60.0  # seconds
_SAMPLE_EVERY = 3600.0  # seconds
_LATE_FILE = 5.0  # seconds: the next recording of a folder may come any time, or never
_DELAYS = 20_000  # that are remembered
_NOTES = 20
_LOG = logging.getLogger(__name__)


class Machines(dict[str, MachineMonitor]):
    """By id. One may be removed between two looks at it."""

    def __missing__(self, id: str) -> MachineMonitor:
        raise UnknownMachine(id)


class Watch:
    """Listens until it is stopped."""

    def __init__(
        self,
        plant: MonitorConfig,
        store: Store,
        data: Path,
        *,
        path: Path | None = None,
        demo: bool = False,
    ) -> None:
        self.added = AddedMachines(data / MACHINES)
        self.named = {machine.id for machine in plant.machines}  # by the plant file itself
        self.file = plant = self.added.beside(plant)
        self.store, self.data, self.path, self.demo = store, data, path, demo
        self.writer = Writer(store)
        self.hub = Subscriptions()
        self.metrics = Metrics(store.events(open_only=True, limit=REMEMBERED))
        self.outputs = open_outputs(plant)
        self.machines = Machines()
        # What whoever runs the plant should know, newest last.
        self.notes: deque[str] = deque(maxlen=_NOTES)
        self.roster = MachineRegistry(store, data, self.note)
        self.file_trouble = ""  # why the plant file is not taken as it is now
        self.delays: deque[float] = deque(maxlen=_DELAYS)  # seconds from last sample to verdict
        self.readings = 0  # seconds of all machines that were looked at
        self.learning: dict[str, Learning] = {}
        self.fitting: set[str] = set()  # machines whose clips are all there
        self.pending: dict[str, tuple[str, float]] = {}  # events to record: machine, due time
        self._sampled: dict[str, float] = {}  # when a machine's normal sound was last kept
        self.lock = threading.RLock()  # of machines and their events
        self._stop = threading.Event()
        self.workshop = JobQueue(self)
        self._threads = [
            threading.Thread(target=self._rounds, name="ssdpt-rounds", daemon=True),
            threading.Thread(target=self._keep_house, name="ssdpt-house", daemon=True),
        ]
        for settings in plant.machines:
            self.machines[settings.id] = self.roster.open(settings, plant)

    def start(self) -> None:
        """Begin to listen."""
        self.roster.end_events_of_others(self.machines)
        self.writer.start()
        self.metrics.watch_outputs(self.outputs)
        self.watch_sources()
        for machine in self.machines.values():
            machine.hearing.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End in order: what was heard is written, outputs say good-bye."""
        self._stop.set()
        self.hub.close()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(5.0)
        for machine in self.machines.values():
            machine.hearing.stop(0.5)
        self.workshop.close()
        with suppress(StoreUnavailable):
            self._remember()
        self.writer.stop()
        for output in self.outputs:
            output.close(2.0)

    @property
    def ready(self) -> bool:
        """Whether it listens, and the store takes what comes."""
        return all(thread.is_alive() for thread in self._threads) and not self.writer.trouble

    def snapshot(self, id: str) -> dict[str, Any]:
        """One machine as the API tells it."""
        with self.lock:
            machine = self.machines[id]
            told = machine.as_json() | {"added": id in self.added and id not in self.named}
            learning = self.learning.get(id)
            if learning is not None:
                told["learning"] = {
                    "seconds": learning.seconds,
                    "wanted": learning.wanted_seconds,
                }
            return told

    def learn_from(self, id: str, make: Callable[[], Sequence[Floats]]) -> None:
        """Fit a model to normal clips (samples,) that are at hand already, in the background."""
        machine = self.machines[id]
        with self.lock:
            self.fitting.add(id)
        self.workshop.learn(machine, make)

    def _rounds(self) -> None:
        looked = clock.monotonic()
        while not self._stop.is_set():
            busy = False
            try:
                busy = self._round()
                if clock.monotonic() - looked >= 1.0:
                    looked = clock.monotonic()
                    self._look_for_missing()
            except Exception as error:
                # Whatever it is, the watch over the others goes on.
                self._failed("a round", error)
            if not busy:
                self._stop.wait(_PAUSE)

    def _look_for_missing(self) -> None:
        """Of machines that say nothing, nothing more is waited for."""
        for machine in list(self.machines.values()):
            self._apply(machine, machine.missing)
            silent = clock.monotonic() - machine.hearing.heard_at
            if machine.lost or silent > self.file.retention.post_roll + _LATE_FILE:
                self._record(machine, math.inf)

    def _round(self) -> bool:
        """MachineJudge every machine of which another second was heard; whether there was one."""
        due = [machine for machine in list(self.machines.values()) if machine.due]
        by_model: dict[int, tuple[LiveModel | None, list[MachineMonitor]]] = {}
        for machine in due:
            model = machine.judge.model
            by_model.setdefault(id(model), (model, []))[1].append(machine)
        for model, group in by_model.values():
            scores: list[LiveScore | None] = [None] * len(group)
            try:
                if model is not None:
                    scores = model.score([(one.hearing.frames, one.judge.place) for one in group])
            except Exception as error:
                # One bad model must not end the watch over the others.
                self._failed(f"the model of {group[0].settings.title}", error)
            for machine, score in zip(group, scores, strict=True):
                learning = machine.id in self.learning or machine.id in self.fitting
                if self._apply(machine, partial(machine.take, score, learning=learning)):
                    self._after(machine)
                machine.hearing.taken.set()  # its next second may come
        return bool(due)

    def _apply(self, machine: MachineMonitor, look: Callable[[], list[Message]]) -> bool:
        """Look at a machine and tell what came of it, in one go; whether that went well."""
        with self.lock:
            if self.machines.get(machine.id) is not machine:
                return False  # the plant file was read again meanwhile
            try:
                for message in look():
                    self.tell(message)
            except Exception as error:
                self._failed(f"a second of {machine.settings.title}", error)
                return False
            return True

    def _failed(self, what: str, error: Exception) -> None:
        words = f"{what} could not be judged ({error!r})"
        if words not in self.notes:
            _LOG.error("%s", words, exc_info=error)
            self.note(words)

    def _after(self, machine: MachineMonitor) -> None:
        """What follows from another second of a machine."""
        assert machine.last is not None
        now = machine.last.time
        self.readings += 1
        self.delays.append(clock.time() - now)
        with self.lock:
            learning = self.learning.get(machine.id)
            runs = machine.last.state != "off"
            if learning is not None and learning.listen(machine.hearing, now, runs=runs):
                del self.learning[machine.id]
                self.learn_from(machine.id, learning.clips.copy)
        baseline = machine.judge.baseline
        if baseline.points is None and baseline.learner.ready:
            self.workshop.learn_points(machine, baseline.learner)
            baseline.learner = OperatingPointLearner()
        self._record(machine, now)

    def _record(self, machine: MachineMonitor, now: float) -> None:
        """Keep the sound of events of which all was heard by `now`."""
        with self.lock:
            due = [
                event
                for event, (owner, when) in self.pending.items()
                if owner == machine.id and now >= when
            ]
            for event in due:
                del self.pending[event]
        for event in due:
            self.workshop.record(machine, event)

    def tell(self, message: Message) -> None:
        """The store, the page and all outputs."""
        if isinstance(message, ReadingTaken):
            reading = message.reading
            self.writer.reading(reading)
            self.hub.tell(
                "reading",
                {
                    "machine": reading.machine,
                    "time": reading.time,
                    "score": reading.smoothed,
                    "level_dbfs": reading.level_dbfs,
                    "state": reading.state,
                },
            )
        elif isinstance(message, EventChanged):
            event = message.event
            self.writer.event(event)
            self.hub.tell("event", event_json(event))
            if event.kind == "anomaly" and event.audio_begin is None and event.ended is None:
                due = event.began + self.file.retention.post_roll
                self.pending.setdefault(event.id, (event.machine, due))
            self.tell_machine(event.machine)
        else:
            self.tell_machine(message.machine)
        self.metrics.publish(message)
        for output in self.outputs:
            output.publish(message)

    def tell_machine(self, id: str) -> None:
        if id in self.machines:
            told = self.snapshot(id)
            del told["spark"]
            self.hub.tell("machine", told)

    def watch_sources(self) -> None:
        """Metrics tell of the sources there are now."""
        self.metrics.watch_sources(
            {
                id: (lambda source=machine.hearing.source: source.status)  # type: ignore[misc]
                for id, machine in list(self.machines.items())
            }
        )

    def rename_outputs(self) -> None:
        """Outputs call machines by the names they have now."""
        titles = {machine.id: machine.title for machine in self.file.machines}
        for output in self.outputs:
            output.rename(titles)

    def note(self, words: str) -> None:
        """Something that whoever runs the plant should know."""
        _LOG.info("%s", words)
        if not self.notes or self.notes[-1] != words:
            self.notes.append(words)

    def _keep_house(self) -> None:
        while not self._stop.wait(_HOUSEKEEPING):
            # Each by itself: on a full disk nothing can be written until old sound made way.
            for work in (self._retain, self._roll_up, self._remember, self._keep_samples):
                try:
                    work()
                except StoreUnavailable as error:
                    _LOG.warning("%s", error)
                except Exception:
                    _LOG.exception("housekeeping failed")

    def _retain(self) -> None:
        kept = self.store.retain(clock.time(), self.file.retention)
        if kept.words:
            self.note(kept.words)

    def _roll_up(self) -> None:
        self.store.roll_up(clock.time())

    def _keep_samples(self) -> None:
        now = clock.monotonic()
        for id, machine in list(self.machines.items()):
            if machine.normal_samples and now - self._sampled.get(id, -math.inf) >= _SAMPLE_EVERY:
                self._sampled[id] = now
                self.workshop.keep_sample(machine)

    def _remember(self) -> None:
        """What must outlive a restart."""
        for machine in list(self.machines.values()):
            self.roster.remember(machine)


def open_outputs(plant: MonitorConfig) -> list[Output]:
    """All of them, or none where one cannot be."""
    titles = {machine.id: machine.title for machine in plant.machines}
    outputs: list[Output] = []
    try:
        for settings in plant.outputs:
            outputs.append(open_output(settings, titles))
    except SsdptError:
        for output in outputs:
            output.close(0.0)
        raise
    return outputs
