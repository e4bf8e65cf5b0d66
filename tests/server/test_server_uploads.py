"""Sound that is sent by HTTP: files, pieces, and what is no sound."""

from __future__ import annotations

import io
import json
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import soundfile
from serving import flac

from ssdpt.server import security, uploads
from ssdpt.server.routes import audio

PATH = "/v1/machines/fan-1/audio"


@pytest.mark.parametrize("kind", ["WAV", "FLAC", "OGG"])
@pytest.mark.parametrize("channels", [1, 2])
def test_files_become_samples(client, service, kind, channels):
    content = flac(0.5, 48000, channels, kind)
    reply = client.post(PATH, content=content, params={"time": 1.7e9})
    assert reply.json() == {"seconds": 0.5}
    machine, samples, rate, time = service.pushed[0]
    expected, _ = soundfile.read(io.BytesIO(content), dtype="float32", always_2d=True)
    assert (machine, rate, time) == ("fan-1", 48000, 1.7e9)
    np.testing.assert_array_equal(samples, expected)


def test_a_snapshot_as_json_is_taken_in_its_unit(client, service):
    snapshot = {"time": "2026-01-31T12:00:00Z", "sample_rate": 1000, "unit": "g", "values": [1, 2]}
    reply = client.post(PATH, json=snapshot)
    assert reply.json() == {"seconds": 0.002}
    ((machine, message),) = service.snapshots
    assert machine == "fan-1"
    assert (message.unit, message.values) == ("g", (1.0, 2.0))
    assert not service.pushed


def test_what_is_no_snapshot_is_refused_with_a_sentence(client, service):
    reply = client.post(PATH, json={"sample_rate": 1000, "valeus": [1, 2]})
    assert reply.status_code == 409
    assert reply.json()["error"].startswith("not a snapshot as JSON: valeus: is not known")
    assert client.post("/v1/machines/none/audio", json={"values": [1]}).status_code == 404
    assert not service.snapshots


def test_pieces_of_l16_are_big_endian(client, service):
    """As RFC 2586 has it."""
    values = [0, 16384, -32768, 32767]
    body = struct.pack(">4h", *values)
    headers = {"Content-Type": "audio/L16; rate=8000; channels=2"}
    assert client.post(PATH, content=body, headers=headers).json() == {"seconds": 2 / 8000}
    _, samples, rate, time = service.pushed[0]
    np.testing.assert_array_equal(samples, np.array(values).reshape(2, 2) / 32768)
    assert (rate, time) == (8000, None)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("audio/L16", b"1234"),
        ("audio/L16;rate=x", b"1234"),
        ("audio/L16;rate=-5", b"1234"),
        ("audio/L16;rate=8000", b"123"),
        ("audio/L16;rate=8000", b""),
        ("audio/L16;rate=8000;channels=3", b"1234"),
        ("audio/L16;rate=8000;channels=0", b"1234"),
        ("audio/wav", b""),
        ("audio/wav", b"RIFF"),
        ("audio/wav", flac(0.5, kind="WAV")[:30]),
        ("audio/wav", b"\0" * 5000),
        ("audio/flac", flac(0.5)[:60]),
        ("text/plain", b"hello"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\nhello\r\n--x--"),
        ("audio/x-aiff", flac(0.1, kind="AIFF")),
        ("audio/wav", flac(0, kind="WAV")),
    ],
)
def test_invalid_sound_is_refused(client, service, kind, body):
    reply = client.post(PATH, content=body, headers={"Content-Type": kind})
    assert reply.status_code in (400, 415)
    assert reply.json()["error"]
    assert not service.pushed


def test_samples_that_are_no_numbers_are_refused(client, service):
    content = io.BytesIO()
    samples = np.array([0.0, np.nan, np.inf], np.float32)
    soundfile.write(content, samples, 16000, format="WAV", subtype="FLOAT")
    assert client.post(PATH, content=content.getvalue()).status_code == 400
    assert not service.pushed


def test_a_file_that_unpacks_to_too_much_is_refused(client, monkeypatch):
    monkeypatch.setattr(uploads, "_MOST_VALUES", 10_000)
    content = io.BytesIO()
    soundfile.write(content, np.zeros(20_000, np.float32), 16000, format="FLAC")
    reply = client.post(PATH, content=content.getvalue())
    assert reply.status_code == 413
    assert "min" in reply.json()["error"]


def test_a_file_of_many_hours_is_refused(client, service):
    """32 million zeros at 1,000 Hz are 107 kB of FLAC, and 9 hours for the machine."""
    content = io.BytesIO()
    soundfile.write(content, np.zeros(4_000_000, np.float32), 1000, format="FLAC")
    reply = client.post(PATH, content=content.getvalue())
    assert reply.status_code == 413
    assert "at most 60 min" in reply.json()["error"]
    assert not service.pushed


