"""Tells everyone what has happened: the store, the live stream, metrics and outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import (
    EventChanged,
    MachineChanged,
    MachineRemoved,
    MachineStatus,
    Message,
    ReadingTaken,
)
from ssdpt.monitor.outputs import open_output
from ssdpt.monitor.outputs.base import Output
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.subscriptions import Subscriptions
from ssdpt.monitor.store.writer import StoreWriter


class Publisher:
    """One way out for all messages."""

    def __init__(
        self,
        writer: StoreWriter,
        subscriptions: Subscriptions,
        metrics: Metrics,
        outputs: Sequence[Output],
        status_of: Callable[[str], MachineStatus | None],
    ) -> None:
        """`status_of` a machine; None where it is gone."""
        self._writer, self._subscriptions, self._metrics = writer, subscriptions, metrics
        self._outputs = list(outputs)
        self._status_of = status_of
        metrics.watch_outputs(self._outputs)

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
            case _:
                self.machine_changed(message.machine)
        self._metrics.publish(message)
        for output in self._outputs:
            output.publish(message)

    def machine_changed(self, id: str) -> None:
        """Something of this machine has changed that no other message carries."""
        status = self._status_of(id)
        if status is not None:
            self._subscriptions.publish(MachineChanged(status=status))

    def replace_outputs(self, outputs: Sequence[Output]) -> None:
        """Use these from now on; the ones before send what they still hold and are closed."""
        before, self._outputs = self._outputs, list(outputs)
        self._metrics.watch_outputs(self._outputs)
        for output in before:
            output.close(2.0)

    def rename(self, titles: Mapping[str, str]) -> None:
        """The names that outputs call machines by, by id."""
        for output in self._outputs:
            output.rename(titles)

    def close(self) -> None:
        """Write what is left, and close the outputs."""
        self._writer.stop()
        for output in self._outputs:
            output.close(2.0)


def open_outputs(settings: Sequence[Any], titles: Mapping[str, str]) -> list[Output]:
    """All of them, or none where one cannot be opened."""
    outputs: list[Output] = []
    try:
        for one in settings:
            outputs.append(open_output(one, titles))
    except SsdptError:
        for output in outputs:
            output.close(0.0)
        raise
    return outputs
