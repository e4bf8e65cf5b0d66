"""What all requests share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated

from anyio import CapacityLimiter
from fastapi import Depends
from starlette.requests import HTTPConnection

from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.store import Store
from ssdpt.server.auth import AccessControl, CurrentUser
from ssdpt.server.event_stream import Broadcaster
from ssdpt.server.listening import Listeners
from ssdpt.server.settings import ServerSettings

_HOUR = 3600.0
_DECODERS = 2  # recordings that are unpacked at the same time
_SIGN_INS = 2  # passwords that are checked at the same time


@dataclass(frozen=True, slots=True)
class AppContext:
    """The service and its store, access control, the live stream and live sound."""

    service: MonitorApi
    store: Store
    settings: ServerSettings
    access: AccessControl
    broadcaster: Broadcaster
    listeners: Listeners
    # Compressed sound unpacks to hundreds of megabytes: few at once, the others wait.
    decoders: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_DECODERS))
    # Checking a password takes tenths of a second of a core: whoever tries many waits in line.
    sign_ins: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_SIGN_INS))
    _last_logged: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def log(self, user: CurrentUser, what: str, about: str) -> None:
        """Record in the action log who did what."""
        self.store.log_action(user.name, time.time(), what, about)

    def log_hourly(self, user: CurrentUser, what: str, machine: str) -> None:
        """Record it once per hour: some do it several times per second."""
        now, key = time.monotonic(), (user.name, what, machine)
        if now - self._last_logged.get(key, -_HOUR) >= _HOUR:
            self._last_logged[key] = now
            self.log(user, what, machine)


async def _context(connection: HTTPConnection) -> AppContext:
    context: AppContext = connection.app.state.context
    return context


Context = Annotated[AppContext, Depends(_context)]
