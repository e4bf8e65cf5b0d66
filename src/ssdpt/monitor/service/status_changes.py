"""Notices changes of machines that no other message carries."""

from __future__ import annotations

from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.registry import MachineRegistry

_OPERATION_EVERY = 3.0  # seconds between two publications of operating data


class StatusChanges:
    """Publishes a machine when its source, operation, baseline or learning has changed."""

    def __init__(self, machines: MachineRegistry, publisher: Publisher) -> None:
        self._machines, self._publisher = machines, publisher
        self._last: dict[str, object] = {}

    def check(self) -> None:
        """Called about once a second."""
        facts = {machine.id: _facts(machine) for machine in self._machines}
        for id, now in facts.items():
            if self._last.get(id, now) != now:
                self._publisher.machine_changed(id)
        self._last = facts


def _facts(machine: MachineMonitor) -> object:
    """Equal as long as there is nothing new to show; cheap, for many machines every second."""
    source, collector = machine.capture.source.status, machine.collector
    return (
        machine.muted,
        machine.question,
        machine.baseline_status,
        machine.change_points[-1] if machine.change_points else None,
        machine.operating_point,
        machine.capture.failure,
        machine.capture.arrivals.steady,
        round(machine.capture.arrivals.stale_after or 0),
        source.connected,
        source.message,
        machine.source_remarks,
        source.gaps,
        source.reconnects,
        round(source.drift_ppm),
        None if collector is None else round(collector.seconds),
        _operation(machine),
    )


def _operation(machine: MachineMonitor) -> object:
    """Its operating data; that of a speed that always changes a little, every few seconds."""
    data, operating = machine.operating_data, machine.operating
    if operating is None:
        return None
    if data is None:
        return operating.status
    known = data.running, data.speed_rpm is None, data.load_percent is None
    return operating.status, known, int(data.at // _OPERATION_EVERY)
