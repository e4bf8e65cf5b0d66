"""The answers of a real service have the shape that its OpenAPI description promises."""

from __future__ import annotations

import json

import httpx
import pytest
from monitor_service import Service

from openapi_check import OpenApiCheck
from waiting import wait_until

PARTS = (
    *("", "/trend", "/bands", "/spectrum", "/spectrogram", "/sound", "/normal.flac"),
    "/thresholds?false_alerts_per_week=2",
)


@pytest.fixture(scope="module")
def demo(command, tmp_path_factory):
    """The demo after its first alarm was recorded."""
    with Service(command, tmp_path_factory.mktemp("demo"), "--demo", "--speed", 8) as service:
        wait_until(
            lambda: any(event["has_audio"] for event in service.events("coolant-pump-1")),
            "the first alarm is recorded",
            timeout=400,
        )
        yield service


@pytest.fixture
def client(demo):
    with httpx.Client(base_url=demo.address, timeout=30) as client:
        yield client


@pytest.fixture
def openapi(client):
    return OpenApiCheck(client.get("openapi.json").json())


def test_what_is_read(client, openapi):
    for path in ("healthz", "readyz", "v1/status", "v1/models", "v1/session", "v1/users"):
        openapi.check(client.get(path))
    machines = client.get("v1/machines").json()
    assert len(machines) == 6
    for machine in machines:
        for part in PARTS:
            openapi.check(client.get(f"v1/machines/{machine['id']}{part}"))
    events = client.get("v1/events")
    openapi.check(events)
    for event in events.json():
        for part in ("", "/spectrogram", "/audio"):
            openapi.check(client.get(f"v1/events/{event['id']}{part}"))


def test_what_is_changed(client, openapi):
    path = "v1/machines/coolant-pump-2"
    event = client.get("v1/events").json()[0]["id"]
    for method, where, body in (
        ("POST", f"{path}/mute", {"minutes": 1}),
        ("DELETE", f"{path}/mute", None),
        ("PUT", f"{path}/thresholds", {"false_alerts_per_week": 2}),
        ("POST", f"{path}/learn", {"minutes": 60}),
        ("DELETE", f"{path}/learn", None),
        ("POST", f"v1/events/{event}/comment", {"text": "greased"}),
        ("POST", f"v1/events/{event}/acknowledge", {"comment": "seen"}),
        ("POST", "v1/machines", {"id": "new", "source": {"kind": "pushed"}}),
        ("DELETE", "v1/machines/new", None),
    ):
        reply = client.request(method, where, json=body)
        assert reply.is_success, f"{method} {where}: {reply.text}"
        openapi.check(reply)
    openapi.check(client.get("v1/actions"))


def test_what_is_streamed(client, openapi):
    """A reading comes by itself, a machine when it is muted, an event when it is commented."""
    event = client.get("v1/events").json()[0]["id"]
    names = set()
    with client.stream("GET", "v1/live") as reply:
        lines = reply.iter_lines()
        while next(lines):
            pass  # the greeting
        httpx.post(f"{client.base_url}v1/machines/coolant-pump-2/mute", json={"minutes": 1})
        httpx.post(f"{client.base_url}v1/events/{event}/comment", json={"text": "quiet again"})
        while not {"reading", "machine", "event"} <= names:
            name, data, _ = next(lines), next(lines), next(lines)
            names.add(name.removeprefix("event: "))
            openapi.check_live(
                name.removeprefix("event: "), json.loads(data.removeprefix("data: "))
            )
