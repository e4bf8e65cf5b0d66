"""What all requests share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.store import Store
from ssdpt.server.auth import AccessControl, CurrentUser
from ssdpt.server.event_stream import Broadcaster
from ssdpt.server.settings import ServerSettings

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class AppContext:
    """The service and its store, access control, and the live stream."""

    service: MonitorApi
    store: Store
    settings: ServerSettings
    access: AccessControl
    broadcaster: Broadcaster

    _last_logged: dict[tuple[str, str], float] = field(default_factory=dict)

    def log(self, user: CurrentUser, what: str, about: str) -> None:
        """Record in the action log who did what."""
        self.store.log_action(user.name, time.time(), what, about)

    def log_sender(self, user: CurrentUser, machine: str) -> None:
        """Record who sends sound, once per hour: senders send several times per second."""
        now = time.monotonic()
        if now - self._last_logged.get((user.name, machine), -_HOUR) >= _HOUR:
            self._last_logged[user.name, machine] = now
            self.log(user, "sent sound", machine)


def _context(connection: HTTPConnection) -> AppContext:
    context: AppContext = connection.app.state.context
    return context


Context = Annotated[AppContext, Depends(_context)]
