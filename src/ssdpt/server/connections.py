"""Connections that nobody can hold for ever: limits of the time to ask and to read the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ssdpt.server.connection_limits import ConnectionLimits

HEADER_SECONDS = 10.0  # from the first byte, or the beginning, to the end of a request's header
BODY_SECONDS = 60.0  # between two pieces of a body
SLOWEST = 1000.0  # bytes a second of a body that takes longer than that
READ_SECONDS = 60.0  # in which a client reads nothing of a reply


class EventLoop(asyncio.SelectorEventLoop):
    """The loop of the server: a TLS handshake has the time of a header, not a minute."""

    async def create_server(self, *arguments: Any, **named: Any) -> asyncio.Server:
        if named.get("ssl") is not None:
            named.setdefault("ssl_handshake_timeout", HEADER_SECONDS)
        return await super().create_server(*arguments, **named)


class GuardedProtocol(H11Protocol):
    """HTTP that ends a connection whose client does not finish what it began to say or to read."""

    limits: ConnectionLimits

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._number = -1  # of the file
        self._deadline: asyncio.TimerHandle | None = None
        self._waits_for: object = None  # state of the client that the deadline is for
        self._body_began = 0.0
        self._body_bytes = 0
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._number = transport.get_extra_info("socket").fileno()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._body_bytes += len(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        self._reads()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._stop_watching()
        self.limits.asks(self._number)
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reads()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._reads()
        super().resume_writing()

    def _reads(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
        self._unread = None

    def _watch(self) -> None:
        """A header has one deadline, however slowly it comes; a body one for every piece."""
        state = self.conn.their_state
        if state is h11.IDLE:
            self.limits.waits(self._number)
        else:
            self.limits.asks(self._number)
        if self.transport.is_closing() or state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_watching()
        elif state is h11.SEND_BODY or self._waits_for is not state:
            begins = self._waits_for is not state
            self._stop_watching()
            self._waits_for = state
            seconds = HEADER_SECONDS if state is h11.IDLE else self._body_seconds(begins=begins)
            self._deadline = self.loop.call_later(seconds, self._end)

    def _body_seconds(self, *, begins: bool) -> float:
        """Until the next piece must come: a body that trickles in for ever ends as well."""
        now = self.loop.time()
        if begins:
            self._body_began, self._body_bytes = now, 0
        latest = self._body_began + BODY_SECONDS + self._body_bytes / SLOWEST
        return max(0.0, min(BODY_SECONDS, latest - now))

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._waits_for = None

    def _end(self) -> None:
        self._stop_watching()
        # Reading is paused while the service is slow: then the client is not to blame.
        if not self.flow.read_paused:
            self.transport.abort()


def guarded(limits: ConnectionLimits) -> Callable[..., GuardedProtocol]:
    """The protocol of a server with these limits."""
    return type("GuardedProtocol", (GuardedProtocol,), {"limits": limits})
