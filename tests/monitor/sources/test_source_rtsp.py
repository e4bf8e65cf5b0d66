"""RTSP from a fake camera: it sends a tone as RTP, and some packets are lost."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

import numpy as np
import pytest
from hand_clock import Listener, amplitude, ends_meet, joined, loudest_hz, tone

from ssdpt.monitor.sources import open_source
from ssdpt.monitor.sources.network_source import NetworkSettings
from waiting import wait_until

RATE = 16_000
PACKET = 320  # samples


class Camera:
    """Answers one client at a time, and sends `seconds` of a tone to each over its connection."""

    def __init__(self, seconds, lost=(0.0, 0.0)):
        self.seconds = seconds
        self.lost = lost  # from, to: seconds that never arrive
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"rtsp://127.0.0.1:{self.socket.getsockname()[1]}/machine"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.clients = 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(60)
        assert not self.thread.is_alive()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.socket.accept()
                self.clients += 1
                with (
                    contextlib.suppress(OSError),
                    client,
                    client.makefile("rw", newline="\r\n") as lines,
                ):
                    self.answer(client, lines)

    def answer(self, client, lines):
        while line := lines.readline():
            method, fields = line.split()[0], {}
            while header := lines.readline().strip():
                name, _, value = header.partition(":")
                fields[name.lower()] = value.strip()
            body = ""
            extra = {"CSeq": fields["cseq"], "Session": "1"}
            if method == "OPTIONS":
                extra["Public"] = "OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN"
            elif method == "DESCRIBE":
                extra["Content-Type"] = "application/sdp"
                body = (
                    "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=machine\r\nt=0 0\r\n"
                    "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 L16/16000/1\r\na=control:track1\r\n"
                )
            elif method == "SETUP":
                assert "TCP" in fields["transport"]
                extra["Transport"] = "RTP/AVP/TCP;unicast;interleaved=0-1"
            head = "".join(f"{name}: {value}\r\n" for name, value in extra.items())
            answer = f"RTSP/1.0 200 OK\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}"
            client.sendall(answer.encode())
            if method == "PLAY":
                self.send(client)
                return

    def send(self, client):
        sound = (tone(1000, self.seconds, RATE) * 32768).astype(">i2")
        for number, start in enumerate(range(0, len(sound), PACKET)):
            if self.lost[0] <= start / RATE < self.lost[1]:
                continue
            header = struct.pack(">BBHII", 0x80, 97, number & 0xFFFF, start, 1)
            packet = header + sound[start : start + PACKET].tobytes()
            client.sendall(struct.pack(">cBH", b"$", 0, len(packet)) + packet)


def test_a_camera_is_received_and_lost_packets_are_reported():
    with Camera(4.0, lost=(1.6, 2.6)) as camera:
        source = open_source(NetworkSettings(url=camera.url, timeout=30), RATE)
        with Listener(source) as listener:
            wait_until(lambda: listener.seconds >= 2.9)
            wait_until(lambda: source.status.reconnects == 1)
    own = listener.chunks[: [chunk.gap > 0 for chunk in listener.chunks].index(True) + 5]
    gaps = [chunk.gap for chunk in own if chunk.gap]
    assert gaps == [pytest.approx(1.0, abs=0.01)]
    before = [chunk for chunk in own if chunk.time < own[0].time + 1.7]
    assert ends_meet(before, RATE)
    samples = joined(before)
    assert len(samples) == pytest.approx(1.6 * RATE, abs=10)
    assert loudest_hz(samples, RATE) == pytest.approx(1000, abs=2)
    assert amplitude(samples, 1000, RATE) == pytest.approx(0.25, rel=0.01)
    assert np.abs(samples).max() < 0.26
