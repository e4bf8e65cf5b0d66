"""Operating data by HTTP, and the notice of an upgrade."""

from __future__ import annotations

from serving import of_app

from ssdpt.monitor.store import upgrades
from ssdpt.server.app import create_app

PATH = "/v1/machines/fan-1/operating-data"


def test_operating_data_is_taken_by_put_and_post(client):
    for send in (client.put, client.post):
        machine = send(PATH, json={"running": True, "speed_rpm": 1480}).raise_for_status().json()
        assert machine["operating_data"]["speed_rpm"] == 1480
        assert machine["operating_data"]["load_percent"] is None


def test_bad_operating_data_is_refused_in_a_sentence(client):
    jump = client.put(PATH, json={"speed_rpm": 1e9})
    assert jump.status_code == 409
    assert (
        jump.json()["error"] == "a speed of 1,000,000,000 rpm is not plausible (0 to 100,000 rpm)"
    )
    for bad in ('{"speed_rpm": NaN}', '{"speed": 3}', '{"running": "perhaps"}', "[]"):
        reply = client.put(PATH, content=bad, headers={"Content-Type": "application/json"})
        assert reply.status_code == 422, reply.text
        assert reply.json()["error"]
    unknown = client.put("/v1/machines/none/operating-data", json={"running": True})
    assert unknown.status_code == 404


def test_the_notice_of_an_upgrade_is_shown_until_it_is_dismissed(service, store, monkeypatch):
    client = of_app(create_app(service, store, _settings()))
    assert client.get("/v1/status").json()["upgrade"] is None
    monkeypatch.setattr(upgrades, "__version__", "99.0")
    with store.database.write() as connection:
        upgrades.record_upgrade(store.database, connection, "0003", None)
    notice = client.get("/v1/status").json()["upgrade"]
    assert (notice["to_version"], notice["from_tables"]) == ("99.0", "0003")
    assert client.delete("/v1/upgrade").status_code == 204
    assert client.get("/v1/status").json()["upgrade"] is None


def _settings():
    from ssdpt.server.settings import ServerSettings

    return ServerSettings()