JSON = json.dumps({"sample_rate": 1000, "values": [1, 2]}).encode()


@pytest.mark.parametrize(
    ("reader", "content", "kind"),
    [("decode", flac(0.5, 48000), "audio/flac"), ("read_message", JSON, "application/json")],
)
def test_few_recordings_are_unpacked_at_the_same_time(
    client, service, monkeypatch, reader, content, kind
):
    """Compressed sound unpacks to hundreds of megabytes, and so do numbers as text."""
    unpacked, most, lock = [0], [0], threading.Lock()
    pair = threading.Barrier(2, timeout=60)  # each waits for another one at the same time
    read = getattr(audio, reader)

    def counted(*arguments):
        with lock:
            unpacked[0] += 1
            most[0] = max(most[0], unpacked[0])
        try:
            pair.wait()
            return read(*arguments)
        finally:
            with lock:
                unpacked[0] -= 1

    monkeypatch.setattr(audio, reader, counted)
    headers = {"Content-Type": kind}
    with ThreadPoolExecutor(16) as senders:
        replies = list(
            senders.map(lambda _: client.post(PATH, content=content, headers=headers), range(16))
        )
    assert {reply.status_code for reply in replies} == {200}
    assert most[0] == 2


def test_a_recording_that_there_is_no_memory_for_is_refused(client, service, monkeypatch, caplog):
    def too_large(body, kind):
        raise MemoryError("Unable to allocate 60.0 MiB")

    monkeypatch.setattr(audio, "decode", too_large)
    reply = client.post(PATH, content=flac(0.5, 48000))
    assert reply.status_code == 503
    assert "try again later" in reply.json()["error"]
    assert not service.pushed
    assert "too little memory: Unable to allocate 60.0 MiB" in caplog.text
    assert "Traceback" not in caplog.text


def test_the_reply_says_what_was_taken_not_what_was_sent(client, service, monkeypatch):
    monkeypatch.setattr(service, "push", lambda *_: 0.25)
    assert client.post(PATH, content=flac(0.5, 48000)).json() == {"seconds": 0.25}


def test_a_body_that_says_it_is_too_large_is_refused_unread(client):
    reply = client.post(PATH, content=b"", headers={"Content-Length": str(64 * 2**20 + 1)})
    assert reply.status_code == 413
    assert "64 MiB" in reply.json()["error"]


def test_a_body_that_grows_too_large_is_refused(client, service, monkeypatch):
    monkeypatch.setattr(security, "AUDIO_BYTES", 2**20)
    pieces = (b"\0" * 2**16 for _ in range(20))
    reply = client.post(PATH, content=pieces)
    assert reply.status_code == 413
    assert not service.pushed


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_snapshots_as_json_have_a_limit_of_their_own(client, service, kind):
    """64 MiB of numbers as text took 2.6 GB."""
    headers = {"Content-Type": kind}
    said = {**headers, "Content-Length": str(8 * 2**20 + 1)}
    pieces = (b" " * 2**16 for _ in range(130))
    for reply in (
        client.post(PATH, content=b"", headers=said),
        client.post(PATH, content=pieces, headers=headers),
    ):
        assert reply.status_code == 413
        assert "at most 8 MiB and 1000000 values; send it as a WAV" in reply.json()["error"]
    assert not service.snapshots


def test_other_bodies_are_small(client):
    big = '{"comment": "' + "x" * 2**20 + '"}'
    path = "/v1/events/0123456789abcdef0123456789abcdef/acknowledge"
    assert client.post(path, content=big).status_code == 413
    assert client.post(path, content=iter([big.encode()])).status_code == 413


def test_a_full_queue_is_an_error(client, service):
    content = flac(40, 48000)
    assert client.post(PATH, content=content).status_code == 200
    reply = client.post(PATH, content=content)
    assert reply.status_code == 409
    assert "waiting" in reply.json()["error"]


def test_a_large_file_goes_through(client, service):
    """More than is kept in memory."""
    content = flac(30, 48000, kind="WAV")
    assert len(content) > 2 * uploads._IN_MEMORY
    assert client.post(PATH, content=content).json() == {"seconds": 30.0}


def test_senders_are_written_down_once_an_hour(client, store):
    for _ in range(3):
        client.post(PATH, content=flac(0.1))
    client.post("/v1/machines/pump_2/audio", content=flac(0.1))
    actions = [action for action in store.actions(10) if action.what == "sent sound"]
    assert [action.about for action in actions] == ["pump_2", "fan-1"]
