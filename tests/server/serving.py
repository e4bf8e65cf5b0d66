"""Servers for tests: without a network, or real ones on a free port."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import warnings

import numpy as np
import soundfile
from examples import EVENT, RECORDING, TRIAL

from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.app import create_app
from ssdpt.server.run import listening, new_server
from waiting import wait_until

with warnings.catch_warnings():
    # It asks for a newer client library, and works with this one.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

ROLES = ("viewer", "operator", "admin")
PASSWORD = "correct horse"
HERE = "http://127.0.0.1"


def flac(seconds, rate=16000, channels=1, kind="FLAC"):
    content = io.BytesIO()
    samples = 0.1 * np.random.default_rng(0).standard_normal((int(seconds * rate), channels))
    soundfile.write(content, samples.astype(np.float32), rate, format=kind)
    return content.getvalue()


# The role that each route requires, and a body that it accepts. None: open to everyone.
MACHINE = {"id": "new", "source": {"kind": "pushed"}}
NOTE = {"at": 1.79e9, "kind": "repair", "text": "bearing changed"}
USER = {"name": "bob", "role": "viewer", "password": PASSWORD}
CHANGED = {"id": "fan-1", "name": "Roof fan", "source": {"kind": "pushed"}}
OWN_PASSWORD = {"old_password": PASSWORD, "password": "another one"}
ROUTES = {
    ("GET", "/healthz"): (None, None),
    ("GET", "/readyz"): (None, None),
    ("POST", "/v1/session"): (None, {"name": "viewer", "password": PASSWORD}),
    ("GET", "/metrics"): ("viewer", None),
    ("GET", "/docs"): ("viewer", None),
    ("GET", "/openapi.json"): ("viewer", None),
    ("GET", "/v1/session"): ("viewer", None),
    ("DELETE", "/v1/session"): ("viewer", None),
    ("PUT", "/v1/session/password"): ("viewer", OWN_PASSWORD),
    ("GET", "/v1/status"): ("viewer", None),
    ("GET", "/v1/models"): ("viewer", None),
    ("GET", "/v1/machines"): ("viewer", None),
    ("GET", "/v1/machines/{machine}"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/trend"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/bands"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/lines"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/analysis"): ("viewer", None),
    ("GET", "/v1/bearings"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/spectrum"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/spectrogram"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/sound"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/normal.flac"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/thresholds"): ("viewer", None),
    ("GET", "/v1/events"): ("viewer", None),
    ("GET", "/v1/events/{event}"): ("viewer", None),
    ("GET", "/v1/events/{event}/audio"): ("viewer", None),
    ("GET", "/v1/events/{event}/spectrogram"): ("viewer", None),
    ("GET", "/v1/events/groups"): ("viewer", None),
    ("GET", "/v1/events/suggestions"): ("viewer", None),
    ("GET", "/v1/events/{event}/lines"): ("viewer", None),
    ("GET", "/v1/events/{event}/analysis"): ("viewer", None),
    ("GET", "/v1/events/{event}/picture.png"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/recordings"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/recordings/{recording}/audio"): ("viewer", None),
    ("GET", "/v1/export"): ("viewer", None),
    ("GET", "/v1/report"): ("viewer", None),
    ("GET", "/v1/report.pdf"): ("viewer", None),
    ("GET", "/v1/machines/{machine}/notes"): ("viewer", None),
    ("POST", "/v1/events/{event}/acknowledge"): ("operator", {"comment": "seen"}),
    ("POST", "/v1/events/{event}/comment"): ("operator", {"text": "greased"}),
    ("POST", "/v1/events/{event}/label"): ("operator", {"label": "fault"}),
    ("PUT", "/v1/events/{event}/details"): ("operator", {"cause": "dry bearing"}),
    ("POST", "/v1/events/{event}/recognition"): ("operator", {"right": True}),
    ("POST", "/v1/machines/{machine}/notes"): ("operator", NOTE),
    ("PUT", "/v1/machines/{machine}/notes/{note}"): ("operator", NOTE),
    ("DELETE", "/v1/machines/{machine}/notes/{note}"): ("operator", None),
    ("POST", "/v1/machines/{machine}/mute"): ("operator", {"minutes": 5}),
    ("DELETE", "/v1/machines/{machine}/mute"): ("operator", None),
    ("POST", "/v1/machines/{machine}/commission"): ("operator", {"healthy": True}),
    ("POST", "/v1/machines/{machine}/audio"): ("operator", flac(0.1)),
    ("PUT", "/v1/machines/{machine}/operating-data"): ("operator", {"running": True}),
    ("POST", "/v1/machines/{machine}/operating-data"): ("operator", {"speed_rpm": 1480}),
    ("DELETE", "/v1/upgrade"): ("viewer", None),
    ("POST", "/v1/machines/{machine}/recordings"): ("operator", {"minutes": 10}),
    ("DELETE", "/v1/machines/{machine}/recordings/{recording}"): ("admin", None),
    ("POST", "/v1/machines/{machine}/accept-drift"): ("admin", None),
    ("POST", "/v1/machines/{machine}/learn"): ("admin", {"minutes": 5}),
    ("DELETE", "/v1/machines/{machine}/learn"): ("admin", None),
    ("PUT", "/v1/machines/{machine}/operating-points/{number}"): ("admin", {"name": "idling"}),
    ("PUT", "/v1/machines/{machine}/thresholds"): ("admin", {"false_alerts_per_week": 2}),
    ("POST", "/v1/machines"): ("admin", MACHINE),
    ("DELETE", "/v1/machines/{machine}"): ("admin", None),
    ("GET", "/v1/microphones"): ("admin", None),
    ("POST", "/v1/trials"): ("admin", MACHINE),
    ("GET", "/v1/trials/{trial}"): ("admin", None),
    ("DELETE", "/v1/trials/{trial}"): ("admin", None),
    ("GET", "/v1/machines/{machine}/settings"): ("admin", None),
    ("DELETE", "/v1/machines/{machine}/settings"): ("admin", None),
    ("POST", "/v1/machines/{machine}/settings/effect"): ("admin", CHANGED),
    ("PUT", "/v1/machines/{machine}"): ("admin", CHANGED),
    ("GET", "/v1/backup"): ("admin", None),
    ("GET", "/v1/backup/size"): ("admin", None),
    ("GET", "/v1/outputs"): ("viewer", None),
    ("POST", "/v1/outputs/{number}/test"): ("admin", None),
    ("GET", "/v1/actions"): ("admin", None),
    ("GET", "/v1/users"): ("admin", None),
    ("POST", "/v1/users"): ("admin", USER),
    ("PUT", "/v1/users/{name}/role"): ("admin", {"role": "operator"}),
    ("PUT", "/v1/users/{name}/password"): ("admin", {"password": "another one"}),
    ("DELETE", "/v1/users/{name}"): ("admin", None),
}
# Routes without an end, which need a real server, and the role that each requires.
STREAMS = {
    ("GET", "/v1/live"): "viewer",
    ("WEBSOCKET", "/v1/machines/{machine}/pcm"): "operator",
    ("WEBSOCKET", "/v1/machines/{machine}/listen"): "viewer",
    ("WEBSOCKET", "/v1/trials/{trial}/listen"): "admin",
}


def of_app(app, address=f"{HERE}:8765"):
    return TestClient(app, address, raise_server_exceptions=False)


def unavailable(*_, **__):
    """In place of any method of a store."""
    raise StoreUnavailable("the database does not answer")


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@contextlib.contextmanager
def running(service, store, settings):
    """A real server on a free port; gives its port and the server."""
    settings = settings.model_copy(update={"port": 0})
    app = create_app(service, store, settings)
    with listening(settings) as listener:
        server = new_server(app, settings, listener.limits)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            wait_until(lambda: server.started, "the server has started")
            yield listener.getsockname()[1], server
        finally:
            server.should_exit = True
            thread.join(60.0)
            assert not thread.is_alive()


def connect(port):
    """A plain connection: what is sent is what arrives."""
    return socket.create_connection(("127.0.0.1", port), timeout=60.0)


def ask(client, route, **more):
    """Send a request that the route accepts."""
    method, path = route
    names = {"machine": "fan-1", "event": EVENT, "name": "viewer", "trial": TRIAL}
    path = path.format(**names, recording=RECORDING, number=1, note=1)
    if path.endswith("/thresholds") and method == "GET":
        path += "?false_alerts_per_week=2"
    body = ROUTES[route][1]
    sent = {"content": body} if isinstance(body, bytes) else {"json": body} if body else {}
    return client.request(method, path, **sent, **more)
