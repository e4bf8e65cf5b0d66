"""The monitor: the watch over a plant, what it tells, and what people do with it."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from typing import Any, Literal

from ssdpt.alarms.operating_points import UNKNOWN
from ssdpt.alarms.running import RunningDetector
from ssdpt.config.validation import checked
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.spectrum import waterfall
from ssdpt.monitor.config import MachineSettings, read_monitor_config
from ssdpt.monitor.events.picture import picture_json
from ssdpt.monitor.learning.baseline import FEWEST_CLIPS, MOST_CLIPS, Learning, flac
from ssdpt.monitor.messages import Event
from ssdpt.monitor.outputs.messages import EventChanged, MachineRemoved
from ssdpt.monitor.service.loop import Watch, open_outputs
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.subscriptions import Subscription
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.types import Floats
from ssdpt.version import __version__

_SAID = {
    "normal": "says that this is normal",
    "fault": "says that this is a fault",
    "": "takes back what it was",
}


class MonitorService(Watch):
    """A watch that answers. Its methods may be called from any thread."""

    def start(self) -> None:
        super().start()
        for id, machine in list(self.machines.items()):
            minutes = self.store.recall(id, "learning")
            if minutes is None:
                continue
            if machine.settings.model is not None:
                self.store.forget(id, "learning")  # it is judged by a model now
                continue
            self.start_learning(id, float(minutes))
            title = machine.settings.title
            self.note(f"{title} was learning when the service stopped, and begins anew")

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
            "notes": list(self.notes),
            "troubles": [*trouble, *([self.file_trouble] if self.file_trouble else [])],
            "machines": self.snapshots(),
        }

    def snapshots(self) -> list[dict[str, Any]]:
        """All machines."""
        return [self.snapshot(id) for id in list(self.machines)]

    def spectrum(self, id: str) -> dict[str, Any]:
        machine = self.machines[id]
        return dict(machine.spectrum.as_json(machine.judge.point or UNKNOWN))

    def waterfall(self, id: str, seconds: float) -> dict[str, Any]:
        machine = self.machines[id]
        return waterfall(machine.hearing.ring, seconds, machine.spectrum.log_mel)

    def normal_sample(self, id: str) -> bytes:
        """Some seconds of this machine while all was well, as FLAC."""
        sample = self.machines[id].normal_sample
        kept = self.store.sample(id)  # from before the last start
        if not self.file.retention.keep_audio or (sample is None and kept is None):
            raise SsdptError(f"machine {id}: no normal sound is kept to compare with yet")
        if sample is not None:
            return flac(sample, self.machines[id].hearing.rate)
        assert kept is not None
        return kept.read_bytes()

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
                "system": model.detector.system_name,
                "card_markdown": model.detector.card(),
                "sections": list(model.detector.sections),
                "clips": model.detector.stored.description.get("clips"),
                "made": model.detector.stored.version,
            }
            for id, machine in list(self.machines.items())
            if (model := machine.judge.model) is not None
        ]

    def thresholds(self, id: str, per_week: float) -> dict[str, Any]:
        """What the limits would be."""
        judge = self.machines[id].judge
        if judge.model is None:
            raise SsdptError(f"machine {id} has no model yet: let it learn its baseline first")
        return judge.limits_at(per_week).to_json()

    def acknowledge(self, id: str, who: str, comment: str = "") -> Event:
        return self._changed(lambda: self.store.acknowledge(id, who, clock.time(), comment))

    def comment(self, id: str, who: str, text: str) -> Event:
        return self._changed(lambda: self.store.comment(id, who, clock.time(), text))

    def label(self, id: str, label: Literal["normal", "fault", ""], who: str) -> Event:
        """`normal` also makes the machine's model take the event's sound up as normal."""
        self._changed(lambda: self.store.label(id, label, who, clock.time()))
        event = self.comment(id, who, _SAID[label])  # who said it and when is told with the event
        machine = self.machines.get(event.machine)
        if machine is None or event.kind != "anomaly":
            return event
        if label == "fault":
            with self.lock:
                machine.judge.baseline.marks.drop(
                    event.began, event.ended or machine.hearing.ring.end
                )
        elif label == "normal" and event.audio_begin is not None:
            self.workshop.absorb(machine, event)
        elif label == "normal" and not self.file.retention.keep_audio:
            self.note(
                f"{machine.settings.title}: no sound is kept, so that none can be taken as normal; "
                "take a new baseline instead"
            )
        return event

    def mute(self, id: str, until: float | None) -> None:
        """No new events of this machine until then; None ends it."""
        machine = self.machines[id]
        self.store.remember(id, "muted_until", until)
        machine.muted_until = until
        self.tell_machine(id)

    def rebaseline(self, id: str) -> None:
        """Take what it has sounded like in the last minutes as its normal sound."""
        machine = self.machines[id]
        with self.lock:
            if not machine.judge.may_move:
                raise SsdptError(
                    f"machine {id} has not been judged for long enough yet: five minutes as it "
                    "sounds now"
                )
            machine.judge.move_baseline()
        self.roster.remember(machine)
        self.tell_machine(id)

    def name_point(self, id: str, number: int, name: str) -> None:
        """Call an operating point so."""
        baseline = self.machines[id].judge.baseline
        with self.lock:
            if baseline.points is None or not 1 <= number <= len(baseline.points.points):
                raise SsdptError(f"machine {id} has no operating point {number}")
            baseline.points = baseline.points.named(number, name.strip())
        self.roster.remember(self.machines[id])
        self.tell_machine(id)

    def set_thresholds(self, id: str, per_week: float) -> dict[str, Any]:
        """Ask for so many false alerts a week from now on."""
        found = self.thresholds(id, per_week)
        self.roster.ask(self.machines[id], per_week)
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
        self.store.remember(id, "learning", minutes)
        seconds = 10.0
        wanted = min(max(FEWEST_CLIPS, round(60 * minutes / seconds)), MOST_CLIPS)
        every = max(seconds, 60 * minutes / MOST_CLIPS)
        # How loud it runs may be what has changed.
        self.store.remember(id, "usual_dbfs", None)
        with self.lock:
            machine.running = RunningDetector(machine.settings.alarm.off_below_dbfs)
            self.learning[id] = Learning(wanted, seconds, every)
            for message in machine.turn("learning"):
                self.tell(message)
        self.tell_machine(id)

    def stop_learning(self, id: str) -> None:
        """What was collected is thrown away, and the machine judged as before."""
        with self.lock:
            if self.learning.pop(id, None) is None:
                raise SsdptError(f"machine {id} is not collecting normal sound")
            for message in self.machines[id].turn("starting"):
                self.tell(message)
        self.store.forget(id, "learning")
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
        found = self.added.at_speed(checked(MachineSettings, settings, "machine"), self.file.speed)
        machine = self.roster.open(found, self.file)
        with self.lock:
            if found.id in self.machines:
                raise SsdptError(f"there is a machine called {found.id} already")
            self.added.add(found)
            self.machines[found.id] = machine
            self.file = self.file.model_copy(update={"machines": (*self.file.machines, found)})
            self.rename_outputs()
        machine.hearing.start()
        self.watch_sources()
        self.tell_machine(found.id)
        return found.id

    def remove_machine(self, id: str) -> None:
        """No longer listen to a machine that was added on the page; its history stays."""
        with self.lock:
            machine = self.machines[id]
            if id in self.named or id not in self.added:
                raise SsdptError(f"machine {id} is named in the plant file; take it out there")
            self.added.remove(id)
            self._remove(machine)
            machines = tuple(one for one in self.file.machines if one.id != id)
            self.file = self.file.model_copy(update={"machines": machines})
            self.rename_outputs()
        self.roster.forget(id)
        self.watch_sources()

    def _remove(self, machine: MachineMonitor) -> None:
        """What goes on of it ends, and all who listen are told."""
        for message in machine.events.end_all(clock.time()):
            self.tell(message)
        del self.machines[machine.id]
        self.learning.pop(machine.id, None)
        self.pending = {
            event: found for event, found in self.pending.items() if found[0] != machine.id
        }
        machine.hearing.stop(0.1)
        self.hub.tell("removed", {"machine": machine.id})
        self.tell(MachineRemoved(machine.id))

    def reload(self) -> list[str]:
        """Read the plant file again; a broken one leaves everything as it is.

        What changed, in words.
        """
        if self.path is None:
            raise SsdptError("there is no plant file to read again")
        written = read_monitor_config(self.path)
        plant = self.added.beside(written)
        if not plant.machines and self.file.machines:
            raise SsdptError(
                f"{self.path}: names no machine any more; stop the service to mean that"
            )
        # Events that go on, and what was learnt, are read from the store.
        self.writer.flush()
        self._remember()
        known = {machine.id: machine for machine in self.file.machines}
        wanted = {machine.id: machine for machine in plant.machines}
        opened = {
            id: self.roster.open(settings, plant, self.machines.get(id))
            for id, settings in wanted.items()
            if known.get(id) != settings
            or not self.roster.remembers_enough(self.machines[id], plant)
        }
        changed = plant.outputs != self.file.outputs
        outputs = open_outputs(plant) if changed else self.outputs
        told = []
        with self.lock:
            for id in [id for id in known if id not in wanted and id in self.machines]:
                self._remove(self.machines[id])
                told.append(f"{id} is no longer listened to")
            for id, machine in opened.items():
                self._replace(self.machines.get(id), machine)
                told.append(f"{id} {'has changed' if id in known else 'is new'}")
            before, self.outputs = self.outputs, outputs
            if plant.retention != self.file.retention:
                told.append("things are kept for another time from now on")
            self.file, self.named = plant, {machine.id for machine in written.machines}
            self.rename_outputs()
        if changed:
            told.append("other outputs are told from now on")
            for output in before:
                output.close(2.0)
        self.roster.forget_models(machine.judge.model for machine in self.machines.values())
        self.metrics.watch_outputs(self.outputs)
        self.watch_sources()
        return told

    def _replace(self, before: MachineMonitor | None, machine: MachineMonitor) -> None:
        """Listen to this machine, in place of what it was before its settings changed."""
        self.machines[machine.id] = machine
        if machine.settings.model is not None and self.learning.pop(machine.id, None) is not None:
            self.store.forget(machine.id, "learning")
        if before is not None:
            machine.follow(before)
            if before.hearing is machine.hearing:
                return  # heard on without a gap
            before.hearing.stop(0.1)
        machine.hearing.start()

    def _changed(self, change: Callable[[], Event]) -> Event:
        """Someone did something to an event: durable before it is answered."""
        if not self.writer.flush():
            raise StoreUnavailable(self.writer.trouble)
        event = change()
        with self.lock:
            machine = self.machines.get(event.machine)
            if machine is not None:
                event = machine.events.said(event)
            self.tell(EventChanged(event))
        return event
