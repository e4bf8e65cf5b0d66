"""The whole server as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.store import Store
from ssdpt.server.access_rules import access_rules
from ssdpt.server.auth import AccessControl
from ssdpt.server.context import AppContext
from ssdpt.server.event_stream import Broadcaster
from ssdpt.server.listening import Listeners
from ssdpt.server.problems import add_error_handlers
from ssdpt.server.routes import (
    audio,
    backup,
    diagnosis,
    docs,
    events,
    export,
    health,
    listen,
    live,
    machines,
    notes,
    operating_data,
    outputs,
    recordings,
    report,
    session,
    setup,
    status,
    users,
)
from ssdpt.server.schemas import ErrorReply
from ssdpt.server.security import SecurityMiddleware
from ssdpt.server.settings import ServerSettings
from ssdpt.server.static_page import StaticPage
from ssdpt.version import __version__

_DESCRIPTION = """Live states, scores and events of machines by their sound.

Times are seconds since 1970, UTC. Scores: higher = more anomalous. Errors are
`{"error": "a sentence"}`. Programs send `Authorization: Bearer TOKEN` (`ssdpt user token NAME`).
Browsers sign in at /v1/session and send `X-CSRF-Token` with all requests that change something.
A viewer reads. An operator also acknowledges, comments, labels, mutes and sends sound. An admin
may do everything.
"""

_WITHOUT_CONTENT = (health, session)  # nothing in them that could be missing or in conflict
_WITH_CONTENT = (
    *(status, machines, setup, notes, operating_data, audio, listen, recordings, events, live),
    *(export, report, diagnosis, outputs, users, backup, docs),
)


class _Api(FastAPI):
    """FastAPI, with the media types of errors and of the live stream put right."""

    def openapi(self) -> dict[str, Any]:
        """The description of the API."""
        if self.openapi_schema is None:
            for methods in super().openapi()["paths"].values():
                for operation in methods.values():
                    _correct(operation["responses"])
        return super().openapi()


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(service: MonitorApi, store: Store, settings: ServerSettings) -> FastAPI:
    """The server of a service; refuses a network address while there are no users."""
    access = AccessControl(store, settings)
    access.check_start()
    broadcaster, listeners = Broadcaster(service), Listeners()
    context = AppContext(service, store, settings, access, broadcaster, listeners)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.broadcaster.start()
        try:
            yield
        finally:
            context.listeners.close()
            await context.broadcaster.stop()

    app = create_api(lifespan)
    app.state.context = context
    app.router.default = StaticPage(settings.page)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(SecurityMiddleware, hsts_days=settings.hsts_days)
    access_rules(app)  # raises for a route that does not say who may use it
    return app


def create_api(lifespan: Lifespan | None = None) -> FastAPI:
    """All routes; without `app.state.context` they can be described, not called."""
    app = _Api(
        title="ssdpt",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url=None,  # served by routes.docs, which requires a viewer
        redirect_slashes=False,
        responses=_errors(401, 403, 422),
    )
    add_error_handlers(app)
    for module in _WITHOUT_CONTENT:
        app.include_router(module.router)
    for module in _WITH_CONTENT:
        app.include_router(module.router, responses=_errors(404, 409, 503))
    return app


def _correct(responses: dict[str, Any]) -> None:
    """FastAPI describes errors in the media type of the route, and a stream as a plain string."""
    for code, response in responses.items():
        contents = response.get("content", {})
        for content in contents.values():
            if "anyOf" in content.get("schema", {}):
                content["schema"].pop("type", None)
        if code >= "400" and contents:
            response["content"] = {"application/json": next(iter(contents.values()))}


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": ErrorReply} for code in statuses}
