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
from ssdpt.monitor.store import Store
from ssdpt.server.app import create_app
from ssdpt.server.context import AppContext
from ssdpt.server.interface import MonitorApi
from ssdpt.server.settings import ServerSettings

_GRACE = 1  # seconds for requests under way when it is to stop
_BACKLOG = 128  # connections that wait to be taken
_MESSAGE = 2**20  # bytes of one WebSocket message


def _is_news(record: logging.LogRecord) -> bool:
    """A request that was still under way when the server stopped is no fault of anyone's."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


class Server(uvicorn.Server):
    """uvicorn, which lets go of open streams when it is to stop instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, room: AppContext) -> None:
        super().__init__(config)
        self._room = room
        logging.getLogger("uvicorn.error").addFilter(_is_news)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._room.streams.end_all()
        await super().shutdown(sockets)


def new_server(app: FastAPI, settings: ServerSettings) -> Server:
    """A server that has not been started."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        # The variant of the library's that is not on its way out.
        ws="websockets-sansio",
        ws_max_size=_MESSAGE,
        timeout_graceful_shutdown=_GRACE,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=[form for proxy in settings.proxies for form in _forms(proxy)],
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
    )
    try:
        config.load()
    except OSError as error:  # of TLS as well: its errors are the operating system's
        raise SsdptError(
            f"{settings.certificate}, {settings.key}: no certificate and key that go together "
            f"({error.strerror or error}); both are PEM files"
        ) from error
    return Server(config, app.state.room)


def _forms(network: str) -> Iterator[str]:
    """A network as it is written, and as a listener for IPv6 sees one of IPv4."""
    yield network
    parsed = ipaddress.ip_network(network)
    if parsed.version == 4:
        mapped = 0xFFFF << 32 | int(parsed.network_address)
        yield str(ipaddress.IPv6Network((mapped, 96 + parsed.prefixlen)))


def serve(
    monitor: MonitorApi,
    store: Store,
    settings: ServerSettings,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until SIGINT or SIGTERM; returns then, so that the monitor can be stopped in order.

    `started` is told the address for a browser, which may come at once.
    """
    app = create_app(monitor, store, settings)
    with listening(settings) as listener:
        server = new_server(app, settings)
        started(address_of(settings, listener))
        with _stopping(server):
            server.run(sockets=[listener])


@contextmanager
def listening(settings: ServerSettings) -> Iterator[socket.socket]:
    """A socket on the address, so that one that is taken is told in a sentence."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise SsdptError(f"{settings.host}: no address of this computer ({error})") from error
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            where = f"{settings.host}, port {settings.port}"
            if error.errno == errno.EADDRINUSE:
                words = "something listens there already; choose another port with --port"
            elif error.errno == errno.EACCES:
                words = "ports below 1024 are not for everyone; choose another with --port"
            else:
                words = f"{error.strerror}; choose another address with --host"
            raise SsdptError(f"{where}: cannot be listened on: {words}") from error
        listener.listen(_BACKLOG)  # whoever comes before the server answers waits
        yield listener


def address_of(settings: ServerSettings, listener: socket.socket) -> str:
    """What a browser on this computer is pointed to."""
    host = settings.host
    if host in ("0.0.0.0", "::", ""):
        host = "localhost"
    elif ":" in host:
        host = f"[{host}]"
    scheme = "http" if settings.certificate is None else "https"
    return f"{scheme}://{host}:{listener.getsockname()[1]}/"


@contextmanager
def _stopping(server: uvicorn.Server) -> Iterator[None]:
    """Signals end the server, not the process: others have things to put in order after it."""
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
