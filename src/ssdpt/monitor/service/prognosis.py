"""Severity and outlook of machines: how bad it is, and when it will reach alarm."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ssdpt.alarms.outlook import Outlook, TrendOutlook
from ssdpt.alarms.severity import Severity, severity, way_to_alarm
from ssdpt.monitor.messages import EventChanged, Message
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.store import Store

_LOG = logging.getLogger(__name__)
_KEY = "trend"  # under which a trend is kept over restarts
_DAYS = 90  # of history that a score is compared with


class Prognosis:
    """Follows every machine on its way to the alarm threshold.

    Call with the lock of the machines, except `restore`, `refresh` and `save`: these ask the store.
    """

    def __init__(self, machines: MachineRegistry, store: Store, values: MachineValues) -> None:
        self._machines, self._store, self._values = machines, store, values
        # The trend of a machine, and the baseline that it belongs to.
        self._trends: dict[str, tuple[TrendOutlook, float | None]] = {}
        self._daily_maxima: dict[str, Sequence[float]] = {}

    def restore(self, id: str) -> None:
        """Read the trend of a machine that is about to be monitored."""
        if id in self._trends:
            return
        try:
            state = self._values.get(id, _KEY)
            if state is not None:
                self._trends[id] = TrendOutlook.from_json(state), state["baseline"]
        except (LookupError, TypeError, ValueError):
            _LOG.warning("the trend of %s is damaged and starts again", id)

    def update(self, machine: MachineMonitor) -> None:
        """After another reading of a machine."""
        way = _way(machine)
        if way is not None and machine.last is not None:
            self._trend(machine).update(machine.last.time, way)

    def severity(self, machine: MachineMonitor) -> Severity | None:
        """Of a machine in alert or alarm; None for any other."""
        thresholds, reading = machine.thresholds, machine.last
        if machine.state not in ("alert", "alarm") or thresholds is None or reading is None:
            return None
        if reading.smoothed is None:
            return None
        kind = machine.settings.type
        siblings = [
            way
            for other in self._machines
            if kind and other.settings.type == kind and other.id != machine.id
            if (way := _way(other)) is not None
        ]
        daily = self._daily_maxima.get(machine.id, ())
        return severity(reading.smoothed, thresholds, daily, siblings)

    def outlook(self, machine: MachineMonitor) -> Outlook | None:
        """When a machine that is not in alarm will reach it, where its trend can tell."""
        if machine.state not in ("normal", "alert") or machine.last is None:
            return None
        return self._trend(machine).outlook(machine.last.time)

    def with_severity(self, machine: MachineMonitor, message: Message) -> Message:
        """An anomaly that is ongoing, with how bad it is now; any other message as it is."""
        if not isinstance(message, EventChanged) or message.event.kind != "anomaly":
            return message
        now = self.severity(machine)
        if now is None or message.event.ended is not None:
            return message
        before = message.event.severity
        if before is not None and before.ratio >= now.ratio:
            return message
        event = machine.events.replace(message.event.model_copy(update={"severity": now}))
        return EventChanged(event=event, change=message.change)

    def refresh(self) -> None:
        """Read the history of all machines again; cheap, for every minute."""
        for id in self._machines.ids():
            self._daily_maxima[id] = self._store.daily_maxima(id, _DAYS)

    def save(self) -> None:
        """Keep the trends over a restart."""
        with self._machines.lock:
            states = {
                id: {"baseline": baseline, **trend.to_json()}
                for id, (trend, baseline) in self._trends.items()
                if id in self._machines
            }
        self._values.set_all({(id, _KEY): state for id, state in states.items()})

    def _trend(self, machine: MachineMonitor) -> TrendOutlook:
        """That of its present baseline: with a new one it starts again."""
        status = machine.baseline_status
        learned_at = None if status is None else status.learned_at
        trend, of_baseline = self._trends.get(machine.id, (None, None))
        if trend is None or of_baseline != learned_at:
            trend = TrendOutlook()
            self._trends[machine.id] = trend, learned_at
        return trend


def _way(machine: MachineMonitor) -> float | None:
    """How far a machine has gone to its alarm threshold; None while it is not judged."""
    thresholds, reading = machine.thresholds, machine.last
    if thresholds is None or reading is None or reading.smoothed is None:
        return None
    return way_to_alarm(reading.smoothed, thresholds)
