"""The answers of a real service have the shape that its OpenAPI description promises."""

from __future__ import annotations

import json

import httpx
import pytest
from monitor_service import ConfiguredService

from openapi_check import OpenApiCheck

SPEED = 16.0  # of the service's clock
WHOLE = (
    *("healthz", "readyz", "v1/status", "v1/models", "v1/session", "v1/users", "v1/outputs"),
    *("v1/bearings", "v1/microphones", "v1/report", "v1/backup/size"),
    *("v1/events/groups", "v1/events/suggestions"),
)
# Few values of each: every one of them is checked.
PARTS = (
    *("", "/trend?points=60", "/bands?points=60", "/spectrum", "/spectrogram?seconds=5"),
    *("/sound", "/normal.flac", "/settings", "/analysis", "/lines", "/notes", "/recordings"),
    "/thresholds?false_alerts_per_week=2",
)


@pytest.fixture(scope="module")
def plant(command, tmp_path_factory):
    """A pump whose first alarm was recorded, a fan that learns, and a press that is never heard."""
    simulated = {"kind": "simulated", "seed": 7, "speed": SPEED}
    machines = [
        {
            **{"id": "pump", "name": "Pump", "site": "Hall A", "alarm": {"smoothing": 5.0}},
            # Six clips may describe a pump so widely that its fault is no alarm.
            "source": {**simulated, "machine": "fan"},
            "machine_data": {"speed_rpm": 1480, "blades": 6},
        },
        {"id": "fan", "source": {**simulated, "machine": "fan"}},
        {"id": "press", "source": {"kind": "pushed"}},
    ]
    config = {"name": "Works", "speed": SPEED, "machines": machines}
    with ConfiguredService(command, tmp_path_factory.mktemp("plant"), config) as service:
        service.learn("pump")
        service.post("v1/machines/fan/learn", json={"minutes": 60})
        service.alarm_of("pump")
        yield service


@pytest.fixture
def client(plant):
    with httpx.Client(base_url=plant.address, timeout=60) as client:
        yield client


@pytest.fixture
def openapi(client):
    return OpenApiCheck(client.get("openapi.json").json())


def test_what_is_read(client, openapi):
    for path in WHOLE:
        openapi.check(client.get(path))
    machines = client.get("v1/machines").json()
    assert len(machines) == 3
    for machine in machines:
        for part in PARTS:
            openapi.check(client.get(f"v1/machines/{machine['id']}{part}"))
    events = client.get("v1/events")
    openapi.check(events)
    for event in events.json():
        for part in ("", "/spectrogram", "/audio", "/lines", "/analysis", "/picture.png"):
            openapi.check(client.get(f"v1/events/{event['id']}{part}"))


def test_what_is_changed(client, openapi):
    path = "v1/machines/pump"
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
        httpx.post(f"{client.base_url}v1/machines/pump/mute", json={"minutes": 1})
        httpx.post(f"{client.base_url}v1/events/{event}/comment", json={"text": "quiet again"})
        while not {"reading", "machine", "event"} <= names:
            name, data, _ = next(lines), next(lines), next(lines)
            names.add(name.removeprefix("event: "))
            openapi.check_live(
                name.removeprefix("event: "), json.loads(data.removeprefix("data: "))
            )
