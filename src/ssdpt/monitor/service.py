"""The monitor: all machines of a plant, listened to, judged, remembered and told of."""

from __future__ import annotations

import logging
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from ssdpt.config import explain
from ssdpt.errors import SsdptError
from ssdpt.monitor.added import AddedMachines
from ssdpt.monitor.hub import Hub, Subscription
from ssdpt.monitor.idle import RunningKeeper
from ssdpt.monitor.learning import FEWEST_CLIPS, MOST_CLIPS, Learning, flac
from ssdpt.monitor.live import LiveModel, LiveScore
from ssdpt.monitor.machine import MachineMonitor, limits_json
from ssdpt.monitor.outputs import open_output
from ssdpt.monitor.outputs.base import Output
from ssdpt.monitor.outputs.messages import (
    EventChanged,
    MachineRemoved,
    Message,
    ReadingTaken,
    event_json,
)
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.plant import MachineSettings, PlantFile, read_plant
from ssdpt.monitor.recorder import picture_json
from ssdpt.monitor.roster import Roster
from ssdpt.monitor.spectrum import waterfall
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.monitor.types import Event
from ssdpt.monitor.workshop import Workshop
from ssdpt.monitor.writer import Writer
from ssdpt.types import Floats
from ssdpt.version import __version__

_LEAST_JUDGED = 300.0  # seconds, for a new baseline
_PAUSE = 0.05  # seconds between rounds in which nothing was due
_HOUSEKEEPING = 60.0  # seconds
_DELAYS = 20_000  # that are remembered
_NOTES = 20
_LOG = logging.getLogger(__name__)


