"""The whole server as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.store import Store
from ssdpt.server.auth import AccessControl, RequiresRole
from ssdpt.server.context import AppContext
from ssdpt.server.event_stream import Broadcaster
from ssdpt.server.problems import add_error_handlers
from ssdpt.server.routes import (
    audio,
    docs,
    events,
    export,
    health,
    live,
    machines,
    session,
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

_PUBLIC = (health, session)  # these routes say themselves which role they require
_FOR_VIEWERS = (status, machines, audio, events, live, export, users, docs)


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
    context = AppContext(service, store, settings, access, Broadcaster(service))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.broadcaster.start()
        try:
            yield
        finally:
            await context.broadcaster.stop()

    app = create_api(lifespan)
    app.state.context = context
    app.router.default = StaticPage(settings.page)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(SecurityMiddleware)
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
    for module in _PUBLIC:
        app.include_router(module.router)
    for module in _FOR_VIEWERS:
        # A route that forgets to name a role is open to viewers, not to everyone.
        app.include_router(
            module.router,
            dependencies=[Depends(RequiresRole("viewer"))],
            responses=_errors(404, 409, 503),
        )
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
