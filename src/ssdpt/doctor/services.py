"""Servers that live monitoring can use: on this computer, and the database of a configuration."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from ssdpt.doctor.finding import Finding
from ssdpt.errors import SsdptError

POSTGRES = 5432  # the usual port
MQTT = 1883
_PATIENCE = 0.5  # seconds


@dataclass(frozen=True, slots=True)
class _Protocol:
    """The first words between a client and a server of one kind."""

    greeting: bytes
    answers: tuple[bytes, ...]  # how the answer of such a server begins


# "May we speak by TLS?" Yes, no, or an error of a server that is too old to know.
_POSTGRES = _Protocol(struct.pack("!II", 8, 80877103), (b"S", b"N", b"E"))
# CONNECT of MQTT 3.1.1 without a name; the answer is CONNACK, whether or not we may come in.
_MQTT = _Protocol(b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x0a\x00\x00", (b"\x20",))


def services() -> list[Finding]:
    """PostgreSQL and an MQTT broker of this computer; both are optional."""
    return [
        _service(
            "PostgreSQL", POSTGRES, _POSTGRES, "keeps the history, instead of SQLite", "postgresql"
        ),
        _service(
            "MQTT broker", MQTT, _MQTT, "passes states and events on to other systems", "mosquitto"
        ),
    ]


def database(url: str) -> Finding:
    """Whether the database that a configuration names lets the service in; nothing is written."""
    from ssdpt.monitor.store.engine import Database, read_url

    name = "history"
    try:
        address = read_url(url)
        if address.get_backend_name() == "sqlite":
            # Opening it would create it.
            return Finding(name, "ready", f"SQLite, in {address.database}")
        opened = Database(url)
        try:
            with opened.read():
                return Finding(name, "ready", f"{opened.name}: signed in (nothing written)")
        finally:
            opened.close()
    except SsdptError as error:
        return Finding(name, "faulty", str(error), "ssdpt help store")


def _service(name: str, port: int, protocol: _Protocol, use: str, package: str) -> Finding:
    try:
        answer = _greet(port, protocol.greeting)
    except OSError:
        detail = f"none on this computer (optional: {use})"
        return Finding(name, "missing", detail, f"Debian, Ubuntu: sudo apt install {package}")
    if not answer.startswith(protocol.answers):
        detail = f"another program has port {port} of this computer (optional: {use})"
        return Finding(name, "missing", detail)
    return Finding(name, "ready", f"answers on port {port} of this computer")


def _greet(port: int, greeting: bytes) -> bytes:
    """The first bytes of the answer; empty if there is none in time. OSError: nothing listens."""
    with socket.create_connection(("127.0.0.1", port), _PATIENCE) as connection:
        try:
            connection.sendall(greeting)
            return connection.recv(4)
        except OSError:
            return b""
