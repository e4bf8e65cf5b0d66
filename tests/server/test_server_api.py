"""What the routes answer and do."""

from __future__ import annotations

import csv
import io
import itertools
import json
import time

import examples
import numpy as np
import pytest
from examples import EVENT
from PIL import Image
from serving import flac, unavailable

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Event, ReadingTaken, UnknownMachine
from ssdpt.monitor.store import Trend
from ssdpt.server.schemas import TrendReply


def test_silence_has_no_level(client):
    """−∞ dB is no number of JSON."""
    assert client.get("/v1/machines/pump_2").json()["level_dbfs"] is None


def test_scores_are_those_of_the_store(client, store):
    # The store was filled when the first test began, which may be minutes ago.
    first = next(store.readings("fan-1", time.time() - 86400, time.time())).time
    query = f"begin={first - 60}&end={first + 60}&points=120"
    trend = client.get(f"/v1/machines/fan-1/trend?{query}").json()
    assert len(trend["time"]) >= 28
    assert trend["seconds_per_point"] == 1
    assert set(trend["state"]) == {"normal"}
    assert client.get("/v1/machines/pump_2/trend").json()["time"] == []


def test_how_long_it_was_in_alert_and_in_alarm_is_told_by_point():
    """Not the length of the points: 13 s are 13 s in a point of a day, too."""
    day = np.array([86400.0])
    alert, alarm = np.array([20.0]), np.array([13.0])
    reply = TrendReply.of(Trend(86400.0, day, day, day, day, ("alarm",), alert, alarm))
    assert (reply.alert_seconds, reply.alarm_seconds) == ((20.0,), (13.0,))


def test_bands_are_those_of_the_store_with_the_edges_of_the_machine(client, store, monkeypatch):
    asked = []

    class Levels:
        seconds_per_point = 60.0
        time = np.array([120.0, 180.0])
        level_db = np.array([-30.0, -31.0])
        levels_db = np.array([[-40.0, np.nan, -60.0], [np.nan, np.nan, np.nan]])

    def band_trend(*arguments):
        asked.append(arguments)
        return Levels

    monkeypatch.setattr(store, "band_trend", band_trend)
    reply = client.get("/v1/machines/fan-1/bands?begin=100&end=200&points=2").json()
    assert asked == [("fan-1", 100.0, 200.0, 2)]
    assert reply == {
        "seconds_per_point": 60.0,
        "edges_hz": list(examples.EDGES),
        "time": [120.0, 180.0],
        "level_dbfs": [-30.0, -31.0],
        "levels": [[-40.0, None, -60.0], [None, None, None]],
    }
    assert client.get("/v1/machines/pump_2/bands").json()["edges_hz"] == []
    assert client.get("/v1/machines/other/bands").status_code == 404


def test_someone_says_whether_the_machine_is_healthy(client, service, store):
    path = "/v1/machines/fan-1/commission"
    for wrong in ({}, {"healthy": None}, {"healthy": "perhaps"}):
        assert client.post(path, json=wrong).status_code == 422
    answered = client.post(path, json={"healthy": True}).json()
    assert answered["question"] is None
    assert answered["baseline"]["commissioned_at"] == examples.TIME
    assert client.post(path, json={"healthy": False}).json()["baseline"]["commissioned_at"] is None
    assert [(action.what, action.about) for action in store.actions(2)] == [
        ("said that it is not healthy", "fan-1"),
        ("said that it is healthy", "fan-1"),
    ]


def test_invalid_time_ranges(client):
    for query in (
        *("begin=5&end=4", "begin=4&end=4", "begin=nan", "end=inf", "begin=-1", "end=1e300"),
        *("begin=0", "end=0", "begin=x", "points=0", "points=1e9"),
    ):
        reply = client.get(f"/v1/machines/fan-1/trend?{query}")
        assert reply.status_code == 422, query
        assert reply.json()["error"]


