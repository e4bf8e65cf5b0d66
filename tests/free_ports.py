"""Ports for servers of tests that cannot choose one themselves."""

from __future__ import annotations

import random
import socket

# Below the range from which Linux takes the ports of outgoing connections and of port 0, so that
# nothing else gets a port between this call and the start of the server, or while it restarts.
_FIRST, _LAST = 10_100, 32_000
_RANDOM = random.SystemRandom()  # processes that run in parallel must choose different ports


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses."""
    while True:
        port = _RANDOM.randint(_FIRST, _LAST)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
