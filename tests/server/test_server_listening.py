"""Live sound by WebSocket, and recordings that are kept on demand."""

from __future__ import annotations

import io
import socket
import struct

import examples
import httpx
import pytest
import soundfile
import websockets.exceptions
from serving import bearer, connect, running
from websockets.sync.client import connect as connect_socket

from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.service.live_sound import SoundPiece
from ssdpt.monitor.service.trials import UnknownTrial
from ssdpt.server import listening
from ssdpt.server.routes import listen
from waiting import wait_until

RECORDINGS = "/v1/machines/fan-1/recordings"


@pytest.fixture
def server(service, store, settings):
    with running(service, store, settings) as (port, running_server):
        yield port, running_server


def hear(port, machine="fan-1", **more):
    return connect_socket(f"ws://127.0.0.1:{port}/v1/machines/{machine}/listen", **more)


def hear_trial(port, trial=examples.TRIAL, **more):
    return connect_socket(f"ws://127.0.0.1:{port}/v1/trials/{trial}/listen", **more)


def listeners_of(server):
    return server.config.app.state.context.listeners


def test_sound_comes_in_pieces_of_a_quarter_of_a_second(server):
    port, running_server = server
    with hear(port) as client, hear(port) as other:
        for socket_ in (client, other):
            piece = socket_.recv(5)
            _, age, rate, flags = struct.unpack("<dfII", piece[:20])
            assert (round(age, 3), rate, flags) == (0.1, 16000, 0)
            assert (len(piece) - 20) / 2 / rate <= 0.25
        # Both share the work.
        assert len(listeners_of(running_server)._tasks) == 1
        client.send("12.5")
        wait_until(lambda: client.recv(5) == "12.5")  # to measure the delay of the network
    wait_until(lambda: len(listeners_of(running_server)) == 0)
    wait_until(lambda: not listeners_of(running_server)._tasks)


def test_a_machine_without_a_stream_says_so(server):
    with (
        hear(server[0], "pump_2") as client,
        pytest.raises(
            websockets.exceptions.ConnectionClosed, match="arrives in recordings, not as a stream"
        ),
    ):
        client.recv(5)


def test_a_machine_that_is_removed_ends_its_sound(server, service, monkeypatch):
    class Removed:
        machine = "fan-1"

        def take(self):
            raise UnknownMachine("fan-1")

    monkeypatch.setattr(service, "live_sound", lambda id: Removed())
    with (
        hear(server[0]) as client,
        pytest.raises(websockets.exceptions.ConnectionClosed, match="there is no such machine"),
    ):
        client.recv(5)


def test_there_is_a_limit_of_listeners(server, monkeypatch):
    monkeypatch.setattr(listening, "MOST_LISTENERS", 1)
    with hear(server[0]) as first, hear(server[0]) as second:
        assert first.recv(5)
        with pytest.raises(websockets.exceptions.ConnectionClosed, match="1 people listen already"):
            second.recv(5)


def test_who_listens_to_a_source_on_trial_counts_as_well(server, monkeypatch):
    monkeypatch.setattr(listening, "MOST_LISTENERS", 1)
    with hear_trial(server[0]) as first, hear(server[0]) as second:
        piece = first.recv(5)
        assert struct.unpack("<dfII", piece[:20])[2:] == (16000, 0)
        with pytest.raises(websockets.exceptions.ConnectionClosed, match="1 people listen already"):
            second.recv(5)


def test_the_sound_of_a_trial_ends_with_it(server, service, monkeypatch):
    class Over:
        machine = "saw"

        def take(self):
            raise UnknownTrial(examples.TRIAL)

    monkeypatch.setattr(service, "trial_sound", lambda id: Over())
    with (
        hear_trial(server[0]) as client,
        pytest.raises(websockets.exceptions.ConnectionClosed, match="this trial is over"),
    ):
        client.recv(5)
    monkeypatch.undo()
    with (
        hear_trial(server[0], "none") as client,
        pytest.raises(websockets.exceptions.ConnectionClosed, match="this trial is over"),
    ):
        client.recv(5)


