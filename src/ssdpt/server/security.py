"""Around every reply: security headers, a limit on body sizes, and no internal error details."""

from __future__ import annotations

import asyncio
import logging
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ssdpt.server.problems import error_reply
from ssdpt.server.routes.docs import STYLE_HASH

LOG = logging.getLogger(__name__)
AUDIO_BYTES = 64 * 2**20
JSON_BYTES = 2**20
_STOPPING = "the service is stopping; try again later"
_TAKES_AUDIO = re.compile(r"/v1/machines/[^/]+/audio")

_HEADERS = {
    # The only inline style is that of the API documentation.
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; "
    f"media-src 'self' blob:; style-src 'self' '{STYLE_HASH}'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class SecurityMiddleware:
    """The outermost layer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        replaced = started = False

        async def guarded(message: Message) -> None:
            nonlocal replaced, started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(raw=list(message.get("headers", [])))
                kind = headers.get("content-type", "")
                if message["status"] >= 400 and not kind.startswith("application/json"):
                    replaced = True
                    await _reply(scope, receive, send, message["status"], headers)
                    return
                _protect(headers)
                message = {**message, "headers": headers.raw}
            if not replaced:
                await send(message)

        limit = AUDIO_BYTES if _TAKES_AUDIO.fullmatch(scope["path"]) else JSON_BYTES
        length = Headers(scope=scope).get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) > limit:
            await error_reply(413, _too_large(limit))(scope, receive, guarded)
            return
        try:
            await self._app(scope, _bounded(receive, limit), guarded)
        except asyncio.CancelledError:
            # The server stops. A reply that has begun breaks off, so that nobody takes half of it
            # for the whole.
            if not started:
                await error_reply(503, _STOPPING)(scope, receive, guarded)
            raise
        except Exception:
            LOG.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await error_reply(500)(scope, receive, guarded)


def _protect(headers: MutableHeaders) -> None:
    for name, value in _HEADERS.items():
        headers[name] = value
    # Nothing is cached, except files that say so.
    headers.setdefault("Cache-Control", "no-store")


async def _reply(
    scope: Scope, receive: Receive, send: Send, status: int, headers: MutableHeaders
) -> None:
    """Our error reply in place of another one."""
    kept = {name: headers[name] for name in ("Content-Range", "Allow") if name in headers}
    reply = error_reply(status, headers=kept)
    _protect(reply.headers)
    await reply(scope, receive, send)


def _bounded(receive: Receive, limit: int) -> Receive:
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return bounded


def _too_large(limit: int) -> str:
    return f"the body is larger than {limit // 2**20} MiB; send it in parts"
