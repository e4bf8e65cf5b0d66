"""Streams, as far as they can be tested without a server: files, time stamps, refusals."""

from __future__ import annotations

import http.server
import random
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest
from hand_clock import NOON, HandClock, Listener, amplitude, ends_meet, joined, tone
from pydantic import ValidationError

from sounds import hum, write_clip
from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources import network_source, open_source
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.monitor.sources.clock import SYSTEM
from ssdpt.monitor.sources.network_source import NetworkSettings, NetworkSource, without_password
from waiting import wait_until

RATE = 16_000


def source_of(url, clock=None, **settings):
    return open_source(NetworkSettings(url=str(url), **settings), RATE, clock or HandClock())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.wav", {"subtype": "PCM_16"}),
        ("a.wav", {"subtype": "PCM_24"}),
        ("a.wav", {"subtype": "PCM_U8"}),
        ("a.wav", {"subtype": "DOUBLE"}),
        ("a.flac", {}),
    ],
)
def test_a_file_is_received_with_right_level_rate_and_channel(tmp_path, name, kind):
    frames = np.stack([tone(300, 2, 44_100), tone(1000, 2, 44_100, 0.5)], axis=1)
    path = write_clip(tmp_path / name, frames, rate=44_100, **kind)
    clock = HandClock()
    source = source_of(path, clock, channel=1)
    chunks = list(source.chunks(threading.Event()))
    assert len(joined(chunks)) == pytest.approx(2 * RATE, abs=2)
    assert amplitude(joined(chunks), 1000, RATE) == pytest.approx(0.5, rel=0.02)
    assert amplitude(joined(chunks), 300, RATE) < 0.005
    assert chunks[0].time == NOON
    assert ends_meet(chunks, RATE)
    assert clock.now == pytest.approx(2.0, abs=0.01)
    assert (source.status.rate_in, source.status.channels_in) == (44_100, 2)
    assert "played to its end" in source.status.message


def test_a_file_address_is_a_file(tmp_path):
    path = write_clip(tmp_path / "a.wav", hum(0.5))
    chunks = list(source_of(f"file://{path}").chunks(threading.Event()))
    np.testing.assert_allclose(joined(chunks), hum(0.5), atol=1e-4)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("{folder}/none.wav", "there is no such file"),
        ("{folder}/text.wav", "invalid data"),
        ("gopher-over-pigeon://host/x", "this kind of stream is not supported"),
    ],
)
def test_what_no_waiting_can_heal_is_refused(tmp_path, url, sentence):
    (tmp_path / "text.wav").write_text("this is no sound")
    with pytest.raises(SsdptError, match=sentence):
        list(source_of(url.format(folder=tmp_path)).chunks(threading.Event()))


def test_a_channel_that_is_not_there_is_refused(tmp_path):
    path = write_clip(tmp_path / "a.wav", hum(0.5))
    with pytest.raises(SsdptError, match=r"no channel 4; it has 1 channel, counted from 0"):
        list(source_of(path, channel=4).chunks(threading.Event()))


def test_a_file_without_sound_is_refused(tmp_path, monkeypatch):
    import av

    path = tmp_path / "picture.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 32
        for _ in range(3):
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8))
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(SsdptError, match="it has no sound"):
        list(source_of(path).chunks(threading.Event()))


@pytest.mark.parametrize("code", [401, 403])
def test_a_wrong_password_is_refused_without_telling_it(code):
    class Refuse(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(code)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Refuse) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        source = source_of(f"http://me:secret@127.0.0.1:{server.server_port}/")
        with Listener(source) as listener:
            wait_until(lambda: listener.error is not None)
        server.shutdown()
        thread.join(60)
    assert isinstance(listener.error, SsdptError)
    assert "check user and password" in str(listener.error)
    assert "secret" not in str(listener.error)
    assert not source.status.connected


def test_a_server_that_is_not_there_is_tried_again():
    clock = HandClock()
    stop = threading.Event()
    clock.on_wait = lambda: stop.set() if len(clock.waits) == 8 else None
    settings = NetworkSettings(url="http://127.0.0.1:9/")
    source = NetworkSource(settings, RATE, clock, Backoff(random.Random(0)))
    assert list(source.chunks(stop)) == []
    again = Backoff(random.Random(0))
    assert clock.waits == [next(again) for _ in range(8)]
    assert source.status.message == "stopped"


