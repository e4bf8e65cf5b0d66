"""What the live stream sends: server-sent events, each with a name and one model as its data."""

from __future__ import annotations

from typing import Literal

from ssdpt.monitor.messages import (
    Event,
    EventChanged,
    MachineChanged,
    MachineRemoved,
    MachineStatus,
    Reading,
    ReadingTaken,
    ServiceChanged,
    ServiceStatus,
)
from ssdpt.monitor.service.subscriptions import Update
from ssdpt.server.schemas import Answer


class MachineMessage(Answer):
    """A machine has changed in something other than its readings, or is new."""

    event: Literal["machine"] = "machine"
    data: MachineStatus


class ReadingMessage(Answer):
    """One more second of a machine."""

    event: Literal["reading"] = "reading"
    data: Reading


class EventMessage(Answer):
    """An event is new or has changed."""

    event: Literal["event"] = "event"
    data: Event


class RemovedMessage(Answer):
    """A machine is no longer monitored."""

    event: Literal["removed"] = "removed"
    data: MachineRemoved


class ServiceMessage(Answer):
    """Notes or problems of the service have changed."""

    event: Literal["service"] = "service"
    data: ServiceStatus


LiveMessage = MachineMessage | ReadingMessage | EventMessage | RemovedMessage | ServiceMessage


def live_message(update: Update) -> LiveMessage:
    """An update of the service as the stream sends it."""
    match update:
        case MachineChanged():
            return MachineMessage(data=update.status)
        case ReadingTaken():
            return ReadingMessage(data=update.reading)
        case EventChanged():
            return EventMessage(data=update.event)
        case MachineRemoved():
            return RemovedMessage(data=update)
        case ServiceChanged():
            return ServiceMessage(data=update.status)


def encode(message: LiveMessage) -> bytes:
    """In the format of server-sent events."""
    return f"event: {message.event}\ndata: {message.data.model_dump_json()}\n\n".encode()