class Monitor:
    """Listens until it is stopped. Its methods may be called from any thread."""

    def __init__(
        self,
        plant: PlantFile,
        store: Store,
        data: Path,
        *,
        path: Path | None = None,
        demo: bool = False,
    ) -> None:
        self.added = AddedMachines(data / "machines.json")
        self.file = plant = self.added.beside(plant)
        self.store, self.data, self.path, self.demo = store, data, path, demo
        self.roster = Roster(store, data)
        self.writer = Writer(store)
        self.hub = Hub()
        self.metrics = Metrics()
        self.outputs = _opened(plant)
        self.machines: dict[str, MachineMonitor] = {}
        # What whoever runs the plant should know, newest last.
        self.notes: deque[str] = deque(maxlen=_NOTES)
        self.delays: deque[float] = deque(maxlen=_DELAYS)  # seconds from last sample to verdict
        self.readings = 0  # seconds of all machines that were looked at
        self._learning: dict[str, Learning] = {}
        self.fitting: set[str] = set()  # machines whose clips are all there
        self._pending: dict[str, tuple[str, float]] = {}  # events to record: machine, due time
        self.lock = threading.RLock()  # of machines and their events
        self._stop = threading.Event()
        self._workshop = Workshop(self)
        self._threads = [
            threading.Thread(target=self._rounds, name="ssdpt-rounds", daemon=True),
            threading.Thread(target=self._keep_house, name="ssdpt-house", daemon=True),
        ]
        for settings in plant.machines:
            self.machines[settings.id] = self.roster.open(settings, plant)

    def start(self) -> None:
        """Begin to listen."""
        self.writer.start()
        self.metrics.watch_outputs(self.outputs)
        self._watch_sources()
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
        self._workshop.close()
        with suppress(StoreUnavailable):
            self._remember()
        self.writer.stop()
        for output in self.outputs:
            output.close(2.0)

    @property
    def ready(self) -> bool:
        """Whether it listens, and the store takes what comes."""
        return all(thread.is_alive() for thread in self._threads) and not self.writer.trouble

    def machine(self, id: str) -> MachineMonitor:
        """KeyError where there is none."""
        return self.machines[id]

    def subscribe(self) -> Subscription:
        """Everything that happens from now on."""
        return self.hub.subscribe()

    # What is told

    def plant(self) -> dict[str, Any]:
        """The whole plant, as the page shows it first."""
        trouble = [self.writer.trouble] if self.writer.trouble else []
        heard = [machine.last.time for machine in list(self.machines.values()) if machine.last]
        return {
            # The machines' own time, which runs ahead of ours where it is sped up.
            "now": max(heard) if heard and self.file.speed != 1 else clock.time(),
            "name": self.file.name,
            "zone": self.file.zone,
            "version": __version__,
            "demo": self.demo,
            "keeps_audio": self.file.retention.keep_audio,
            "speed": self.file.speed,
            "notes": [*self.notes, *trouble],
            "machines": self.snapshots(),
        }

    def snapshots(self) -> list[dict[str, Any]]:
        """All machines."""
        return [self.snapshot(id) for id in list(self.machines)]

    def snapshot(self, id: str) -> dict[str, Any]:
        """One machine as the API tells it."""
        with self.lock:
            machine = self.machines[id]
            told = machine.as_json()
            learning = self._learning.get(id)
            if learning is not None:
                told["learning"] = {
                    "seconds": learning.seconds,
                    "wanted": learning.wanted * learning.clip_seconds,
                }
            return told

    def spectrum(self, id: str) -> dict[str, Any]:
        return dict(self.machines[id].spectrum.as_json())

    def waterfall(self, id: str, seconds: float) -> dict[str, Any]:
        machine = self.machines[id]
        return waterfall(machine.hearing.ring, seconds, machine.spectrum.log_mel)

    def normal_sample(self, id: str) -> bytes:
        """Some seconds of this machine while all was well, as FLAC."""
        sample = self.machines[id].normal_sample
        if sample is None or not self.file.retention.keep_audio:
            raise SsdptError(f"machine {id}: no normal sound is kept to compare with yet")
        return flac(sample, self.machines[id].hearing.rate)

    def event_spectrogram(self, id: str) -> dict[str, Any]:
        path = self.store.attachment(id, "spectrogram")
        if path is None:
            raise SsdptError("this event has no spectrogram")
        return picture_json(path.read_bytes())

    def models(self) -> list[dict[str, Any]]:
        """What judges each machine."""
        return [
            {
                "id": id,
                "machine": id,
                "system": machine.model.detector.system_name,
                "card_markdown": machine.model.detector.card(),
                "sections": list(machine.model.detector.sections),
                "clips": machine.model.detector.stored.description.get("clips"),
                "made": machine.model.detector.stored.version,
            }
            for id, machine in list(self.machines.items())
            if machine.model is not None
        ]

    def thresholds(self, id: str, per_week: float) -> dict[str, Any]:
        """What the limits would be."""
        machine = self.machines[id]
        if machine.model is None:
            raise SsdptError(f"machine {id} has no model yet: let it learn its baseline first")
        return limits_json(machine.limits_at(per_week))

    # What people do

    def acknowledge(self, id: str, who: str, comment: str = "") -> Event:
        return self._changed(lambda: self.store.acknowledge(id, who, clock.time(), comment))

    def comment(self, id: str, who: str, text: str) -> Event:
        return self._changed(lambda: self.store.comment(id, who, clock.time(), text))

    def label(self, id: str, label: Literal["normal", "fault", ""], who: str) -> Event:
        """`normal` also makes the machine's model take the event's sound up as normal."""
        event = self._changed(lambda: self.store.label(id, label, who, clock.time()))
        machine = self.machines.get(event.machine)
        if label == "normal" and event.audio_begin is not None and machine is not None:
            self._workshop.absorb(machine, event)
        return event

    def mute(self, id: str, until: float | None) -> None:
        """No new events of this machine until then; None ends it."""
        machine = self.machines[id]
        self.store.remember(id, "muted_until", until)
        machine.muted_until = until
        self.tell_machine(id)

    def rebaseline(self, id: str) -> None:
        """Take what it has sounded like lately as its normal sound."""
        machine = self.machines[id]
        if machine.model is None or machine.drift.seconds < _LEAST_JUDGED:
            raise SsdptError(f"machine {id} has not been judged for long enough yet")
        with self.lock:
            machine.rebaseline()
        self.roster.remember_shift(machine)
        self.tell_machine(id)

    def set_thresholds(self, id: str, per_week: float) -> dict[str, Any]:
        """Ask for so many false alerts a week from now on."""
        found = self.thresholds(id, per_week)
        self.store.remember(id, "per_week", per_week)
        self.machines[id].per_week = per_week
        self.tell_machine(id)
        return found

    def start_learning(self, id: str, minutes: float) -> None:
        """Collect normal sound for so long, then fit a model to it."""
        machine = self.machines[id]
        if machine.settings.model is not None:
            raise SsdptError(
                f"machine {id} is judged by the model that the plant file names; take it out "
                "there to let the machine learn its own baseline"
            )
        seconds = 10.0
        wanted = min(max(FEWEST_CLIPS, round(60 * minutes / seconds)), MOST_CLIPS)
        every = max(seconds, 60 * minutes / MOST_CLIPS)
        # How loud it runs may be what has changed.
        self.store.remember(id, "usual_dbfs", None)
        with self.lock:
            machine.running = RunningKeeper(machine.settings.alarm.off_below_dbfs)
            self._learning[id] = Learning(wanted, seconds, every)
        self.tell_machine(id)

    def learn_from(self, id: str, make: Callable[[], Sequence[Floats]]) -> None:
        """Fit a model to normal clips (samples,) that are at hand already, in the background."""
        machine = self.machines[id]
        with self.lock:
            self.fitting.add(id)
        self._workshop.learn(machine, make)

    def push(
        self, id: str, samples: Floats, rate: int, channels: int, time: float | None = None
    ) -> None:
        """Sound from outside, (frames, channels) or (frames,)."""
        source = self.machines[id].hearing.source
        push: Callable[..., None] | None = getattr(source, "push", None)
        if push is None:
            kind = self.machines[id].settings.source.kind
            raise SsdptError(
                f"machine {id} listens to a {kind} source; only one of kind pushed takes sound"
            )
        push(samples, rate, channels, time)

    def add_machine(self, settings: Mapping[str, Any]) -> str:
        """One more machine, from now on and after a restart too; gives its id."""
        try:
            found = MachineSettings.model_validate(settings)
        except ValidationError as error:
            raise SsdptError(f"machine: setting {explain(error)}") from error
        machine = self.roster.open(found, self.file)
        with self.lock:
            if found.id in self.machines:
                raise SsdptError(f"there is a machine called {found.id} already")
            self.added.add(found)
            self.machines[found.id] = machine
            self.file = self.file.model_copy(update={"machines": (*self.file.machines, found)})
        machine.hearing.start()
        self._watch_sources()
        self.tell_machine(found.id)
        return found.id

    def reload(self) -> list[str]:
        """Read the plant file again; a broken one leaves everything as it is.

        What changed, in words.
        """
        if self.path is None:
            raise SsdptError("there is no plant file to read again")
        plant = self.added.beside(read_plant(self.path))
        if not plant.machines and self.file.machines:
            raise SsdptError(
                f"{self.path}: names no machine any more; stop the service to mean that"
            )
        self.writer.flush()  # events that go on are read from the store
        known = {machine.id: machine for machine in self.file.machines}
        wanted = {machine.id: machine for machine in plant.machines}
        opened = {
            id: self.roster.open(settings, plant)
            for id, settings in wanted.items()
            if known.get(id) != settings
        }
        changed = plant.outputs != self.file.outputs
        outputs = _opened(plant) if changed else self.outputs
        told = []
        with self.lock:
            for id in [id for id in known if id not in wanted or id in opened]:
                gone = self.machines.pop(id, None)
                if gone is not None:
                    gone.hearing.stop(0.1)
                self._pending = {
                    event: found for event, found in self._pending.items() if found[0] != id
                }
                if id not in wanted:
                    told.append(f"{id} is no longer listened to")
                    self.tell(MachineRemoved(id))
            for id, machine in opened.items():
                self.machines[id] = machine
                machine.hearing.start()
                told.append(f"{id} {'has changed' if id in known else 'is new'}")
            before, self.outputs = self.outputs, outputs
            self.file = plant
        if changed:
            told.append("other outputs are told from now on")
            for output in before:
                output.close(2.0)
        self.metrics.watch_outputs(self.outputs)
        self._watch_sources()
        return told

    # What goes on by itself

    def _rounds(self) -> None:
        looked = clock.monotonic()
        while not self._stop.is_set():
            busy = self._round()
            if clock.monotonic() - looked >= 1.0:
                looked = clock.monotonic()
                for machine in list(self.machines.values()):
                    self._apply(machine, machine.missing)
            if not busy:
                self._stop.wait(_PAUSE)

    def _round(self) -> bool:
        """Judge every machine of which another second was heard; whether there was one."""
        due = [machine for machine in list(self.machines.values()) if machine.due]
        by_model: dict[int, tuple[LiveModel | None, list[MachineMonitor]]] = {}
        for machine in due:
            by_model.setdefault(id(machine.model), (machine.model, []))[1].append(machine)
        for model, group in by_model.values():
            scores: list[LiveScore | None] = [None] * len(group)
            try:
                if model is not None:
                    scores = model.score([(one.hearing.frames, one.place) for one in group])
            except Exception as error:
                # One bad model must not end the watch over the others.
                self._failed(f"the model of {group[0].settings.title}", error)
            for machine, score in zip(group, scores, strict=True):
                learning = machine.id in self._learning or machine.id in self.fitting
                if self._apply(machine, partial(machine.take, score, learning=learning)):
                    self._after(machine)
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
        learning = self._learning.get(machine.id)
        if learning is not None:
            runs = machine.last.state != "off"
            if learning.listen(machine.hearing, now, runs=runs):
                with self.lock:
                    del self._learning[machine.id]
                self.learn_from(machine.id, learning.clips.copy)
        for event, (owner, due) in list(self._pending.items()):
            if owner == machine.id and now >= due:
                del self._pending[event]
                self._workshop.record(machine, event)

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
                self._pending.setdefault(event.id, (event.machine, due))
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

    def _changed(self, change: Callable[[], Event]) -> Event:
        """Someone did something to an event: durable before it is answered."""
        if not self.writer.flush():
            raise StoreUnavailable(self.writer.trouble)
        event = change()
        with self.lock:
            machine = self.machines.get(event.machine)
            if machine is not None:
                event = machine.said(event)
            self.tell(EventChanged(event))
        return event

    def _watch_sources(self) -> None:
        """Metrics tell of the sources there are now."""
        self.metrics.watch_sources(
            {
                id: (lambda source=machine.hearing.source: source.status)  # type: ignore[misc]
                for id, machine in list(self.machines.items())
            }
        )

    def note(self, words: str) -> None:
        """Something that whoever runs the plant should know."""
        _LOG.info("%s", words)
        if not self.notes or self.notes[-1] != words:
            self.notes.append(words)

    def _keep_house(self) -> None:
        while not self._stop.wait(_HOUSEKEEPING):
            # Each by itself: on a full disk nothing can be written until old sound made way.
            for work in (self._retain, self._roll_up, self._remember):
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

    def _remember(self) -> None:
        """What must outlive a restart."""
        for id, machine in list(self.machines.items()):
            self.store.remember(id, "usual_dbfs", machine.running.usual_dbfs)
            self.store.remember(id, "drift", [machine.drift.mean, machine.drift.seconds])


def _opened(plant: PlantFile) -> list[Output]:
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