def test_events_are_chosen(client, store):
    ids = [event["id"] for event in client.get("/v1/events").json()]
    assert ids == [EVENT, "f" * 32]
    began = client.get(f"/v1/events/{EVENT}").json()["began"]
    for query, found in {
        "machine=pump_2": ["f" * 32],
        "machine=other": [],
        "limit=1": [EVENT],
        f"before={began}": ["f" * 32],
        f"begin={began}": [EVENT],
        "kind=drift": [],
        "open=true": [EVENT, "f" * 32],
    }.items():
        reply = client.get(f"/v1/events?{query}")
        assert [event["id"] for event in reply.json()] == found, query
    for query in ("machine=A'", "kind=other", "limit=0", "limit=1001", "before=nan", "open=maybe"):
        assert client.get(f"/v1/events?{query}").status_code == 422, query


def test_people_deal_with_an_event(client, store):
    """What is answered is in the store, with who did it, and in its trail."""
    path = f"/v1/events/{EVENT}"
    seen = client.post(f"{path}/acknowledge", json={"comment": "on my way"}).json()
    assert seen["state"] == "acknowledged"
    assert seen["acknowledged"]["who"] == "local"
    client.post(f"{path}/comment", json={"text": "greased ✓"})
    done = client.post(f"{path}/label", json={"label": "fault"}).json()
    assert [comment["text"] for comment in done["comments"]] == ["on my way", "greased ✓"]
    assert done["label"] == "fault"
    assert client.get(path).json() == done
    kept = store.event(EVENT)
    assert isinstance(kept, Event)
    assert (kept.label, kept.acknowledged.who) == ("fault", "local")
    assert {action.about for action in store.actions(3)} == {EVENT}


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("comment", {"text": ""}),
        ("comment", {"text": "x" * 4001}),
        ("comment", {}),
        ("comment", [1]),
        ("label", {"label": "broken"}),
        ("acknowledge", {"comment": "a", "who": "someone else"}),
    ],
)
def test_bodies_that_are_refused(client, store, what, body):
    before = store.event(EVENT)
    reply = client.post(f"/v1/events/{EVENT}/{what}", json=body)
    assert reply.status_code == 422
    assert set(reply.json()) == {"error", "sentence"}
    assert store.event(EVENT) == before


@pytest.mark.parametrize("what", ["acknowledge", "comment", "label"])
def test_an_event_that_is_not_there(client, what):
    body = {"acknowledge": {}, "comment": {"text": "a"}, "label": {"label": ""}}[what]
    assert client.post(f"/v1/events/{'a' * 32}/{what}", json=body).status_code == 404
    for part in ("", "/audio", "/spectrogram", "/picture.png"):
        assert client.get(f"/v1/events/{'a' * 32}{part}").status_code == 404


def test_nothing_is_acknowledged_while_the_store_is_away(client, store, monkeypatch):
    before = store.event(EVENT)
    with monkeypatch.context() as patch:
        patch.setattr(store, "acknowledge", unavailable)
        reply = client.post(f"/v1/events/{EVENT}/acknowledge", json={})
        assert (reply.status_code, reply.json()["error"]) == (503, "the database does not answer")
        patch.setattr(store, "events", unavailable)
        assert client.get("/v1/events").status_code == 503
        patch.setattr(store, "attachment", unavailable)
        assert client.get(f"/v1/events/{EVENT}/spectrogram").status_code == 503
    assert store.event(EVENT) == before


def test_what_the_service_cannot_do_now_is_explained(client, service):
    def not_yet(*_):
        raise SsdptError("machine fan-1 has not been judged for long enough yet")

    service.accept_drift = service.normal_sample = service.label = not_yet
    assert client.post("/v1/machines/fan-1/accept-drift").status_code == 409
    assert client.get("/v1/machines/fan-1/normal.flac").status_code == 404
    reply = client.post(f"/v1/events/{EVENT}/label", json={"label": "fault"})
    assert (reply.status_code, "long enough" in reply.text) == (409, True)


def test_an_event_without_a_recording(client):
    for part in ("audio", "spectrogram"):
        reply = client.get(f"/v1/events/{'f' * 32}/{part}")
        assert reply.status_code == 404
        assert "event" in reply.json()["error"]


