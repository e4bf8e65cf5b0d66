"""What has just happened: what is published to store, live stream and outputs."""

from __future__ import annotations

import threading
import time
from typing import Literal

from pydantic import Field

from ssdpt.monitor.messages.base import MachineState, Model, Seconds
from ssdpt.monitor.messages.events import Event, Reading
from ssdpt.monitor.messages.status import MachineStatus, ServiceStatus
from ssdpt.monitor.messages.weekly_report import WeeklyReport


class _Changes:
    """Numbers that rise with every change, across restarts too: at least milliseconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1_000_000)
            return self._last


_CHANGES = _Changes()


class StateChanged(Model):
    """A machine has changed its state."""

    machine: str
    state: MachineState
    at: Seconds
    smoothed: float | None = None


class EventChanged(Model):
    """An event as it is now: it began, got worse, ended, or a person did something to it.

    `change` rises with every change. A repeated delivery of one change has the same number.
    """

    event: Event
    change: int = Field(default_factory=_CHANGES.next)

    @property
    def delivery(self) -> str:
        """The same for every attempt to deliver this change."""
        return f"{self.event.id}-{self.change}"


class EventDelivery(Event):
    """A change of an event as webhooks and MQTT send it."""

    delivery: str = Field(description="The same for every attempt to deliver this change.")
    change: int = Field(description="Rises with every change.")

    @classmethod
    def of(cls, message: EventChanged) -> EventDelivery:
        """The event with what tells this change from every other one."""
        fields = {name: getattr(message.event, name) for name in Event.model_fields}
        return cls(**fields, delivery=message.delivery, change=message.change)


class ReadingTaken(Model):
    """One more second of a machine."""

    reading: Reading


class MachineChanged(Model):
    """A machine as it is now, after something other than a reading has changed."""

    status: MachineStatus


class MachineRemoved(Model):
    """A machine is no longer monitored."""

    machine: str


class Heartbeat(Model):
    """The service is alive; sent where nothing else was for two seconds."""

    now: Seconds


class ServiceChanged(Model):
    """Notes or problems of the service have changed."""

    status: ServiceStatus


class ServiceStarted(Model):
    """Machines are monitored again, after a pause."""

    at: Seconds
    last_alive: Seconds = Field(description="When they were last monitored before.")
    orderly: bool = Field(description="Whether the service had been stopped; false: it broke off.")


class ServiceStopped(Model):
    """Someone stops the service: from now on machines are not monitored."""

    at: Seconds


class Attachment(Model):
    """A file that a notification carries."""

    name: str = Field(examples=["pump-3.png"])
    media_type: str = Field(examples=["image/png"])
    content: bytes = Field(repr=False)


class Notification(Model):
    """What people are told, in their language."""

    title: str
    text: str
    urgency: Literal["info", "alert", "alarm", "over"] = "info"
    attachments: tuple[Attachment, ...] = ()


Message = (
    StateChanged
    | EventChanged
    | ReadingTaken
    | MachineRemoved
    | WeeklyReport
    | ServiceStarted
    | ServiceStopped
    | Notification
)
