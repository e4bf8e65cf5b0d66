"""Adds, removes and replaces machines while the service runs."""

from __future__ import annotations

import threading
import time as clock

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.messages import MachineRemoved
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.current_config import CurrentConfig
from ssdpt.monitor.service.event_recorder import EventRecorder
from ssdpt.monitor.service.housekeeping import Housekeeping
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.models import ModelCache
from ssdpt.monitor.service.opening import MachineOpener
from ssdpt.monitor.service.publisher import Publisher, open_outputs
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.store.writer import StoreWriter

# Settings of the whole service that a changed file sets at once, and those that need a restart.
_AT_ONCE = ("name", "timezone", "retention", "speed")
_AFTER_RESTART = ("store", "device")


class MachineAdmin:
    """Changes which machines are monitored."""

    def __init__(
        self,
        machines: MachineRegistry,
        current: CurrentConfig,
        opener: MachineOpener,
        models: ModelCache,
        publisher: Publisher,
        recorder: EventRecorder,
        housekeeping: Housekeeping,
        writer: StoreWriter,
        metrics: Metrics,
    ) -> None:
        self._machines, self._current, self._opener = machines, current, opener
        self._models, self._publisher = models, publisher
        self._recorder, self._housekeeping = recorder, housekeeping
        self._writer, self._metrics = writer, metrics
        self._lock = threading.Lock()  # one change at a time; taken before that of the machines

    def open_all(self) -> None:
        """All machines of the configuration; their capture is not started."""
        for settings in self._current.config.machines:
            self._machines.put(self._opener.open(settings, self._current.config))
        self.watch_sources()

    def add(self, settings: MachineSettings) -> str:
        """Monitor one more machine, also after a restart; gives its id."""
        with self._lock:
            if settings.id in self._machines:
                raise SsdptError(f"there is already a machine with the id {settings.id}")
            settings = self._current.at_speed(settings)
            machine = self._opener.open(settings, self._current.config)
            with self._machines.lock:
                self._current.add(settings)
                self._machines.put(machine)
                self._publisher.rename(self._current.titles)
            machine.capture.start()
            self.watch_sources()
        self._publisher.machine_changed(settings.id)
        return settings.id

    def remove(self, id: str) -> None:
        """Stop monitoring a machine that was added on the page; its history stays."""
        with self._lock:
            with self._machines.lock:
                machine = self._machines[id]
                self._current.remove(id)
                self._end(machine)
                self._publisher.rename(self._current.titles)
            self._opener.forget(id)
            self.watch_sources()

    def reload(self) -> list[str]:
        """Read the configuration file again; a broken one leaves everything as it is.

        Gives what has changed, in sentences.
        """
        with self._lock:
            return self._reload()

    def _reload(self) -> list[str]:
        written, config = self._current.read_again()
        before = self._current.config
        # Ongoing events and what was learned are read from the store.
        self._writer.flush()
        self._housekeeping.save_values()
        known = {machine.id: machine for machine in before.machines}
        wanted = {machine.id: machine for machine in config.machines}
        opened = {
            id: self._opener.open(settings, config, self._machines.get(id))
            for id, settings in wanted.items()
            if known.get(id) != settings
            or not self._opener.keeps_enough(self._machines[id], config)
        }
        titles = {machine.id: machine.title for machine in config.machines}
        new_outputs = config.outputs != before.outputs
        outputs = open_outputs(config.outputs, titles) if new_outputs else []
        changes = []
        with self._machines.lock:
            for machine in [one for one in self._machines if one.id not in wanted]:
                self._end(machine)
                changes.append(f"{machine.id} removed")
            for id, machine in opened.items():
                self._replace(self._machines.get(id), machine)
                changes.append(f"{id} {'changed' if id in known else 'added'}")
            changes += [f"{name} changed" for name in _AT_ONCE if _differs(name, before, config)]
            changes += [
                f"{name} changed: restart the service to use it"
                for name in _AFTER_RESTART
                if _differs(name, before, config)
            ]
            self._current.use(written, config)
        if new_outputs:
            changes.append("outputs updated")
            self._publisher.replace_outputs(outputs)
        self._publisher.rename(titles)
        self._models.keep_only(machine.model for machine in self._machines)
        self.watch_sources()
        return changes

    def watch_sources(self) -> None:
        """Metrics show the sources of the present machines."""
        self._metrics.watch_sources(
            {
                machine.id: (lambda source=machine.capture.source: source.status)  # type: ignore[misc]
                for machine in self._machines
            }
        )

    def _end(self, machine: MachineMonitor) -> None:
        """End its ongoing events, and notify everyone."""
        for message in machine.events.end_all(clock.time()):
            self._publisher.publish(message)
        self._machines.remove(machine.id)
        self._recorder.forget(machine.id)
        machine.capture.stop(0.1)
        self._publisher.publish(MachineRemoved(machine=machine.id))

    def _replace(self, previous: MachineMonitor | None, machine: MachineMonitor) -> None:
        """Monitor this machine, in place of what it was before its settings changed."""
        self._machines.put(machine)
        if previous is not None:
            machine.continue_from(previous)
            if previous.capture is machine.capture:
                return  # capture goes on without a gap
            previous.capture.stop(0.1)
        machine.capture.start()


def _differs(name: str, before: MonitorConfig, after: MonitorConfig) -> bool:
    return bool(getattr(before, name) != getattr(after, name))
