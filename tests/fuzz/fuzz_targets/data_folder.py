"""Files of the data folder that the service reads at its start."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.service.added_machines import AddedMachines
from ssdpt.monitor.service.last_run import LastRun


class Target(FuzzTarget):
    """Reads the same bytes as both files."""

    share = 40
    longest = 2048
    document = True
    words = (
        b'"id":',
        b'"source":',
        b'"kind":',
        b'"pushed"',
        b'"last_alive":',
        b'"stopped":',
        b"[[",
    )

    def run(self, data: bytes) -> None:
        LastRun(self.write("last_run.json", data)).before(1.79e9)
        AddedMachines(self.write("machines.json", data)).joined(MonitorConfig())
