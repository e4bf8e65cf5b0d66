"""A connection to a server that can freeze: open, but nothing comes any more."""

from __future__ import annotations

import contextlib
import socket
import threading


class FreezableProxy:
    """Passes bytes on between clients and a server on this computer, until it is frozen."""

    def __init__(self, port):
        self._server = ("127.0.0.1", port)
        self._flows = threading.Event()
        self._flows.set()
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.thaw()
        self._listener.close()
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def freeze(self):
        self._flows.clear()

    def thaw(self):
        self._flows.set()

    def _accept(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._sockets += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
