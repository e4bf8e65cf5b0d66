"""The whole server as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from ssdpt.monitor.store import Store
from ssdpt.server.auth import AccessControl, Needs
from ssdpt.server.context import AppContext
from ssdpt.server.event_stream import Streams
from ssdpt.server.interface import MonitorApi
from ssdpt.server.problems import handle_problems
from ssdpt.server.routes import (
    audio,
    docs,
    events,
    export,
    health,
    live,
    machines,
    plant,
    session,
    users,
)
from ssdpt.server.schemas import ErrorWords
from ssdpt.server.security import SecurityMiddleware
from ssdpt.server.settings import ServerSettings
from ssdpt.server.static_page import StaticPage
from ssdpt.version import __version__

_ABOUT = """Live states, scores and events of machines by their sound.

Times are seconds since 1970, UTC. Scores: higher = more anomalous. Errors are
`{"error": "a sentence"}`. Programs send `Authorization: Bearer TOKEN` (`ssdpt user token NAME`);
browsers log in at /v1/session and send `X-CSRF-Token` with all but reading requests.
A viewer reads; an operator also acknowledges, comments, labels, mutes and sends sound; an admin
does everything.
"""

_OPEN = (health, session)  # routes that say themselves who may come
_READ = (plant, machines, audio, events, live, export, users, docs)


def create_app(monitor: MonitorApi, store: Store, settings: ServerSettings) -> FastAPI:
    """The server over a monitor; refuses a network address while there are no users."""
    guard = AccessControl(store, settings)
    guard.check_start()
    room = AppContext(monitor, store, settings, guard, Streams(monitor))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        room.streams.start()
        try:
            yield
        finally:
            await room.streams.stop()

    app = FastAPI(
        title="ssdpt",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        openapi_url=None,  # by a route of ours, which asks who wants to know
        redirect_slashes=False,
        responses=_errors(401, 403, 422),
    )
    app.state.room = room
    handle_problems(app)
    for part in _OPEN:
        app.include_router(part.router)
    for part in _READ:
        # Whoever forgets to say who may come has let in viewers, not everyone.
        app.include_router(
            part.router, dependencies=[Depends(Needs("viewer"))], responses=_errors(404, 409, 503)
        )
    app.router.default = StaticPage(settings.page)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(SecurityMiddleware)
    return app


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorWords} for status in statuses}
