"""Follows the live stream and notes when the verdict on each second of a machine arrives."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from urllib.parse import urlsplit

_REQUEST = "GET /v1/live HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n"
_LARGEST = 2**22  # bytes of one message


class Verdicts:
    """What one client of the live stream has seen."""

    def __init__(self, address: str, speed: float) -> None:
        """`speed` of the service's clock: at another than 1 the times of sound are not ours."""
        parts = urlsplit(address)
        assert parts.hostname is not None
        self._host, self._port, self._name = parts.hostname, parts.port or 80, parts.netloc
        self._speed = speed
        self.machines: set[str] = set()  # of which a reading has come
        self.machine_time = 0.0  # of the latest reading, in seconds since 1970
        self.readings = 0
        self.scored = 0  # readings with a score of their own
        self.delays: list[float] = []  # seconds from the last sample to the verdict
        # Seconds since the start, and the degree of shedding from then on.
        self.shedding: list[tuple[float, int]] = []
        self._begun = time.monotonic()

    def reset(self) -> None:
        """Count from now on."""
        self._begun = time.monotonic()
        degree = self.degree
        self.readings, self.scored, self.delays = 0, 0, []
        self.shedding = [(0.0, degree)]

    @property
    def degree(self) -> int:
        """Of shedding, now."""
        return self.shedding[-1][1] if self.shedding else 0

    async def follow(self) -> None:
        """Until it is cancelled."""
        reader, writer = await asyncio.open_connection(self._host, self._port, limit=_LARGEST)
        try:
            writer.write(_REQUEST.format(host=self._name).encode("ascii"))
            name = ""
            while line := (await reader.readline()).decode("utf-8").rstrip("\r\n"):
                pass  # the header of the reply
            while raw := await reader.readline():
                line = raw.decode("utf-8").rstrip("\r\n")
                key, _, value = line.partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    self._add(name, json.loads(value))
        finally:
            writer.close()

    def _add(self, name: str, data: dict[str, Any]) -> None:
        if name == "reading":
            self.machines.add(data["machine"])
            self.machine_time = max(self.machine_time, data["time"])
            self.readings += 1
            self.scored += data["score"] is not None
            if data["smoothed"] is not None and self._speed == 1:
                self.delays.append(time.time() - data["time"])
        elif name == "service":
            self.add_service(data)

    def add_service(self, status: dict[str, Any]) -> None:
        """The service as it is now."""
        shedding = status.get("shedding")
        degree = 0 if shedding is None else shedding["degree"]
        if not self.shedding or degree != self.degree:
            self.shedding.append((time.monotonic() - self._begun, degree))
