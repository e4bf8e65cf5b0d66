"""The monitor: the watch over a plant, what it tells, and what people do with it."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from ssdpt.config import explain
from ssdpt.errors import SsdptError
from ssdpt.monitor.hub import Subscription
from ssdpt.monitor.idle import RunningKeeper
from ssdpt.monitor.learning import FEWEST_CLIPS, MOST_CLIPS, Learning, flac
from ssdpt.monitor.machine import MachineMonitor, limits_json
from ssdpt.monitor.outputs.messages import EventChanged, MachineRemoved
from ssdpt.monitor.plant import MachineSettings, read_plant
from ssdpt.monitor.recorder import picture_json
from ssdpt.monitor.spectrum import waterfall
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.monitor.types import Event
from ssdpt.monitor.watch import Watch, open_outputs
from ssdpt.types import Floats
from ssdpt.version import __version__

_LEAST_JUDGED = 300.0  # seconds, for a new baseline


class Monitor(Watch):
    """A watch that answers. Its methods may be called from any thread."""

    def machine(self, id: str) -> MachineMonitor:
        """KeyError where there is none."""
        return self.machines[id]

    def subscribe(self) -> Subscription:
        """Everything that happens from now on."""
        return self.hub.subscribe()

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

    def acknowledge(self, id: str, who: str, comment: str = "") -> Event:
        return self._changed(lambda: self.store.acknowledge(id, who, clock.time(), comment))

    def comment(self, id: str, who: str, text: str) -> Event:
        return self._changed(lambda: self.store.comment(id, who, clock.time(), text))

    def label(self, id: str, label: Literal["normal", "fault", ""], who: str) -> Event:
        """`normal` also makes the machine's model take the event's sound up as normal."""
        event = self._changed(lambda: self.store.label(id, label, who, clock.time()))
        machine = self.machines.get(event.machine)
        if label == "normal" and event.audio_begin is not None and machine is not None:
            self.workshop.absorb(machine, event)
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
            self.learning[id] = Learning(wanted, seconds, every)
        self.tell_machine(id)

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
        self.watch_sources()
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
        outputs = open_outputs(plant) if changed else self.outputs
        told = []
        with self.lock:
            for id in [id for id in known if id not in wanted or id in opened]:
                gone = self.machines.pop(id, None)
                if gone is not None:
                    gone.hearing.stop(0.1)
                self.pending = {
                    event: found for event, found in self.pending.items() if found[0] != id
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
        self.watch_sources()
        return told

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
