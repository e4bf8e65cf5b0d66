"""Requests to the API at a steady rate, as open pages send them."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

_HEADER = "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\n\r\n"
# What an overview and the pages of machines ask for, and once in fifty requests Prometheus.
_PAGES = (
    *("/v1/status", "/v1/machines/{id}", "/v1/machines/{id}/trend", "/v1/machines/{id}/bands"),
    *("/v1/machines/{id}/spectrum", "/v1/events", "/v1/machines/{id}", "/v1/events/groups"),
    *("/v1/machines/{id}/trend", "/v1/machines/{id}/spectrum"),
)
_ROUTES = (*(5 * _PAGES)[:-1], "/metrics")
_PATIENCE = 30.0  # seconds for one reply


@dataclass(frozen=True, slots=True)
class Answer:
    """To one request."""

    route: str
    status: int  # 0: none came
    seconds: float  # since the moment at which the request was due


class ApiRequests:
    """Sends requests when they are due, whether or not earlier ones have been answered."""

    def __init__(self, address: str, machines: Sequence[str]) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        self._host, self._port, self._name = parts.hostname, parts.port or 80, parts.netloc
        self._paths = _paths(machines)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.answers: list[Answer] = []

    async def run(self, per_second: float, seconds: float) -> None:
        """Send requests for so long, then wait for the last answers."""
        begun = time.monotonic()
        tasks = []
        for number in range(round(per_second * seconds)):
            due = begun + number / per_second
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            route, path = next(self._paths)
            tasks.append(asyncio.create_task(self._ask(route, path, due)))
        await asyncio.gather(*tasks)
        for _, writer in self._idle:
            writer.close()
        self._idle.clear()

    async def _ask(self, route: str, path: str, due: float) -> None:
        try:
            status = await asyncio.wait_for(self._status(path), _PATIENCE)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            status = 0
        self.answers.append(Answer(route, status, time.monotonic() - due))

    async def _status(self, path: str) -> int:
        """Of the reply; on a new connection where the server has closed the one at hand."""
        if self._idle:
            try:
                return await self._exchange(path, self._idle.pop())
            except (OSError, asyncio.IncompleteReadError):
                pass
        return await self._exchange(path, await asyncio.open_connection(self._host, self._port))

    async def _exchange(
        self, path: str, connection: tuple[asyncio.StreamReader, asyncio.StreamWriter]
    ) -> int:
        reader, writer = connection
        writer.write(_HEADER.format(path=path, host=self._name).encode("ascii"))
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        await reader.readexactly(_length(head))
        if "connection: close" in head.lower():
            writer.close()
        else:
            self._idle.append(connection)
        return int(head.split(maxsplit=2)[1])


def _length(head: str) -> int:
    """Bytes of the body."""
    for line in head.lower().split("\r\n"):
        if line.startswith("content-length:"):
            return int(line.partition(":")[2])
    return 0


def _paths(machines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Route and path without end, for one machine after the other."""
    ids = itertools.cycle(machines)
    for route in itertools.cycle(_ROUTES):
        yield route, route.format(id=next(ids))
