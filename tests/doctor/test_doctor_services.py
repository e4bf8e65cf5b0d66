"""Servers: found by the first words of their protocols."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from receivers import Broker
from ssdpt.doctor import services


@contextmanager
def _answering(reply: bytes) -> Iterator[int]:
    """A server that says the same to everyone; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(64)
                    connection.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def _states(monkeypatch: pytest.MonkeyPatch, port: int) -> list[str]:
    monkeypatch.setattr(services, "POSTGRES", port)
    monkeypatch.setattr(services, "MQTT", port)
    return [one.state for one in services.services()]


def test_a_server_is_known_by_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with _answering(b"S") as port:
        assert _states(monkeypatch, port) == ["ready", "missing"]
    with _answering(b"\x20\x02\x00\x05") as port:  # a broker that wants a password
        assert _states(monkeypatch, port) == ["missing", "ready"]
    with _answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert _states(monkeypatch, port) == ["missing", "missing"]
        assert f"another program has port {port}" in services.services()[0].detail


def test_where_nothing_listens_the_way_to_get_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert _states(monkeypatch, port) == ["missing", "missing"]
    postgres, broker = services.services()
    assert "optional" in postgres.detail
    assert postgres.remedy.endswith("apt install postgresql")
    assert broker.remedy.endswith("apt install mosquitto")


@pytest.mark.needs_mosquitto
def test_a_real_broker_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        assert _states(monkeypatch, broker.port) == ["missing", "ready"]


@pytest.mark.needs_postgres
def test_a_real_database_lets_us_in() -> None:
    url = os.environ.get("SSDPT_TEST_POSTGRES", "postgresql+psycopg://root@localhost/test")
    found = services.database(url)
    assert (found.state, "signed in (nothing written)" in found.detail) == ("ready", True)


def test_a_file_is_not_made_by_looking(tmp_path: Path) -> None:
    found = services.database(f"sqlite:///{tmp_path}/plant.db")
    assert (found.state, list(tmp_path.iterdir())) == ("ready", [])
