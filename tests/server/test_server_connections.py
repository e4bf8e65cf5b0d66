"""Nobody can take the page down by opening connections, with or without a user."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time

import httpx
import pytest
from serving import connect, running

from ssdpt.server import connection_limits, connections
from ssdpt.server.connection_limits import ConnectionLimits, allow_open_files
from waiting import wait_until

HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(connections, "READ_SECONDS", 0.5)


@pytest.fixture
def port(service, store, settings):
    with running(service, store, settings) as (port, _):
        yield port


@pytest.fixture
def encrypted_port(service, store, settings, tmp_path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    settings = settings.model_copy(update={"certificate": certificate, "key": key})
    with running(service, store, settings) as (port, _):
        yield port


def is_ended(connection):
    """Whether the server ends the connection; what it sends is read."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


def healthy(port, source="127.0.0.2", scheme="http"):
    """Whether the service answers another computer."""
    transport = httpx.HTTPTransport(local_address=source, verify=False)
    with httpx.Client(transport=transport, timeout=10.0) as client:
        return client.get(f"{scheme}://127.0.0.1:{port}/healthz").status_code == 200


@contextlib.contextmanager
def crowd(port, count, sent=HALF, source="127.0.0.1"):
    """Connections from one address that say half of something."""
    with contextlib.ExitStack() as stack:
        connections = []
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", port), 60.0, (source, 0))
            connections.append(stack.enter_context(one))
            one.sendall(sent)
        yield connections


def test_half_a_header_ends_the_connection(quick, port):
    with connect(port) as silent, connect(port) as half:
        half.sendall(HALF)
        assert is_ended(half)
        assert is_ended(silent)


def test_a_header_that_comes_byte_by_byte_ends_it_too(quick, port):
    def trickle(connection):
        while True:
            connection.sendall(b"X")
            time.sleep(0.05)  # the pace of the client

    with connect(port) as slow, pytest.raises((ConnectionResetError, BrokenPipeError)):
        trickle(slow)


