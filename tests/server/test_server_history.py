"""Notes, details and search of events, and the weekly report by HTTP."""

from __future__ import annotations

import pytest
from examples import EVENT
from serving import bearer

NOTES = "/v1/machines/fan-1/notes"
NOTE = {"at": 1.79e9, "kind": "repair", "text": "bearing changed"}


def test_notes_are_added_changed_and_removed(client):
    (first,) = client.get(NOTES).json()
    reply = client.post(NOTES, json=NOTE)
    assert reply.status_code == 201
    note = reply.json()
    assert (note["machine"], note["who"], note["kind"]) == ("fan-1", "local", "repair")
    begin, end = note["at"], note["at"] + 1
    assert client.get(f"{NOTES}?begin={begin}&end={end}").json() == [note]
    assert {one["id"] for one in client.get(NOTES).json()} == {first["id"], note["id"]}
    place = f"{NOTES}/{note['id']}"
    changed = client.put(place, json={**NOTE, "text": "belt changed"})
    assert changed.json()["text"] == "belt changed"
    assert client.put(f"/v1/machines/pump_2/notes/{note['id']}", json=NOTE).status_code == 404
    assert [client.delete(place).status_code for _ in range(2)] == [204, 204]
    assert [one["id"] for one in client.get(NOTES).json()] == [first["id"]]
    gone = client.put(place, json=NOTE)
    assert gone.status_code == 404
    assert gone.json()["error"].endswith("someone may have removed it")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**NOTE, "text": ""},
        {**NOTE, "text": "x" * 4001},
        {**NOTE, "kind": "party"},
        {**NOTE, "at": -1},
        {**NOTE, "at": 1e300},
        {**NOTE, "who": "someone else"},
    ],
)
def test_bad_notes_are_refused(client, body):
    assert client.post(NOTES, json=body).status_code == 422
    reply = client.post(NOTES, json={**NOTE, "text": "  \n"}).json()
    assert reply["error"] == "the note is empty; write what was done"


def test_a_viewer_reads_notes_and_writes_none(network, tokens):
    headers = bearer(tokens["viewer"])
    assert network.get(NOTES, headers=headers).status_code == 200
    assert network.post(NOTES, json=NOTE, headers=headers).status_code == 403


def test_cause_work_order_and_fault(client):
    place = f"/v1/events/{EVENT}"
    details = {"cause": "dry bearing", "work_order": "WO-1"}
    event = client.put(f"{place}/details", json=details).json()
    assert (event["cause"], event["work_order"], event["fault"]) == ("dry bearing", "WO-1", "")
    event = client.put(f"{place}/details", json={"fault": "loose belt"}).json()
    assert (event["cause"], event["fault"]) == ("dry bearing", "loose belt")  # others stay
    known = client.get("/v1/events/suggestions").json()
    assert known == {"causes": ["dry bearing"], "faults": ["loose belt"]}
    csv = client.get("/v1/export?what=events&format=csv").text.splitlines()
    assert csv[0].endswith("cause,work_order,fault,looks_like")
    assert csv[1].endswith("dry bearing,WO-1,loose belt,loose belt")
    assert client.put(f"{place}/details", json={"cause": "x" * 1001}).status_code == 422
    missing = client.put(f"/v1/events/{'0' * 32}/details", json={"cause": "x"})
    assert missing.status_code == 404


def test_what_was_recognised_is_confirmed_or_rejected(client):
    place = f"/v1/events/{EVENT}"
    assert client.get(place).json()["looks_like"]["fault"] == "loose belt"
    assert client.post(f"{place}/recognition", json={"right": True}).json()["fault"] == "loose belt"
    assert client.post(f"{place}/recognition", json={"right": False}).json()["looks_like"] is None


def test_events_are_searched_and_grouped(client):
    def found(query):
        reply = client.get(f"/v1/events?{query}")
        assert reply.status_code == 200, reply.text
        return [one["machine"] for one in reply.json()]

    assert found("text=UNUSUAL") == ["fan-1", "pump_2"]
    assert found("text=pump_2") == ["pump_2"]
    assert found("fault=loose belt") == ["fan-1"]
    assert found("unnamed=true") == ["pump_2"]
    assert found("label=none&level=alarm") == ["fan-1", "pump_2"]
    assert found("text=%25") == found("text=%27") == []
    assert len(found("text=%00")) == 2  # nothing that a text could contain
    groups = client.get("/v1/events/groups").json()
    assert [(one["machine"], one["fault"]) for one in groups] == [
        ("fan-1", "loose belt"),
        ("pump_2", ""),
    ]
    assert client.get(f"/v1/events?text={'x' * 201}").status_code == 422
    assert client.get("/v1/events?label=odd").status_code == 422


def test_the_report_of_a_week(client):
    report = client.get("/v1/report?week=2026-W38").json()
    assert (report["week"], report["is_over"]) == ("2026-W38", True)
    reply = client.get("/v1/report.pdf")
    assert reply.headers["content-type"] == "application/pdf"
    assert "report-2026-W38.pdf" in reply.headers["content-disposition"]
    assert reply.content.startswith(b"%PDF-")


@pytest.mark.parametrize("week", ["", "2026", "2026-W99", "W46", "x" * 20])
@pytest.mark.parametrize("path", ["/v1/report", "/v1/report.pdf"])
def test_what_is_no_week_is_said(client, path, week):
    reply = client.get(path, params={"week": week})
    assert reply.status_code == 422
    assert "is not a week; an example is 2026-W46" in reply.json()["error"]
