"""Machines that are added by HTTP: none of them names a file of the service's computer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ssdpt.monitor.config import SourceSettings
from ssdpt.monitor.sources.network_source import STREAM_SCHEMES

PAGE = Path(__file__).parents[2] / "web" / "src" / "lib" / "sources.ts"
REFUSED = {
    "folder": {"kind": "folder", "path": "/etc"},
    "replay": {"kind": "replay", "path": "/etc/passwd", "loop": True},
    "a file": {"kind": "network", "url": "/etc/passwd"},
    "a file beside it": {"kind": "network", "url": "passwd"},
    "file address": {"kind": "network", "url": "file:///etc/passwd"},
    "short file address": {"kind": "network", "url": "file:/etc/passwd"},
    "file with an address in it": {"kind": "network", "url": "/srv/rtsp://camera/sound.wav"},
    "files joined": {"kind": "network", "url": "concat:/etc/passwd|http://camera"},
    "part of a file": {"kind": "network", "url": "subfile,,start,0,end,9,,:http://camera"},
    "another scheme": {"kind": "network", "url": "data://audio/wav;base64,"},
    "no address": {"kind": "network", "url": ""},
}


def add(client, **more):
    settings = {"id": "new", "source": {"kind": "pushed"}, **more}
    return client.post("/v1/machines", json=settings)


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_a_source_that_reads_files_is_refused(client, service, store, source):
    reply = add(client, source=source)
    assert reply.status_code == 409
    assert reply.json()["error"].startswith("machine new: ")
    assert reply.json()["error"].endswith("name it in the configuration file")
    assert "new" not in service.machines
    assert store.actions() == []


@pytest.mark.parametrize("model", ["models/pump", "/srv/models/pump", "."])
def test_a_model_is_refused(client, service, model):
    reply = add(client, model=model)
    assert reply.status_code == 409
    assert "a model is a folder" in reply.json()["error"]
    assert "new" not in service.machines


@pytest.mark.parametrize("scheme", STREAM_SCHEMES)
def test_an_address_of_a_stream_is_taken(client, service, scheme):
    url = f"{scheme}://ann:secret@camera.example:554/audio?channel=1"
    assert add(client, source={"kind": "network", "url": url}).status_code == 201
    assert service.machines["new"].source.kind == "network"


def test_the_page_offers_what_is_taken(client):
    kinds = set(SourceSettings.registry.names())
    offered = re.findall(r"^  source\('(\w+)'", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {"microphone", "network", "pushed", "simulated"} <= set(offered) <= kinds
    assert not {"folder", "replay"} & set(offered)
    needs = {
        "network": {"url": "http://camera.example/"},
        "mqtt": {"host": "broker.example", "topic": "hall-a/pump-1"},
    }
    for kind in offered:
        source = {"kind": kind, **needs.get(kind, {})}
        sensor = {"snapshots": kind == "mqtt"}  # it carries nothing else
        assert add(client, id=f"new-{kind}", source=source, sensor=sensor).status_code == 201