def test_a_server_that_falls_silent_is_lost():
    """It accepts the connection and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/machine"
        source = source_of(url, SYSTEM, timeout=0.5)
        with Listener(source):
            wait_until(lambda: "no data for 0.5 s; retrying" in source.status.message)


def stamped(monkeypatch, *connections):
    """A source whose connections give frames of 0.1 s with these time stamps, then break."""
    left = list(connections)
    clock = HandClock()

    def decoded(av, url, name, timeout):
        if not left:
            stop.set()
            return
        for moment in left.pop(0):
            yield network_source._Frame(np.full((1600, 1), 0.1, np.float32), RATE, moment)
        raise SourceLost("the line broke")

    stop = threading.Event()
    monkeypatch.setattr(network_source, "_decoded", decoded)
    source = NetworkSource(NetworkSettings(url="rtsp://camera/"), RATE, clock)
    return list(source.chunks(stop)), source, clock


def test_what_was_lost_on_the_way_is_a_gap(monkeypatch):
    moments = [*np.arange(20) * 0.1, *(np.arange(20) * 0.1 + 3.5)]
    chunks, source, _ = stamped(monkeypatch, moments)
    assert [chunk.gap for chunk in chunks if chunk.gap] == [pytest.approx(1.5)]
    assert chunks[-1].time - chunks[0].time == pytest.approx(5.25, abs=1e-6)
    assert source.status.gaps == 1


@pytest.mark.parametrize("jump", [-500.0, 500.0])
def test_time_stamps_set_anew_are_no_gap(monkeypatch, jump):
    moments = [*np.arange(20) * 0.1, *(np.arange(20) * 0.1 + 2 + jump)]
    chunks, _, _ = stamped(monkeypatch, moments)
    assert len(joined(chunks)) == 4 * RATE
    assert ends_meet(chunks, RATE)


def test_a_server_that_sends_too_fast_is_held_back(monkeypatch):
    _, _, clock = stamped(monkeypatch, np.arange(300) * 0.1)
    assert clock.now == pytest.approx(30, abs=2)


def test_after_a_break_it_connects_again_and_tells_the_gap(monkeypatch):
    chunks, source, clock = stamped(
        monkeypatch, np.arange(5) * 0.1, np.arange(5) * 0.1, np.arange(5) * 0.1
    )
    assert len(chunks) == 6
    assert [chunk.gap > 0 for chunk in chunks] == [False, False, True, False, True, False]
    assert source.status.reconnects == source.status.gaps == 2
    # None of the connections lasted, so each wait is longer.
    waits = [wait for wait in clock.waits if wait > 0.3]
    assert waits[0] < waits[1]


def test_another_rate_within_a_stream_is_followed(monkeypatch):
    def decoded(av, url, name, timeout):
        for rate in (8000, 48_000):
            for piece in np.split(tone(400, 1.0, rate), 10):
                yield network_source._Frame(piece[:, None], rate, None)
        raise SourceLost("over")

    clock, stop = HandClock(), threading.Event()
    clock.on_wait = lambda: stop.set() if "over" in source.status.message else None
    monkeypatch.setattr(network_source, "_decoded", decoded)
    source = NetworkSource(NetworkSettings(url="rtsp://camera/"), RATE, clock)
    samples = joined(source.chunks(stop))
    for part in (samples[2000 : RATE - 4000], samples[-8000:]):
        assert amplitude(part, 400, RATE) == pytest.approx(0.25, rel=0.02)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("rtsp://me:secret@camera:554/x", "rtsp://…@camera:554/x"),
        ("rtsp://me:se@cret@camera/x", "rtsp://…@camera/x"),
        ("http://camera/x?user=me&pwd=secret", "http://camera/x?…"),
        ("rtsp://me:se/cret@camera/x", "rtsp://…@camera/x"),
        ("rtsp://camera/user=me_password=secret_channel=1/a", "rtsp://camera/user=…/a"),
        ("http://host/path@2x", "http://host/path@2x"),
        ("http://host:8080/path@2x", "http://host:8080/path@2x"),
    ],
)
def test_addresses_are_shown_without_passwords(url, shown):
    assert without_password(url) == shown


def test_without_the_extra_it_says_which_one():
    code = (
        "import sys, threading; sys.modules['av'] = None\n"
        "from ssdpt.monitor.sources.network_source import NetworkSettings\n"
        "from ssdpt.monitor.sources import open_source\n"
        "source = open_source(NetworkSettings(url='rtsp://x/'), 16000)\n"
        "try:\n    next(source.chunks(threading.Event()))\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("SsdptError"), done.stderr
    assert "pip install 'ssdpt[stream]'" in done.stdout


@pytest.mark.parametrize(
    "url",
    [
        *("http://0.0.0.0:9999/?listen=1", "tcp://0.0.0.0:9999?listen", "rtmp://x/y?a=b&listen=2"),
        *("srt://0.0.0.0:9999?mode=listener", "srt://0.0.0.0:9999?mode=rendezvous"),
    ],
)
def test_a_source_never_opens_a_port_of_this_computer(url):
    with pytest.raises(ValidationError, match="does not wait for one"):
        NetworkSettings(url=url)


def test_other_options_of_an_address_are_allowed():
    for url in ("http://cam/a?listening=1&mode=caller", "rtsp://cam/a?b=2", "a?listen.mp3"):
        assert NetworkSettings(url=url).url == url
