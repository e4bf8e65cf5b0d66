"""Recognises faults that people have named before."""

from __future__ import annotations

from ssdpt.monitor.events.signature import recognise
from ssdpt.monitor.messages import LooksLike
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.store import Store
from ssdpt.types import Floats


class Recognition:
    """Compares the sound of an event with earlier ones of the machine, and of its type."""

    def __init__(self, machines: MachineRegistry, store: Store) -> None:
        self._machines, self._store = machines, store

    def recognise(self, machine: MachineMonitor, event: str, unusual: Floats) -> LooksLike | None:
        """Keep how an event sounds (samples,), and give the fault that it looks like.

        The event must be in the store.
        """
        if not isinstance(machine, StreamMonitor):
            return None  # snapshots are compared by their findings only
        signature = machine.signature(unusual)
        if not signature:
            return None
        self._store.save_signature(event, signature)
        named = self._store.named_faults(self._alike(machine))
        return recognise(
            signature, [(one.fault, one.signature) for one in named if one.event != event]
        )

    def _alike(self, machine: MachineMonitor) -> list[str]:
        """The machine and those of the same type."""
        kind = machine.settings.type
        others = [other.id for other in self._machines if kind and other.settings.type == kind]
        return sorted({machine.id, *others})
