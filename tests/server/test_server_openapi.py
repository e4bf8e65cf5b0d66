"""What the server sends has the shape that its OpenAPI description promises."""

from __future__ import annotations

import json
import math
from pathlib import Path

import examples
import jsonschema
import pytest
from fixtures import fixtures
from serving import ROUTES, ask, bearer

from openapi_check import OpenApiCheck
from ssdpt.monitor.messages import (
    EventChanged,
    MachineChanged,
    MachineRemoved,
    ReadingTaken,
    ServiceChanged,
)
from ssdpt.server.live_messages import encode
from ssdpt.server.openapi import openapi_json

WEB = Path(__file__).parents[2] / "web"


@pytest.fixture(scope="module")
def openapi():
    return OpenApiCheck(json.loads(openapi_json()))


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route[1] not in ("/docs", "/openapi.json")], ids=" ".join
)
def test_answers_have_the_described_shape(network, tokens, openapi, route):
    reply = ask(network, route, headers=bearer(tokens["admin"]))
    assert reply.is_success, reply.text
    openapi.check(reply)
    assert b"NaN" not in reply.content
    assert b"Infinity" not in reply.content


def test_machines_in_every_condition_have_the_described_shape(client, service, openapi):
    for path in ("/v1/status", "/v1/machines", "/v1/machines/pump_2"):
        openapi.check(client.get(path))
    service.start_learning("fan-1", 5)
    service.machines["fan-1"] = service.machines["fan-1"].model_copy(
        update={"last_event": examples.event(), "thresholds": None, "operating_points": ()}
    )
    openapi.check(client.get("/v1/machines/fan-1"))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/machines/none", 404),
        ("GET", "/v1/machines/fan-1/trend?points=0", 422),
        ("POST", "/v1/machines/fan-1/mute", 422),
        ("PUT", "/v1/machines/fan-1/operating-points/9", 422),
    ],
)
def test_errors_have_the_described_shape(client, openapi, method, path, status):
    reply = client.request(method, path)
    assert reply.status_code == status
    openapi.check(reply)


def test_a_service_that_is_not_ready_has_the_described_shape(client, service, openapi):
    service.ready = False
    reply = client.get("/readyz")
    assert reply.status_code == 503
    openapi.check(reply)


@pytest.mark.parametrize(
    ("name", "update"),
    [
        ("machine", MachineChanged(status=examples.machine(level_dbfs=-math.inf))),
        ("reading", ReadingTaken(reading=examples.reading(level_dbfs=-math.inf, score=math.nan))),
        ("event", EventChanged(event=examples.event())),
        ("removed", MachineRemoved(machine="fan-1")),
        ("service", ServiceChanged(status=examples.service_status())),
    ],
)
def test_live_messages_have_the_described_shape(openapi, name, update):
    first, second, *rest = encode(update).decode().split("\n")
    assert (first, rest) == (f"event: {name}", ["", ""])
    openapi.check_live(name, json.loads(second.removeprefix("data: ")))


def test_a_wrong_shape_is_noticed(openapi):
    with pytest.raises(jsonschema.ValidationError):
        openapi.check_live("reading", {"machine": "fan-1"})
    wrong = {**json.loads(examples.machine().model_dump_json()), "more": 1}
    with pytest.raises(jsonschema.ValidationError):
        openapi.check_live("machine", wrong)


def test_the_page_is_built_from_this_description():
    """`make page` writes both again."""
    assert (WEB / "openapi.json").read_text("utf-8") == openapi_json()
    assert json.loads((WEB / "mock" / "fixtures.json").read_text("utf-8")) == fixtures()
