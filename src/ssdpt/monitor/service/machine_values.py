"""What a machine has learned, kept in the store so that it outlives a restart."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.store import Store


class MachineValues:
    """Values by machine and key; a value is written only when it has changed."""

    def __init__(self, store: Store, machines_lock: threading.RLock) -> None:
        """`machines_lock` guards what machines have learned, which other threads change."""
        self._store, self._machines_lock = store, machines_lock
        self._written: dict[tuple[str, str], Any] = {}
        self._removed: set[str] = set()  # machines
        self._lock = threading.RLock()

    def get(self, id: str, key: str) -> Any:
        """None where nothing is kept."""
        return self._store.get_value(id, key)

    def set(self, id: str, key: str, value: Any) -> None:
        """Anything that JSON can hold."""
        with self._lock:
            if id in self._removed:
                return  # a job of a machine that was removed meanwhile
            if (id, key) not in self._written or self._written[id, key] != value:
                self._store.set_value(id, key, value)
                self._written[id, key] = value

    def remove(self, id: str, key: str) -> None:
        with self._lock:
            self._store.remove_value(id, key)
            self._written.pop((id, key), None)

    def remove_machine(self, id: str) -> None:
        """All values of a machine that was removed."""
        with self._lock:
            self._removed.add(id)
            self._store.remove_values(id)
            self._written = {key: value for key, value in self._written.items() if key[0] != id}

    def machine_added(self, id: str) -> None:
        """A machine that may have been removed before."""
        with self._lock:
            self._removed.discard(id)

    def save(self, machine: MachineMonitor) -> None:
        """Everything that a machine has learned beside its model."""
        with self._machines_lock:  # copied under the lock, written without it
            values = machine.learned_values()
        for key, value in values.items():
            self.set(machine.id, key, value)

    def restore(self, machine: MachineMonitor) -> None:
        """The reverse of `save`."""
        machine.muted_until = self.get(machine.id, "muted_until")
        self._restore_false_alerts(machine)
        machine.restore_values(partial(self.get, machine.id))

    def set_false_alerts(self, machine: MachineMonitor, per_week: float) -> None:
        """False alerts per week set on the page, instead of the configured number."""
        configured = machine.settings.alarm.false_alerts_per_week
        value = {"value": per_week, "configured": configured}
        self.set(machine.id, "false_alerts_per_week", value)
        machine.accept_false_alerts(per_week)

    def _restore_false_alerts(self, machine: MachineMonitor) -> None:
        kept = self.get(machine.id, "false_alerts_per_week")
        if kept is None:
            return
        # What was set on the page holds until the configuration changes.
        if kept["configured"] == machine.settings.alarm.false_alerts_per_week:
            machine.accept_false_alerts(float(kept["value"]))
        else:
            self.remove(machine.id, "false_alerts_per_week")
