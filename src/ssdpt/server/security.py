"""Around every reply: security headers, a limit on body sizes, and no internal error details."""

from __future__ import annotations

import asyncio
import logging
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ssdpt.monitor.sources.snapshot_message import MOST_JSON_BYTES, too_much_json
from ssdpt.sentences import Sentence
from ssdpt.server.problems import error_reply
from ssdpt.server.routes.docs import STYLE_HASH
from ssdpt.server.uploads import is_json

LOG = logging.getLogger(__name__)
AUDIO_BYTES = 64 * 2**20
JSON_BYTES = 2**20
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

    def __init__(self, app: ASGIApp, hsts_days: float) -> None:
        self._app = app
        self._hsts = f"max-age={round(hsts_days * 86400)}"  # 0: browsers forget what they were told

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
                    reply = _replacement(message["status"], headers)
                    self._protect(reply.headers, scope)
                    await reply(scope, receive, send)
                    return
                self._protect(headers, scope)
                message = {**message, "headers": headers.raw}
            if not replaced:
                await send(message)

        headers = Headers(scope=scope)
        limit, too_large = _limit(scope["path"], headers.get("content-type", ""))
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) > limit:
            await error_reply(413, too_large)(scope, receive, guarded)
            return
        try:
            await self._app(scope, _bounded(receive, limit, too_large), guarded)
        except asyncio.CancelledError:
            # The server stops. A reply that has begun breaks off, so that nobody takes half of it
            # for the whole.
            if not started:
                await error_reply(503, Sentence("api.stopping"))(scope, receive, guarded)
            raise
        except Exception:
            LOG.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await error_reply(500)(scope, receive, guarded)

    def _protect(self, headers: MutableHeaders, scope: Scope) -> None:
        for name, value in _HEADERS.items():
            headers[name] = value
        if scope["scheme"] == "https":
            headers["Strict-Transport-Security"] = self._hsts
        # Nothing is cached, except files that say so.
        headers.setdefault("Cache-Control", "no-store")


def _replacement(status: int, headers: MutableHeaders) -> JSONResponse:
    """Our error reply in place of another one."""
    kept = {name: headers[name] for name in ("Content-Range", "Allow") if name in headers}
    return error_reply(status, headers=kept)


def _limit(path: str, content_type: str) -> tuple[int, Sentence]:
    """Bytes that a body may have, and what to say of more."""
    takes_audio = _TAKES_AUDIO.fullmatch(path)
    if takes_audio and is_json(content_type):
        return MOST_JSON_BYTES, too_much_json()
    limit = AUDIO_BYTES if takes_audio else JSON_BYTES
    return limit, Sentence("api.tooLargeFor", mebibytes=limit // 2**20)


def _bounded(receive: Receive, limit: int, too_large: Sentence) -> Receive:
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise HTTPException(413, too_large)
        return message

    return bounded