def test_only_an_admin_listens_to_a_source_on_trial(service, store, settings, tokens, monkeypatch):
    """As with everything else of a trial; it ends when the role is taken away."""
    monkeypatch.setattr(listen, "_CHECK_EVERY", 0.05)
    with running(service, store, settings) as (port, running_server):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            hear_trial(port, additional_headers=bearer(tokens["operator"]))
        assert refused.value.response.status_code == 403
        with hear_trial(port, additional_headers=bearer(tokens["admin"])) as client:
            assert client.recv(5)
            store.set_role("admin", "viewer")
            running_server.config.app.state.context.access.clear_cache()
            with pytest.raises(websockets.exceptions.ConnectionClosed, match="sign in again"):
                wait_until(lambda: not client.recv(5))
    assert [(action.what, action.about) for action in store.actions() if action.who == "admin"] == [
        ("listened to a tried source", "saw")
    ]


def test_a_client_that_does_not_read_is_dropped(server, service, monkeypatch):
    """Others go on; nothing is kept for it."""

    class Loud:
        machine = "fan-1"

        def take(self):
            return [SoundPiece(0.0, 0.1, 16000, bytes(200_000), has_voices=False)]

    monkeypatch.setattr(service, "live_sound", lambda id: Loud())
    port, running_server = server
    with connect(port) as slow, hear(port) as other:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(
            b"GET /v1/machines/fan-1/listen HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        wait_until(lambda: other.recv(5) and len(listeners_of(running_server)) == 2)
        wait_until(lambda: other.recv(5) and len(listeners_of(running_server)) == 1)
        assert other.recv(5)


def test_listening_needs_a_viewer_and_ends_with_the_account(
    service, store, settings, tokens, monkeypatch
):
    monkeypatch.setattr(listen, "_CHECK_EVERY", 0.05)
    with running(service, store, settings) as (port, running_server):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            hear(port)
        assert refused.value.response.status_code in (401, 403)
        with hear(port, additional_headers=bearer(tokens["viewer"])) as client:
            assert client.recv(5)
            store.remove_user("viewer")
            running_server.config.app.state.context.access.clear_cache()
            with pytest.raises(websockets.exceptions.ConnectionClosed, match="sign in again"):
                wait_until(lambda: not client.recv(5))
    assert [action.what for action in store.actions() if action.who == "viewer"] == [
        "listened live"
    ]


def test_a_page_of_another_site_cannot_listen(server):
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
        hear(server[0], origin="http://evil.example")
    assert refused.value.response.status_code == 403


def test_recordings_are_kept_listed_heard_and_deleted(client):
    kept = client.post(RECORDINGS, json={"minutes": 5, "note": "knocks"})
    assert kept.status_code == 201
    assert (kept.json()["who"], kept.json()["note"]) == ("local", "knocks")
    listed = client.get(RECORDINGS).json()
    assert {entry["id"] for entry in listed} == {kept.json()["id"], examples.RECORDING}
    address = f"{RECORDINGS}/{kept.json()['id']}"
    sound = client.get(f"{address}/audio")
    assert (sound.headers["content-type"], sound.content[:4]) == ("audio/flac", b"fLaC")
    assert client.get(f"{address}/audio", headers={"Range": "bytes=0-3"}).content == b"fLaC"
    wav = client.get(f"{address}/audio", params={"format": "wav"})
    assert wav.headers["content-type"] == "audio/wav"
    assert soundfile.info(io.BytesIO(wav.content)).subtype == "PCM_16"
    assert client.delete(address).status_code == 204
    assert client.delete(address).json()["error"] == "there is no such recording"
    assert client.get(f"{address}/audio").status_code == 404


@pytest.mark.parametrize("body", [{}, {"minutes": 0}, {"minutes": 61}, {"minutes": "all"}])
def test_how_much_to_keep_is_checked(client, body):
    assert client.post(RECORDINGS, json=body).status_code == 422


def test_a_recording_of_one_machine_is_not_one_of_another(client):
    other = RECORDINGS.replace("fan-1", "pump_2")
    assert client.get(other).json() == []
    assert client.get(f"{other}/{examples.RECORDING}/audio").status_code == 404


def test_the_recording_of_an_event_as_wav(client):
    reply = client.get(f"/v1/events/{examples.EVENT}/audio", params={"format": "wav"})
    assert soundfile.info(io.BytesIO(reply.content)).duration == 2.0
    reply = client.get(f"/v1/events/{examples.EVENT}/audio", params={"format": "mp3"})
    assert reply.status_code == httpx.codes.UNPROCESSABLE_ENTITY