def test_a_body_that_stops_coming_ends_it(quick, port):
    with connect(port) as half:
        half.sendall(
            b"POST /v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        assert is_ended(half)


def test_a_body_that_trickles_in_ends_it_too(quick, monkeypatch, port):
    """One byte a minute would hold it for years."""
    monkeypatch.setattr(connections, "BODY_SECONDS", 1.0)

    with connect(port) as slow:
        slow.sendall(
            b"POST /v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000000\r\n\r\n{"
        )
        wait_until(lambda: is_broken(slow), "the server ends it")  # a byte at every look


def test_a_reply_that_is_not_read_ends_it(quick, port, page):
    """The client asks again and again, and reads nothing."""
    (page / "assets" / "large-A1b2C3.js").write_bytes(b"x" * 2**24)
    with connect(port) as deaf:
        deaf.sendall(b"GET /assets/large-A1b2C3.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        wait_until(lambda: is_broken(deaf), "the server ends it")


def is_broken(connection):
    """Whether the other side has given up, though it has sent what was not read."""
    try:
        connection.sendall(b"X")
    except (ConnectionResetError, BrokenPipeError):
        return True
    return False


def test_many_requests_on_one_connection_take_as_long_as_they_take(quick, port):
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        began = time.monotonic()
        while time.monotonic() - began < 1.5:  # longer than the deadline of one header
            assert client.get("/healthz").status_code == 200


def test_one_address_cannot_use_up_the_connections_of_all(port, caplog):
    """1,100 connections that send half a header used to stop the page for everybody."""
    with crowd(port, 400) as opened:
        assert healthy(port)
        refused = [one for one in opened if b"503" in answer_now(one)]
        assert len(refused) == 400 - connection_limits.MOST_PER_ADDRESS
        assert sum("too many connections" in line for line in caplog.messages) == 1


def test_connections_that_never_begin_tls_count_too(encrypted_port):
    """They used to count after the handshake only, so 9,000 of them took all open files."""
    most = connection_limits.MOST_PER_ADDRESS
    with crowd(encrypted_port, most + 50, sent=b"") as opened:
        wait_until(lambda: sum(is_closed(one) for one in opened) == 50, "the surplus is closed")
        assert healthy(encrypted_port, scheme="https")


def test_a_handshake_has_the_time_of_a_header(quick, encrypted_port):
    with connect(encrypted_port) as silent, connect(encrypted_port) as half:
        half.sendall(b"\x16\x03\x01")  # a handshake begins so
        assert is_ended(half)
        assert is_ended(silent)


def test_many_addresses_cannot_use_up_the_connections_of_all(port):
    """Those that have asked nothing make way for the next, the oldest first."""
    with contextlib.ExitStack() as stack:
        for number in range(6):
            stack.enter_context(crowd(port, 190, source=f"127.0.0.{number + 10}"))
        for _ in range(20):
            assert healthy(port)


def answer_now(connection):
    """What the server has sent so far."""
    connection.setblocking(False)
    try:
        return connection.recv(4096)
    except (BlockingIOError, ConnectionResetError):
        return b""


def is_closed(connection):
    """Whether the server has closed it."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


class FakeConnection:
    def __init__(self, number):
        self.number, self.ended = number, False

    def fileno(self):
        return self.number

    def shutdown(self, how):
        self.ended = True


def fill(limits, count, address="10.0.0.1", first=100):
    """Whether each of so many connections of an address is admitted, and these."""
    opened = [FakeConnection(first + number) for number in range(count)]
    return [limits.admit(one, address) for one in opened], opened


def test_connections_that_are_over_do_not_count():
    limits = ConnectionLimits(8192, most_per_address=2)
    assert fill(limits, 3)[0] == [True, True, False]
    assert fill(limits, 1, "10.0.0.2", 200)[0] == [True]
    limits.forget(100)
    assert fill(limits, 2)[0] == [True, False]


def test_the_ipv6_addresses_of_one_computer_count_as_one():
    """It has 2⁶⁴ of them."""
    limits = ConnectionLimits(8192, most_per_address=2)
    addresses = [f"2001:db8:0:1::{number:x}" for number in range(3)]
    admitted = [fill(limits, 1, address, first)[0] for first, address in enumerate(addresses)]
    assert admitted == [[True], [True], [False]]
    assert fill(limits, 1, "2001:db8:0:2::1", 200)[0] == [True]


def test_a_proxy_stands_for_many_clients():
    limits = ConnectionLimits(300, ("10.0.0.0/8",), most_per_address=2)
    admitted, opened = fill(limits, 44, "::ffff:10.1.2.3")
    assert all(admitted)
    for one in opened:
        limits.asks(one.number)
    assert fill(limits, 1, "10.1.2.3", 500)[0] == [False]  # in all, files are left for the rest


def test_who_has_asked_nothing_makes_way_for_the_next():
    limits = ConnectionLimits(300, most_per_address=100)
    _, opened = fill(limits, 44)
    limits.asks(100)
    limits.waits(100)  # for another request: the youngest of those that wait now
    limits.asks(101)
    assert fill(limits, 42, "10.0.0.2", 500)[0] == [True] * 42
    assert [one.number for one in opened if not one.ended] == [100, 101]
    assert fill(limits, 1, "10.0.0.2", 600)[0] == [True]
    assert opened[0].ended
    assert not opened[1].ended


def test_no_more_make_way_than_can_be_closed_meanwhile(monkeypatch):
    monkeypatch.setattr(connection_limits, "_MOST_ENDING", 3)
    limits = ConnectionLimits(300, most_per_address=100)
    fill(limits, 44)
    assert fill(limits, 5, "10.0.0.2", 500)[0] == [True] * 3 + [False] * 2
    limits.forget(100)  # it is closed
    assert fill(limits, 2, "10.0.0.2", 600)[0] == [True, False]


def test_the_process_may_open_enough_files():
    assert allow_open_files() >= 1024
    with socket.socket() as one:
        assert one.fileno() > 0