def test_a_recording_that_was_removed_by_hand(client, store):
    store.attachment(EVENT, "audio").unlink()
    assert client.get(f"/v1/events/{EVENT}/audio").status_code == 404


def test_the_picture_of_an_event_is_an_image_of_the_asked_size(client):
    reply = client.get(f"/v1/events/{EVENT}/picture.png?width=160&height=60&labels=false")
    assert reply.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(reply.content)).size == (160, 60)
    assert client.get(f"/v1/events/{EVENT}/picture.png?width=100000").status_code == 422


def test_recordings_come_in_parts(client):
    path = f"/v1/events/{EVENT}/audio"
    whole = client.get(path)
    assert whole.headers["content-type"] == "audio/flac"
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.content == flac(2.0)
    part = client.get(path, headers={"Range": "bytes=100-199"})
    assert part.status_code == 206
    assert part.content == whole.content[100:200]
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole.content)}"
    beyond = client.get(path, headers={"Range": f"bytes={10**9}-"})
    assert beyond.status_code == 416
    assert beyond.headers["content-range"] == f"bytes */{len(whole.content)}"
    assert beyond.json()["error"]
    invalid = client.get(path, headers={"Range": "seconds=1-2"})
    assert invalid.status_code == 400
    assert invalid.json()["error"]


def test_a_normal_sample_to_compare_with(client, service):
    reply = client.get("/v1/machines/fan-1/normal.flac")
    assert reply.content == service.normal_sample("fan-1")
    assert reply.headers["content-type"] == "audio/flac"


def test_muting_and_thresholds(client, service, store):
    muted = client.post("/v1/machines/fan-1/mute", json={"minutes": 30}).json()
    assert muted["muted_until"] == service.status().now + 1800
    assert client.delete("/v1/machines/fan-1/mute").json()["muted_until"] is None
    client.post("/v1/machines/fan-1/learn", json={"minutes": 10})
    assert service.machines["fan-1"].learning.target_seconds == 600
    preview = client.get("/v1/machines/fan-1/thresholds?false_alerts_per_week=4").json()
    assert service.machines["fan-1"].thresholds.false_alerts_per_week == 1
    assert (
        client.put("/v1/machines/fan-1/thresholds", json={"false_alerts_per_week": 4}).json()
        == preview
    )
    assert service.machines["fan-1"].thresholds.false_alerts_per_week == 4
    did = [(action.what, action.about) for action in store.actions(4)]
    assert did == [
        ("set false alerts per week to 4", "fan-1"),
        ("started learning for 10 min", "fan-1"),
        ("unmuted", "fan-1"),
        ("muted for 30 min", "fan-1"),
    ]
    assert [action["what"] for action in client.get("/v1/actions?limit=2").json()] == [
        did[0][0],
        did[1][0],
    ]


def test_a_machine_is_removed(client, service, store):
    reply = client.delete("/v1/machines/fan-1")
    assert (reply.status_code, reply.content) == (204, b"")
    assert "fan-1" not in service.machines
    assert client.delete("/v1/machines/fan-1").status_code == 404
    assert store.actions(1)[0].what == "removed the machine"


def test_one_that_is_removed_while_it_is_asked_for_is_not_there(client, service):
    def gone(id):
        raise UnknownMachine(id)

    service.spectrum = gone
    reply = client.get("/v1/machines/fan-1/spectrum")
    assert (reply.status_code, reply.json()["error"]) == (404, "there is no such machine")


def test_an_operating_point_is_given_a_name(client):
    path = "/v1/machines/fan-1/operating-points"
    machine = client.put(f"{path}/2", json={"name": "half load"}).json()
    assert [point["name"] for point in machine["operating_points"]] == ["", "half load"]
    assert client.put(f"{path}/3", json={"name": "x"}).status_code == 409
    for wrong in ({"name": "x" * 41}, {}, {"name": None}):
        assert client.put(f"{path}/1", json=wrong).status_code == 422
    assert client.put(f"{path}/one", json={"name": "x"}).status_code == 422


