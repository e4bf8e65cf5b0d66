"""What the live stream sends: server-sent events, each with a name and one model as its data."""

from __future__ import annotations

from typing import Any, Literal, Union

from pydantic import BaseModel, create_model

from ssdpt.monitor.messages import (
    Event,
    EventChanged,
    Heartbeat,
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

# The name of each server-sent event, and the model that its data holds as JSON.
LIVE_EVENTS: dict[str, type[BaseModel]] = {
    "machine": MachineStatus,
    "reading": Reading,
    "event": Event,
    "removed": MachineRemoved,
    "service": ServiceStatus,
    "heartbeat": Heartbeat,
}


def _message_schema(name: str, data: type[BaseModel]) -> type[BaseModel]:
    fields: dict[str, Any] = {"event": Literal[name], "data": data}
    return create_model(f"{name.title()}Message", __base__=Answer, **fields)


# For the OpenAPI description: one of these, distinguished by `event`.
LIVE_MESSAGE: Any = Union[tuple(_message_schema(*each) for each in LIVE_EVENTS.items())]  # noqa: UP007


def encode(update: Update | Heartbeat) -> bytes:
    """An update of the service in the format of server-sent events."""
    name, data = _name_and_data(update)
    return f"event: {name}\ndata: {data.model_dump_json()}\n\n".encode()


def _name_and_data(update: Update | Heartbeat) -> tuple[str, BaseModel]:
    match update:
        case MachineChanged():
            return "machine", update.status
        case ReadingTaken():
            return "reading", update.reading
        case EventChanged():
            return "event", update.event
        case MachineRemoved():
            return "removed", update
        case Heartbeat():
            return "heartbeat", update
        case ServiceChanged():
            return "service", update.status
