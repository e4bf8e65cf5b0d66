"""Many clients of the live stream in one process: they read as fast as it comes.

    python -m ssdpt.bench.load.stream_readers http://127.0.0.1:8765 50

ends when its input is closed, and prints what was read as JSON. A process of its own, so that the
clients do not slow down whoever measures.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
from urllib.parse import urlsplit

_BUFFER = 2**16  # bytes
_REQUEST = "GET /v1/live HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n"


def read_streams(address: str, clients: int) -> dict[str, int]:
    """Read until standard input ends; gives the bytes, and how many clients were disconnected."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    count = lost = 0
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin, selectors.EVENT_READ)
        for _ in range(clients):
            connection = socket.create_connection((parts.hostname, parts.port or 80))
            connection.sendall(_REQUEST.format(host=parts.netloc).encode("ascii"))
            selector.register(connection, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if not isinstance(key.fileobj, socket.socket):
                    return {"bytes": count, "clients": clients, "disconnected": lost}
                piece = _received(key.fileobj)
                count += len(piece)
                if not piece:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    lost += 1


def _received(connection: socket.socket) -> bytes:
    """Nothing where the connection has ended."""
    try:
        return connection.recv(_BUFFER)
    except OSError:
        return b""


if __name__ == "__main__":
    print(json.dumps(read_streams(sys.argv[1], int(sys.argv[2]))))
