"""Tells everyone what has happened: the store, the live stream, metrics and outputs."""

from __future__ import annotations

from collections.abc import Callable

from ssdpt.monitor.messages import (
    EventChanged,
    MachineChanged,
    MachineRemoved,
    MachineStatus,
    Message,
    ReadingTaken,
    StateChanged,
)
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.outputs import Outputs
from ssdpt.monitor.service.subscriptions import Subscriptions
from ssdpt.monitor.store.writer import StoreWriter


class Publisher:
    """One way out for all messages."""

    def __init__(
        self,
        writer: StoreWriter,
        subscriptions: Subscriptions,
        metrics: Metrics,
        outputs: Outputs,
        status_of: Callable[[str], MachineStatus | None],
    ) -> None:
        """`status_of` a machine; None where it is gone."""
        self._writer, self._subscriptions, self._metrics = writer, subscriptions, metrics
        self._outputs = outputs
        self._status_of = status_of

    def publish(self, message: Message) -> None:
        """Never waits for a receiver."""
        match message:
            case ReadingTaken(reading=reading):
                self._writer.add_reading(reading)
                self._subscriptions.publish(message)
            case EventChanged(event=event):
                self._writer.add_event(event)
                self._subscriptions.publish(message)
                self.machine_changed(event.machine)
            case MachineRemoved():
                self._subscriptions.publish(message)
            case StateChanged(machine=machine):
                self.machine_changed(machine)
        self._metrics.publish(message)
        self._outputs.publish(message)

    def machine_changed(self, id: str) -> None:
        """Something of this machine has changed that no other message carries."""
        status = self._status_of(id)
        if status is not None:
            self._subscriptions.publish(MachineChanged(status=status))
