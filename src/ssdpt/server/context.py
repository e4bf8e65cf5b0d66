"""What all requests share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from ssdpt.monitor.store import Store
from ssdpt.server.auth import AccessControl, Who
from ssdpt.server.event_stream import Streams
from ssdpt.server.interface import MonitorApi
from ssdpt.server.settings import ServerSettings

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class AppContext:
    """The monitor and its store, who may come in, and who is listening."""

    plant: MonitorApi
    store: Store
    settings: ServerSettings
    guard: AccessControl
    streams: Streams

    _senders: dict[tuple[str, str], float] = field(default_factory=dict)

    def log(self, who: Who, what: str, about: str) -> None:
        """Write down who did what, for those who ask later."""
        self.store.log_action(who.name, time.time(), what, about)

    def log_sender(self, who: Who, machine: str) -> None:
        """Write down who sends sound; once an hour, as a sender sends several times a second."""
        now = time.monotonic()
        if now - self._senders.get((who.name, machine), -_HOUR) >= _HOUR:
            self._senders[who.name, machine] = now
            self.log(who, "sent sound", machine)


def _room(connection: HTTPConnection) -> AppContext:
    room: AppContext = connection.app.state.room
    return room


Context = Annotated[AppContext, Depends(_room)]
