"""Streams over HTTP from a real server, which is killed and comes back."""

from __future__ import annotations

import subprocess
import time

import pytest
from hand_clock import Listener, amplitude, joined, loudest_hz

from free_ports import free_port
from ssdpt.monitor.sources import open_source
from ssdpt.monitor.sources.network_source import NetworkSettings
from waiting import wait_until

pytestmark = pytest.mark.needs_sound

RATE = 16_000


@pytest.fixture
def serve():
    """Start ffmpeg as the server of a stream: 300 Hz on its left, 1 kHz on its right channel."""
    started = []

    def start(port, kind, codec):
        tones = "aevalsrc=0.1*sin(2*PI*300*t)|0.25*sin(2*PI*1000*t):s=48000"
        source = ("-re", "-f", "lavfi", "-i", tones, "-c:a", codec, "-f", kind)
        where = ("-listen", "1", f"http://127.0.0.1:{port}/machine")
        process = subprocess.Popen(
            ["ffmpeg", "-v", "error", *source, *where], stdin=subprocess.DEVNULL
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("kind", "codec"), [("mpegts", "mp2"), ("ogg", "flac")])
def test_a_stream_is_received_and_received_again_after_its_server_was_gone(serve, kind, codec):
    port = free_port()
    url = f"http://user:secret@127.0.0.1:{port}/machine"
    source = open_source(NetworkSettings(url=url, channel=1, timeout=30), RATE)
    with Listener(source) as listener:
        # The server comes later than the listener.
        wait_until(lambda: "retrying" in source.status.message)
        server = serve(port, kind, codec)
        wait_until(lambda: listener.seconds >= 2.5)
        samples = joined(listener.chunks)[RATE // 2 : 2 * RATE]
        assert loudest_hz(samples, RATE) == pytest.approx(1000, abs=1)
        assert amplitude(samples, 1000, RATE) == pytest.approx(0.25, rel=0.01)
        assert amplitude(samples, 300, RATE) < 0.003
        assert source.status.connected
        assert source.status.reconnects == 0
        assert (source.status.rate_in, source.status.channels_in) == (48_000, 2)
        last = listener.chunks[-1]
        assert abs(last.time - time.time()) < 3
        assert "secret" not in source.status.message

        server.kill()
        wait_until(lambda: not source.status.connected)
        assert "secret" not in source.status.message
        before = len(listener.chunks)
        serve(port, kind, codec)
        wait_until(lambda: len(listener.chunks) > before + 6)
        assert [chunk.gap > 0 for chunk in listener.chunks[before : before + 6]] == [True] + [
            False
        ] * 5
        first, last = listener.chunks[before], listener.chunks[before - 1]
        assert first.gap == pytest.approx(first.time - last.time - 0.25, abs=1e-3)
        assert (source.status.reconnects, source.status.gaps) == (1, 1)
        samples = joined(listener.chunks[before + 1 :])
        assert amplitude(samples, 1000, RATE) == pytest.approx(0.25, rel=0.02)