def test_numbers_out_of_bounds(client):
    numbers = (0, -1, "NaN", "Infinity", 1e9, '"1 OR 1=1"', "null")
    takers = (
        ("POST", "mute", "minutes"),
        ("POST", "learn", "minutes"),
        ("PUT", "thresholds", "false_alerts_per_week"),
    )
    for value, (method, path, name) in itertools.product(numbers, takers):
        reply = client.request(
            method,
            f"/v1/machines/fan-1/{path}",
            content=f'{{"{name}": {value}}}',
            headers={"Content-Type": "application/json"},
        )
        assert reply.status_code == 422
        assert reply.json()["error"].startswith(name)


def test_a_machine_is_added(client, service):
    settings = {"id": "new", "name": "New", "site": "Hall 2", "source": {"kind": "pushed"}}
    reply = client.post("/v1/machines", json=settings)
    assert reply.status_code == 201
    assert reply.json()["name"] == "New"
    again = client.post("/v1/machines", json=settings)
    assert (again.status_code, again.json()["error"]) == (
        409,
        "there is a machine called new already",
    )
    for wrong in ({"id": "../x"}, {"id": "A"}, {"source": {"kind": "other"}}, {"more": 1}):
        assert client.post("/v1/machines", json={**settings, **wrong}).status_code == 422
    assert set(service.machines) == {"fan-1", "pump_2", "new"}


def test_a_service_that_is_not_ready(client, service):
    service.ready = False
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_metrics(client, service):
    service.metrics.publish(ReadingTaken(reading=examples.reading(time=time.time(), smoothed=1.5)))
    reply = client.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain")
    assert 'ssdpt_score{machine="fan-1"} 1.5' in reply.text


def test_scores_and_events_as_csv(client, store):
    reply = client.get("/v1/export?machine=fan-1")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    assert reply.headers["content-disposition"] == 'attachment; filename="fan-1-scores.csv"'
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert 28 <= len(rows) <= 30
    assert {row["machine"] for row in rows} == {"fan-1"}
    events = client.get("/v1/export?what=events&begin=1.0e9&end=1.2e9").text
    assert len(events.splitlines()) == 1
    found = list(csv.DictReader(io.StringIO(client.get("/v1/export?what=events").text)))
    assert [row["id"] for row in found] == [EVENT]


def test_an_export_over_midnight_has_every_second_once(client, store):
    """Days are fetched one by one."""
    midnight = 86400.0 * 20000
    times = [midnight - 5 + n for n in range(10)]
    store.add_readings([examples.reading(time=at) for at in times])
    query = f"machine=fan-1&begin={midnight - 100_000}&end={midnight + 100_000}"
    rows = list(csv.DictReader(io.StringIO(client.get(f"/v1/export?{query}").text)))
    assert [float(row["time"]) for row in rows] == times


def test_an_export_of_many_events_has_each_once(client, store, monkeypatch):
    from ssdpt.server.routes import export

    monkeypatch.setattr(export, "_EVENTS_PER_QUERY", 3)
    now = time.time()
    for n in range(10):
        store.save_event(examples.event(f"{n:032x}", began=now - 1000 - n // 2))
    rows = list(csv.DictReader(io.StringIO(client.get("/v1/export?what=events").text)))
    assert len(rows) == len({row["id"] for row in rows}) == 11


def test_scores_as_parquet(client):
    parquet = pytest.importorskip("pyarrow.parquet")
    reply = client.get("/v1/export?machine=fan-1&format=parquet")
    assert parquet.read_table(io.BytesIO(reply.content)).num_rows >= 28


def test_invalid_exports(client):
    assert client.get("/v1/export?machine=none").status_code == 404
    assert client.get("/v1/export?format=xls").status_code == 422


def test_the_documentation_has_every_route(client):
    schema = client.get("/openapi.json").json()
    text = client.get("/docs").text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in text
            assert operation["tags"]
            assert operation["description"], (method, path)
    assert json.dumps(schema).count('"examples"') > 10
