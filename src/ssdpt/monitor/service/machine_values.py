"""What a machine has learned, kept in the store so that it outlives a restart."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any

from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.store import Store

_LOG = logging.getLogger(__name__)


class MachineValues:
    """Values by machine and key; a value is written only when it has changed."""

    def __init__(self, store: Store, machines_lock: threading.RLock) -> None:
        """`machines_lock` guards what machines have learned, which other threads change."""
        self._store, self._machines_lock = store, machines_lock
        self._written: dict[tuple[str, str], Any] = {}
        self._removed: set[str] = set()  # machines
        self._lock = threading.RLock()

    def get(self, id: str, key: str) -> Any:
        """None where nothing is kept, or what is kept is damaged."""
        try:
            return self._store.get_value(id, key)
        except (ValueError, RecursionError):
            _LOG.warning("the value %s of %s in the store is damaged, and is left out", key, id)
            return None

    def set(self, id: str, key: str, value: Any) -> None:
        """Anything that JSON can hold."""
        self.set_all({(id, key): value})

    def set_all(self, values: Mapping[tuple[str, str], Any]) -> None:
        """Values by machine and key, in one transaction."""
        with self._lock:
            changed = {
                (id, key): value
                for (id, key), value in values.items()
                if id not in self._removed  # by a job of a machine that was removed meanwhile
                and ((id, key) not in self._written or self._written[id, key] != value)
            }
            self._store.set_values(changed)
            self._written.update(changed)

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

    def save(self, *machines: MachineMonitor) -> None:
        """Everything that machines have learned beside their models, in one transaction."""
        values = {}
        for machine in machines:
            with self._machines_lock:  # copied under the lock, written without it
                learned = machine.learned_values()
            values.update({(machine.id, key): value for key, value in learned.items()})
        self.set_all(values)

    def restore(self, machine: MachineMonitor) -> None:
        """The reverse of `save`."""
        values = self._store.get_values(machine.id)
        machine.muted_until = values.get("muted_until")
        self._restore_false_alerts(machine, values.get("false_alerts_per_week"))
        machine.restore_values(values.get)

    def set_false_alerts(self, machine: MachineMonitor, per_week: float) -> None:
        """False alerts per week set on the page, instead of the configured number."""
        configured = machine.settings.alarm.false_alerts_per_week
        value = {"value": per_week, "configured": configured}
        self.set(machine.id, "false_alerts_per_week", value)
        machine.accept_false_alerts(per_week)

    def _restore_false_alerts(self, machine: MachineMonitor, kept: Any) -> None:
        if kept is None:
            return
        # What was set on the page holds until the configuration changes.
        if kept["configured"] == machine.settings.alarm.false_alerts_per_week:
            machine.accept_false_alerts(float(kept["value"]))
        else:
            self.remove(machine.id, "false_alerts_per_week")
