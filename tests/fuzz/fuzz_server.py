"""The server in this process, without a network: requests and messages go in as ASGI."""

from __future__ import annotations

import asyncio
import io
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import examples
import soundfile
from fake_service import FakeService
from serving import PASSWORD, ROLES

from ssdpt.monitor.store import Store
from ssdpt.monitor.store import users as store_users
from ssdpt.server.app import create_app
from ssdpt.server.settings import ServerSettings

_PATIENCE = 0.1  # seconds from the beginning of a reply until the client leaves


class AsgiServer:
    """A server with a fake service and a real store.

    For anyone at this computer; with `users` for a network, and a user of each role.
    """

    def __init__(self, folder: Path, *, users: bool = False) -> None:
        store_users._COST = (2**4, 8, 1)  # hashing is slow on purpose
        (folder / "page" / "assets").mkdir(parents=True)
        (folder / "page" / "index.html").write_text("<!doctype html><title>plant</title>")
        self._store = Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder)
        _add_history(self._store)
        self.tokens = self.renew_users() if users else {}
        self._service = FakeService(self._store)
        self._machines = dict(self._service.machines)
        settings = ServerSettings(page=folder / "page", host="0.0.0.0" if users else "127.0.0.1")
        self._app = create_app(self._service, self._store, settings)
        self._loop = asyncio.new_event_loop()
        self._lifespan = self._app.router.lifespan_context(self._app)
        self._loop.run_until_complete(self._lifespan.__aenter__())

    def renew(self) -> None:
        """The machines and users of the beginning again."""
        self._service.machines = dict(self._machines)
        self.tokens = self.renew_users()

    def renew_users(self) -> dict[str, str]:
        """A user of each role, called like it; their tokens."""
        for user in self._store.users():
            if user.role != "admin":
                self._store.remove_user(user.name)
        known = {user.name for user in self._store.users()}
        for role in ROLES:
            if role not in known:
                self._store.add_user(role, role, PASSWORD)
        return {role: self._store.new_token(role, None) for role in ROLES}

    def request(
        self, method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> tuple[int, dict[bytes, bytes], bytes]:
        """Status, headers and body of the reply."""
        scope = self._scope("http", target, headers)
        scope["method"] = method
        waiting = [
            {"type": "http.request", "body": body, "more_body": False},
            {"type": "http.disconnect"},
        ]
        sent = self._run(scope, waiting)
        start = next(message for message in sent if message["type"] == "http.response.start")
        content = b"".join(message.get("body", b"") for message in sent)
        return start["status"], dict(start["headers"]), content

    def socket(self, target: bytes, messages: list[bytes | str]) -> list[dict[str, Any]]:
        """What a WebSocket is sent that sends these messages and leaves."""
        waiting: list[dict[str, Any]] = [{"type": "websocket.connect"}]
        for one in messages:
            waiting.append({"type": "websocket.receive", _kind(one): one})
        waiting.append({"type": "websocket.disconnect", "code": 1000})
        return self._run(self._scope("websocket", target, []), waiting)

    def _scope(
        self, kind: str, target: bytes, headers: list[tuple[bytes, bytes]]
    ) -> dict[str, Any]:
        path, _, query = target.partition(b"?")
        return {
            "type": kind,
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http" if kind == "http" else "ws",
            "path": unquote_to_bytes(path).decode("utf-8", "replace"),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": [(b"host", b"localhost:8765"), *headers],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8765),
            "subprotocols": [],
        }

    def _run(self, scope: dict[str, Any], waiting: list[dict[str, Any]]) -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []
        replied = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if len(waiting) > 1:
                return waiting.pop(0)
            await replied.wait()
            if scope["type"] == "http":
                await asyncio.sleep(_PATIENCE)  # some replies have no end
            return waiting[0]

        async def send(message: Any) -> None:
            sent.append(message)
            replied.set()

        self._loop.run_until_complete(self._app(scope, receive, send))
        return sent


def _kind(message: bytes | str) -> str:
    return "text" if isinstance(message, str) else "bytes"


def _add_history(store: Store) -> None:
    now = time.time()
    store.add_readings([examples.reading(time=now - 30 + n) for n in range(30)])
    event = examples.event_with_everything(
        began=now - 60, audio_begin=now - 70, looks_like=examples.looks_like()
    )
    store.save_event(event)
    store.add_note("fan-1", now - 30, "repair", "bearing changed", who="ann", now=now)
    file = io.BytesIO()
    soundfile.write(file, [0.0, 0.1] * 800, 16000, format="FLAC")
    store.attach(examples.EVENT, "audio", file.getvalue(), ".flac")
    store.attach(examples.EVENT, "spectrogram", b"picture", ".bin")
    store.keep_recording(examples.kept_recording(), file.getvalue(), ".flac")
