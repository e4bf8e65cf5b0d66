"""A network cable between an MQTT client and its broker that can be cut at the worst moment."""

from __future__ import annotations

import contextlib
import socket
import threading

PUBLISH, PUBACK = 3, 4


class Cable:
    """Passes packets on; swallows the next one about an event on request, and breaks."""

    def __init__(self, port, topic):
        """`port` is the broker's, `topic` that of the events."""
        self._topic = len(topic).to_bytes(2, "big") + topic.encode()
        self._broker = ("127.0.0.1", port)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.cuts = 0
        self._swallow = None  # PUBLISH: it never arrives. PUBACK: it arrives, but nobody says so
        self._event_passed = False
        self._sockets = []
        self._threads = [threading.Thread(target=self._accept)]

    def cut_at(self, kind):
        self._swallow = kind

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self._server.shutdown(socket.SHUT_RDWR)
        self._break(*self._sockets)
        for thread in self._threads:
            thread.join()
        self._server.close()
        for end in self._sockets:
            end.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                broker = socket.create_connection(self._broker)
                self._sockets += [client, broker]
                for ends in ((client, broker), (broker, client)):
                    self._threads.append(threading.Thread(target=self._pass_on, args=ends))
                    self._threads[-1].start()

    def _pass_on(self, source, target):
        with contextlib.suppress(OSError), source.makefile("rb") as stream:
            while packet := _packet(stream):
                kind = packet[0] >> 4
                about_event = kind == PUBLISH and self._topic in packet[: len(self._topic) + 5]
                swallow = about_event if self._swallow == PUBLISH else False
                if self._swallow == PUBACK and kind == PUBACK and self._event_passed:
                    swallow = True
                if swallow:
                    self._swallow, self._event_passed = None, False
                    self.cuts += 1
                    break
                self._event_passed = self._event_passed or about_event
                target.sendall(packet)
        self._break(source, target)

    @staticmethod
    def _break(*ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _packet(stream):
    """One whole MQTT packet; empty at the end."""
    head = stream.read(1)
    length, shift = 0, 0
    while head:
        byte = stream.read(1)
        head += byte
        length |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128:
            return head + stream.read(length)
    return b""
