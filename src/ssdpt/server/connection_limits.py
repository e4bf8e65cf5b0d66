"""How many connections may be open, in all and by address, and which make way for others."""

from __future__ import annotations

import contextlib
import logging
import resource
import socket
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ssdpt.server.addresses import Networks, network_of

MOST_PER_ADDRESS = 200
MOST_CONNECTIONS = 1000
_MOST_ENDING = 100  # connections that make way for others and are not closed yet
_OPEN_FILES = 8192  # that the process may have, where the system allows it
_FOR_THE_REST = 256  # open files that are no connections: store, sources, outputs
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"connection: close\r\nretry-after: 10\r\ncontent-length: 21\r\n\r\ntoo many connections\n"
)
_LOG = logging.getLogger(__name__)


def allow_open_files() -> int:
    """Let this process open as many files as the system allows; gives how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _OPEN_FILES if soft == resource.RLIM_INFINITY else soft


class ConnectionLimits:
    """Counts the open connections, in all and by address. Only used on the server's event loop.

    Where there are too many in all, those that have asked nothing yet make way, the oldest first:
    whoever opens many connections to keep others out does not ask.
    """

    def __init__(
        self,
        open_files: int,
        proxies: Sequence[str] = (),
        *,
        most_per_address: int = MOST_PER_ADDRESS,
    ) -> None:
        """`proxies`: networks whose addresses stand for many clients, so only the sum counts."""
        self._most = max(1, min(MOST_CONNECTIONS, open_files - _FOR_THE_REST))
        self._most_per_address = most_per_address
        self._proxies = Networks(proxies)
        self._open: dict[int, tuple[socket.socket, str]] = {}  # by file number, with the network
        self._by_network: Counter[str] = Counter()
        self._waiting: dict[int, None] = {}  # file numbers of those that ask nothing, by age
        self._ending: set[int] = set()
        self._refused = 0

    def admit(self, connection: socket.socket, address: str) -> bool:
        """Whether one more connection may stay open. `forget` it when it is closed."""
        network = network_of(address)
        crowded = (
            self._by_network[network] >= self._most_per_address and address not in self._proxies
        )
        if crowded or not self._has_room():
            if self._refused == 0:
                _LOG.warning("%s has too many connections; new ones are refused", address)
            self._refused += 1
            return False
        self._refused = 0
        number = connection.fileno()
        self._open[number] = connection, network
        self._by_network[network] += 1
        self._waiting[number] = None
        return True

    def forget(self, number: int) -> None:
        """A connection is closed."""
        entry = self._open.pop(number, None)
        self._waiting.pop(number, None)
        self._ending.discard(number)
        if entry is not None:
            self._by_network[entry[1]] -= 1
            if not self._by_network[entry[1]]:
                del self._by_network[entry[1]]

    def asks(self, number: int) -> None:
        """A connection has sent the whole header of a request."""
        self._waiting.pop(number, None)

    def waits(self, number: int) -> None:
        """A connection may send another request."""
        if number in self._open and number not in self._ending:
            self._waiting.setdefault(number)

    def _has_room(self) -> bool:
        if len(self._open) - len(self._ending) < self._most:
            return True
        if not self._waiting or len(self._ending) >= _MOST_ENDING:
            return False
        oldest = next(iter(self._waiting))
        del self._waiting[oldest]
        self._ending.add(oldest)
        with contextlib.suppress(OSError):  # closed by the client
            self._open[oldest][0].shutdown(socket.SHUT_RDWR)
        return True


class LimitedListener(socket.socket):
    """A listening socket that closes what is too much as soon as it is accepted.

    So it counts before TLS begins: a client that never answers the handshake counts as well.
    """

    limits: ConnectionLimits
    encrypted = False  # then no reply can be sent before the handshake

    def accept(self) -> tuple[socket.socket, Any]:
        accepted, address = super().accept()
        connection = _CountedConnection(
            accepted.family, accepted.type, accepted.proto, fileno=accepted.detach()
        )
        if self.limits.admit(connection, address[0]):
            connection.limits = self.limits
            return connection, address
        with connection, contextlib.suppress(OSError):
            connection.setblocking(False)
            if not self.encrypted:
                connection.send(_BUSY)
        raise ConnectionAbortedError  # as if the client had gone: the event loop goes on


class _CountedConnection(socket.socket):
    """A connection that counts until it is closed."""

    limits: ConnectionLimits | None = None

    def close(self) -> None:
        number = self.fileno()
        super().close()
        if self.limits is not None and number >= 0:
            self.limits.forget(number)
