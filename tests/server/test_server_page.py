"""The page, and what surrounds every reply."""

from __future__ import annotations

import gzip
import json

from serving import of_app

from ssdpt.server.app import create_app


def test_the_page_is_everywhere_it_finds_its_way(client):
    for path in ("/", "/machines/fan-1", "/events/abc/", "/a/b/c", "/index.html"):
        reply = client.get(path)
        assert reply.status_code == 200, path
        assert "<title>plant" in reply.text
        assert reply.headers["content-type"].startswith("text/html")
        assert reply.headers["cache-control"] == "no-cache"


def test_the_page_is_there_before_signing_in(network):
    assert network.get("/").status_code == 200


def test_files_with_hashed_names_are_kept_for_ever(client):
    reply = client.get("/assets/index-B1c2D3.js")
    assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "javascript" in reply.headers["content-type"]
    etag = reply.headers["etag"]
    again = client.get("/assets/index-B1c2D3.js", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    index = client.get("/")
    again = client.get("/", headers={"If-None-Match": index.headers["etag"]})
    assert again.status_code == 304


def test_what_is_not_there_is_not_the_page(client):
    for path in ("/assets/none.js", "/assets/none", "/favicon.png", "/v1/none", "/v1", "/docs/x"):
        reply = client.get(path)
        assert reply.status_code == 404, path
        assert set(reply.json()) == {"error", "sentence"}


def test_a_page_that_was_not_built(service, store, settings, tmp_path):
    app = create_app(service, store, settings.model_copy(update={"page": tmp_path / "none"}))
    with of_app(app) as client:
        reply = client.get("/")
        assert reply.status_code == 404
        assert "built" in reply.json()["error"]
        assert client.get("/v1/status").status_code == 200


def test_every_reply_is_protected(client):
    for path in ("/", "/v1/status", "/v1/none", "/assets/index-B1c2D3.js", "/v1/machines/x"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "script-src" not in policy  # as default-src: only files of ours
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


def test_what_the_api_says_is_not_kept(client):
    assert client.get("/v1/status").headers["cache-control"] == "no-store"


def test_json_is_compressed_and_sound_is_not(client):
    path = "/v1/machines/fan-1/spectrogram?seconds=120"
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as reply:
        assert reply.headers["content-encoding"] == "gzip"
        packed = b"".join(reply.iter_raw())
    columns = json.loads(gzip.decompress(packed))["columns"]
    assert columns == plain.json()["columns"]
    assert len(packed) < len(plain.content) / 2
    sound = client.get("/v1/machines/fan-1/normal.flac", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in sound.headers


def test_methods_that_are_not_there(client):
    for method, path in (
        ("POST", "/v1/status"),
        ("DELETE", "/v1/machines"),
        ("GET", "/v1/machines/fan-1/accept-drift"),
        ("PATCH", "/healthz"),
    ):
        reply = client.request(method, path)
        assert reply.status_code == 405, path
        assert reply.json()["error"]
        assert reply.headers["allow"]
    assert client.post("/").status_code == 404


def test_internal_errors_are_not_disclosed(client, service, caplog):
    def broken():
        raise ZeroDivisionError("a secret of ours")

    service.models = broken
    reply = client.get("/v1/models")
    assert reply.status_code == 500
    assert reply.json()["error"] == "an internal error happened in ssdpt; see its log"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "a secret of ours" in caplog.text


def test_a_body_that_is_no_json(client):
    headers = {"Content-Type": "application/json"}
    reply = client.post("/v1/machines/fan-1/mute", content="{", headers=headers)
    assert reply.json()["error"] == "the body is not valid JSON"
    for body in (b"\xff\xfe", b"[" * 100_000, rb'"\ud800"', b""):
        reply = client.post("/v1/machines/fan-1/mute", content=body, headers=headers)
        assert reply.status_code in (400, 422), body[:10]
        assert reply.json()["error"]


def test_nothing_is_promised_to_other_sites(client):
    """No CORS: a preflight is not answered."""
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    reply = client.options("/v1/machines/fan-1/mute", headers=headers)
    assert reply.status_code == 405
    assert "access-control-allow-origin" not in reply.headers
