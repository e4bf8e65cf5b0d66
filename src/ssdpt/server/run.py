"""Starting and stopping the server."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from ssdpt.errors import SsdptError
from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.store import Store
from ssdpt.server.app import create_app
from ssdpt.server.connection_limits import (
    ConnectionLimits,
    LimitedListener,
    allow_open_files,
)
from ssdpt.server.connections import EventLoop, guarded
from ssdpt.server.context import AppContext
from ssdpt.server.settings import ServerSettings

_LOG = logging.getLogger(__name__)
_GRACE_SECONDS = 1  # for running requests when the server stops
_BACKLOG = 128  # connections waiting to be accepted
_MAX_MESSAGE = 2**20  # bytes of a WebSocket message


def _is_relevant(record: logging.LogRecord) -> bool:
    """Not a request that was cancelled because the server stopped."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


class Server(uvicorn.Server):
    """uvicorn, but stopping closes open streams instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, context: AppContext) -> None:
        super().__init__(config)
        self._context = context
        logging.getLogger("uvicorn.error").addFilter(_is_relevant)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._context.broadcaster.close_clients()
        self._context.listeners.close()
        await super().shutdown(sockets)


def new_server(app: FastAPI, settings: ServerSettings, limits: ConnectionLimits) -> Server:
    """A server that has not been started; `limits` are those of its listener."""
    certificate = settings.load_certificate()
    if certificate is not None and (problem := certificate.problem()):
        _LOG.warning("%s", problem)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop=f"{EventLoop.__module__}:{EventLoop.__qualname__}",
        http=guarded(limits),  # type: ignore[arg-type]
        log_config=None,
        access_log=False,
        server_header=False,
        # The other variant uses a deprecated part of the library.
        ws="websockets-sansio",
        ws_max_size=_MAX_MESSAGE,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=[form for proxy in settings.proxies for form in _address_forms(proxy)],
    )
    config.load()
    if certificate is not None:
        config.ssl = certificate.context
    return Server(config, app.state.context)


def _address_forms(network: str) -> Iterator[str]:
    """A network as written, and an IPv4 network also as an IPv6 listener sees it."""
    yield network
    parsed = ipaddress.ip_network(network)
    if parsed.version == 4:
        mapped = 0xFFFF << 32 | int(parsed.network_address)
        yield str(ipaddress.IPv6Network((mapped, 96 + parsed.prefixlen)))


def serve(
    service: MonitorApi,
    store: Store,
    settings: ServerSettings,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until SIGINT or SIGTERM, then return, so that the service can be stopped in order.

    `started` gets the address for a browser as soon as connections are accepted.
    """
    app = create_app(service, store, settings)
    with listening(settings) as listener:
        server = new_server(app, settings, listener.limits)
        started(address_of(settings, listener))
        with _stopping(server):
            server.run(sockets=[listener])


@contextmanager
def listening(settings: ServerSettings) -> Iterator[LimitedListener]:
    """A socket on the address; SsdptError if it cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = LimitedListener(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise SsdptError(f"{settings.host}: not an address of this computer ({error})") from error
    with listener:
        listener.limits = ConnectionLimits(allow_open_files(), settings.proxies)
        listener.encrypted = settings.certificate is not None
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            where = f"{settings.host}, port {settings.port}"
            if error.errno == errno.EADDRINUSE:
                reason = "the port is in use; choose another with --port"
            elif error.errno == errno.EACCES:
                reason = "ports below 1024 need privileges; choose another with --port"
            else:
                reason = f"{error.strerror}; choose another address with --host"
            raise SsdptError(f"{where}: cannot listen: {reason}") from error
        listener.listen(_BACKLOG)  # early connections wait for the server
        yield listener


def address_of(settings: ServerSettings, listener: socket.socket) -> str:
    """The address for a browser on this computer."""
    host = settings.host
    if host in ("0.0.0.0", "::", ""):
        host = "localhost"
    elif ":" in host:
        host = f"[{host}]"
    scheme = "http" if settings.certificate is None else "https"
    return f"{scheme}://{host}:{listener.getsockname()[1]}/"


@contextmanager
def _stopping(server: uvicorn.Server) -> Iterator[None]:
    """Signals stop the server, not the process: the service is stopped after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
