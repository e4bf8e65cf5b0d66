"""The machines that are monitored now, by id."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.sentences import Sentence


class MachineRegistry:
    """Machines may be added and removed while others look at them.

    `lock` guards the machines and their events: whoever changes more than one thing holds it, and
    for a moment only, never during disk or database work: every second of every machine and every
    look at the page needs it. `changing` is held, for as long as it takes, by whoever adds, removes
    or replaces machines or the models that they keep on disk; it is taken before `lock`.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.changing = threading.Lock()
        self._machines: dict[str, MachineMonitor] = {}

    def __getitem__(self, id: str) -> MachineMonitor:
        machine = self._machines.get(id)
        if machine is None:
            raise UnknownMachine(id)
        return machine

    def stream(self, id: str) -> StreamMonitor:
        """A machine that is listened to all the time; SsdptError for another one."""
        machine = self[id]
        if not isinstance(machine, StreamMonitor):
            raise SsdptError(Sentence("machines.sendsSnapshots", id=id))
        return machine

    def get(self, id: str) -> MachineMonitor | None:
        """None where there is none, or no longer."""
        return self._machines.get(id)

    def __contains__(self, id: object) -> bool:
        return id in self._machines

    def __iter__(self) -> Iterator[MachineMonitor]:
        """All machines of this moment."""
        return iter(list(self._machines.values()))

    def __len__(self) -> int:
        return len(self._machines)

    def ids(self) -> list[str]:
        return list(self._machines)

    def put(self, machine: MachineMonitor) -> None:
        """Add it, or replace the one with its id."""
        with self.lock:
            self._machines[machine.id] = machine

    def remove(self, id: str) -> None:
        with self.lock:
            self._machines.pop(id, None)

    def played_until(self) -> float:
        """The time that recordings and simulations have reached, in seconds since 1970; or 0.

        At a speed above that of real time it lies in the future.
        """
        return max((one.now for one in self if one.is_played), default=0.0)

    def is_current(self, machine: MachineMonitor) -> bool:
        """Whether it was neither removed nor replaced."""
        return self._machines.get(machine.id) is machine
