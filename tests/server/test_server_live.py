"""A real server: live streams, slow clients, WebSockets, and stopping while they are open."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import examples
import httpx
import numpy as np
import pytest
import websockets.exceptions
from examples import EVENT
from serving import PASSWORD, bearer, connect, running
from websockets.sync.client import connect as connect_socket

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import ReadingTaken, ServiceChanged
from ssdpt.monitor.service import subscriptions
from ssdpt.server import event_stream
from ssdpt.server.routes import audio
from ssdpt.server.run import address_of, listening, serve
from waiting import wait_until


@pytest.fixture
def server(service, store, settings):
    with running(service, store, settings) as (port, running_server):
        yield port, running_server


@contextlib.contextmanager
def listen(port, headers=None):
    """The lines of a live stream; the first ones, which only greet, are read."""
    with (
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0) as client,
        client.stream("GET", "/v1/live", headers=headers) as reply,
    ):
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in reply.headers
        lines = reply.iter_lines()
        while next(lines):
            pass
        yield lines


def next_event(lines):
    kind, data, empty = next(lines), next(lines), next(lines)
    assert empty == ""
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def broadcaster_of(server):
    return server.config.app.state.context.broadcaster


def test_changes_are_streamed(server, service):
    port, running_server = server
    with listen(port) as lines, listen(port) as others:
        silence = examples.reading(level_dbfs=-math.inf, score=math.nan)
        service.subscriptions.publish(ReadingTaken(reading=silence))
        kind, reading = next_event(lines)
        assert (kind, reading["machine"], reading["time"]) == ("reading", "fan-1", examples.TIME)
        assert (reading["level_dbfs"], reading["score"]) == (None, None)
        path = f"http://127.0.0.1:{port}/v1/events/{EVENT}/acknowledge"
        changed = httpx.post(path, json={"comment": "line\nbreak"}).json()
        assert next_event(lines) == ("event", changed)
        service.mute("fan-1", 2.5)
        kind, machine = next_event(lines)
        assert (kind, machine["muted_until"]) == ("machine", 2.5)
        status = examples.service_status(problems=("the disk is full",))
        service.subscriptions.publish(ServiceChanged(status=status))
        assert next_event(lines)[1]["problems"] == ["the disk is full"]
        httpx.delete(f"http://127.0.0.1:{port}/v1/machines/pump_2")
        assert next_event(lines) == ("removed", {"machine": "pump_2"})
        names = [next_event(others)[0] for _ in range(5)]
        assert names == ["reading", "event", "machine", "service", "removed"]
        assert broadcaster_of(running_server).clients == 2
    wait_until(lambda: broadcaster_of(running_server).clients == 0)


def test_silence_is_broken_by_heartbeats(server, monkeypatch):
    """As events, since a page is not told of comments."""
    monkeypatch.setattr(event_stream, "HEARTBEAT", 0.05)
    with listen(server[0]) as lines:
        for _ in range(2):
            name, data = next_event(lines)
            assert name == "heartbeat"
            assert abs(data["now"] - time.time()) < 10


def test_a_page_that_does_not_read_is_dropped(server, service, monkeypatch):
    """Others go on; nothing is kept for it."""
    monkeypatch.setattr(event_stream, "_MAX_QUEUED", 300_000)
    port, running_server = server
    with connect(port) as slow, listen(port) as lines:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(b"GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: broadcaster_of(running_server).clients == 2)
        sent = 0
        deadline = time.monotonic() + 10
        while broadcaster_of(running_server).clients == 2:
            assert time.monotonic() < deadline
            note = f"{sent} {'x' * 100_000}"
            status = examples.service_status(notes=(note,))
            service.subscriptions.publish(ServiceChanged(status=status))
            assert next_event(lines)[1]["notes"] == [note]
            sent += 1
        service.subscriptions.publish(ReadingTaken(reading=examples.reading()))
        assert next_event(lines)[0] == "reading"


def test_many_updates_are_sent_in_few_pieces(server, service, monkeypatch):
    """Sending each by itself to many clients would cost more than all the rest."""
    port, running_server = server
    broadcaster = broadcaster_of(running_server)
    pieces = []
    broadcast = broadcaster._broadcast
    monkeypatch.setattr(
        broadcaster, "_broadcast", lambda piece: (pieces.append(piece), broadcast(piece))
    )
    with listen(port) as lines:
        for number in range(300):
            reading = examples.reading(time=examples.TIME + number)
            service.subscriptions.publish(ReadingTaken(reading=reading))
        times = [next_event(lines)[1]["time"] for _ in range(300)]
    assert times == [examples.TIME + number for number in range(300)]
    assert len(pieces) < 30


def test_too_many_clients(server, monkeypatch):
    monkeypatch.setattr(event_stream, "_MAX_CLIENTS", 1)
    with listen(server[0]):
        reply = httpx.get(f"http://127.0.0.1:{server[0]}/v1/live")
        assert reply.status_code == 503
        assert reply.json()["error"]


def test_a_service_that_ends_disconnects_clients(server, service):
    with listen(server[0]) as lines:
        service.subscriptions.close()
        assert list(lines) == []


def reading_arrives(port, service):
    """Whether a client that connects now gets the next reading."""
    with listen(port) as lines:
        service.subscriptions.publish(ReadingTaken(reading=examples.reading()))
        return next_event(lines)[0] == "reading"


def test_a_subscription_that_overflows_is_replaced(server, service, monkeypatch):
    port, _ = server
    (overflowed,) = service.subscriptions._all
    with listen(port) as lines:
        with monkeypatch.context() as patch:
            patch.setattr(subscriptions, "_MOST_WAITING", 0)
            service.mute("fan-1", None)
        assert overflowed.closed
        # The page is disconnected and loads its state again; the last update may still arrive.
        assert [line for line in lines if line.startswith("event")] in ([], ["event: machine"])
    assert reading_arrives(port, service)
    (replacement,) = service.subscriptions._all
    assert replacement is not overflowed


def test_an_update_that_cannot_be_sent_does_not_end_the_stream(server, service, caplog):
    port, _ = server
    with listen(port) as lines:
        service.subscriptions.publish("no update")
        assert list(lines) == []
    assert "cannot forward an update" in caplog.text
    assert reading_arrives(port, service)


def test_the_live_stream_needs_a_viewer(service, store, settings, tokens, monkeypatch):
    monkeypatch.setattr(event_stream, "HEARTBEAT", 0.05)
    monkeypatch.setattr(event_stream, "_CHECK_EVERY", 0.05)
    with running(service, store, settings) as (port, running_server):
        reply = httpx.get(f"http://127.0.0.1:{port}/v1/live")
        assert reply.status_code == 401
        with listen(port, bearer(tokens["viewer"])) as lines:
            store.remove_user("viewer")
            running_server.config.app.state.context.access.clear_cache()
            assert all("reading" not in line for line in lines)  # until it ends


def test_cookies_over_a_real_connection(service, store, settings, tokens):
    with (
        running(service, store, settings) as (port, _),
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        credentials = {"name": "operator", "password": PASSWORD}
        csrf = client.post("/v1/session", json=credentials).json()["csrf"]
        path = "/v1/machines/fan-1/mute"
        assert client.post(path, json={"minutes": 1}).status_code == 403
        headers = {"X-CSRF-Token": csrf}
        assert client.post(path, json={"minutes": 1}, headers=headers).status_code == 200


def pcm(port, query="rate=16000", machine="fan-1", origin=None, headers=None):
    return connect_socket(
        f"ws://127.0.0.1:{port}/v1/machines/{machine}/pcm?{query}",
        origin=origin,
        additional_headers=headers,
        proxy=None,
    )


def test_samples_by_websocket(server, service):
    values = np.array([0.0, 0.5, -1.0, 0.25], np.float32)
    with pcm(server[0], "rate=16000&channels=2") as sender:
        sender.send(values.astype("<f4").tobytes())
    wait_until(lambda: service.pushed)  # the order of two connections is not fixed
    with pcm(server[0], "rate=8000&format=s16", origin=f"http://127.0.0.1:{server[0]}") as sender:
        sender.send((values * 32767).astype("<i2").tobytes())
    wait_until(lambda: len(service.pushed) == 2)
    (_, first, rate, _), (_, second, other_rate, _) = service.pushed
    np.testing.assert_array_equal(first, values.reshape(2, 2))
    np.testing.assert_allclose(second, values[:, None], atol=1e-4)
    assert (rate, other_rate) == (16000, 8000)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"123", 1007),
        (b"", 1007),
        (np.array([np.nan], np.float32).tobytes(), 1007),
        ("text", 1003),
        (b"\0" * (2**20 + 4), 1009),
    ],
)
def test_messages_that_are_no_samples(server, service, message, code):
    with pcm(server[0]) as sender:
        sender.send(message)
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            sender.recv(timeout=60)
    assert closed.value.rcvd.code == code
    assert not service.pushed


def test_a_full_queue_ends_the_websocket_with_a_reason(server, service):
    def full(*_):
        raise SsdptError("60 s of sound are waiting; " + "ü" * 100)

    service.push = full
    with pcm(server[0]) as sender:
        sender.send(b"\0" * 400)
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            sender.recv(timeout=60)
    assert closed.value.rcvd.code == 1013
    assert closed.value.rcvd.reason.startswith("60 s of sound are waiting")


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"machine": "none"}, 404),
        ({"query": "rate=1"}, 422),
        ({"query": "rate=16000&format=mp3"}, 422),
        ({"headers": {"Via": "1.1 proxy"}}, 403),
    ],
)
def test_websockets_that_are_refused(server, more, status):
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused, pcm(server[0], **more):
        pass
    assert refused.value.response.status_code == status


def test_websockets_need_an_operator(service, store, settings, tokens, monkeypatch):
    monkeypatch.setattr(audio, "_CHECK_EVERY", 0.0)
    with running(service, store, settings) as (port, running_server):
        for headers, status in (({}, 401), (bearer(tokens["viewer"]), 403)):
            with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
                pcm(port, headers=headers)
            assert refused.value.response.status_code == status
        credentials = {"name": "operator", "password": PASSWORD}
        cookie = httpx.post(f"http://127.0.0.1:{port}/v1/session", json=credentials).headers[
            "set-cookie"
        ]
        headers = {"Cookie": cookie.partition(";")[0]}
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            pcm(port, headers=headers)
        assert refused.value.response.status_code == 403
        with pcm(port, headers=headers, origin=f"http://127.0.0.1:{port}") as sender:
            sender.send(b"\0" * 400)
            wait_until(lambda: service.pushed)
            store.remove_user("operator")
            running_server.config.app.state.context.access.clear_cache()
            sender.send(b"\0" * 400)
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                sender.recv(timeout=60)
        assert closed.value.rcvd.code == 1008
    assert len(service.pushed) == 1


SERVICE = """
    import sys
    from pathlib import Path
    from fake_service import FakeService
    from ssdpt.monitor.store import Store
    from ssdpt.server.run import serve
    from ssdpt.server.settings import ServerSettings

    folder = Path(sys.argv[1])
    with Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder) as store:
        tell = lambda address: print(address, flush=True)
        serve(FakeService(store), store, ServerSettings(port=0), tell)
    print("in order", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_at_once_while_pages_are_connected(store, tmp_path, number):
    here = os.path.dirname(__file__)  # noqa: PTH120  of a search path, which is text
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVICE), str(tmp_path / "data")],
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])]),
        },
    ) as process:
        port = int(process.stdout.readline().strip().rpartition(":")[2].rstrip("/"))
        with listen(port) as lines, pcm(port) as sender, connect(port) as idle:
            sender.send(b"\0" * 400)
            idle.sendall(b"POST /v1/machines/fan-1/audio HTTP/1.1\r\nHost: localhost\r\n")
            process.send_signal(number)
            assert process.wait(timeout=10) == 0
            assert list(lines) == []
        # The one who called it goes on, to stop the monitor.
        assert process.stdout.read() == "in order\n"


def test_an_address_that_is_taken(service, store, settings):
    with listening(settings.model_copy(update={"port": 0})) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SsdptError, match=f"port {port}: cannot listen: the port is in use"):
            serve(service, store, settings.model_copy(update={"port": port}))


def test_an_address_that_is_none(service, store, settings, tokens):
    with pytest.raises(SsdptError, match="not an address of this computer"):
        serve(service, store, settings.model_copy(update={"host": "no-such-host.invalid"}))


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:"), ("::1", "http://[::1]:"), ("", "http://localhost:")],
)
def test_the_address_for_a_browser(settings, host, address):
    chosen = settings.model_copy(update={"host": host, "port": 0})
    with listening(settings.model_copy(update={"port": 0})) as listener:
        assert address_of(chosen, listener).startswith(address)
