"""Passwords and roles: changed, reset, and what ends with them; and a backup to download."""

from __future__ import annotations

import tarfile

import pytest
from serving import PASSWORD, bearer

NEW = "another long sentence"


@pytest.fixture
def viewer(network):
    """Signed in with a browser."""
    reply = network.post("/v1/session", json={"name": "viewer", "password": PASSWORD})
    network.headers["X-CSRF-Token"] = reply.json()["csrf"]
    return network


def test_the_own_password_needs_the_old_one(viewer, store, tokens):
    body = {"old_password": "wrong horse", "password": NEW}
    reply = viewer.put("/v1/session/password", json=body)
    assert (reply.status_code, reply.json()["error"]) == (403, "the old password is wrong")
    assert viewer.get("/v1/status").status_code == 200
    assert store.check_password("viewer", PASSWORD)


def test_a_changed_password_ends_all_other_sessions(viewer, store, tokens):
    old_cookie = viewer.cookies["ssdpt_session"]
    body = {"old_password": PASSWORD, "password": NEW}
    reply = viewer.put("/v1/session/password", json=body)
    assert reply.status_code == 200
    assert viewer.cookies["ssdpt_session"] != old_cookie
    assert viewer.get("/v1/status").status_code == 200
    viewer.headers["X-CSRF-Token"] = reply.json()["csrf"]
    assert viewer.delete("/v1/session").status_code == 204
    assert viewer.get("/v1/status", headers=bearer(tokens["viewer"])).status_code == 401
    assert viewer.get("/v1/status", headers=bearer(tokens["operator"])).status_code == 200
    assert store.check_password("viewer", NEW)


@pytest.mark.parametrize(
    ("password", "sentence"),
    [("short", "Password too short (5 of at least 8 characters)"), ("", "Password too short (0")],
)
def test_rules_of_passwords_are_sentences(viewer, password, sentence):
    body = {"old_password": PASSWORD, "password": password}
    reply = viewer.put("/v1/session/password", json=body)
    assert reply.status_code == 409
    assert reply.json()["error"].startswith(sentence)


def test_the_old_password_cannot_be_guessed(viewer):
    body = {"old_password": "guess", "password": NEW}
    replies = {viewer.put("/v1/session/password", json=body).status_code for _ in range(12)}
    assert replies == {403, 429}


def test_without_an_account_there_is_no_password(client):
    body = {"old_password": PASSWORD, "password": NEW}
    reply = client.put("/v1/session/password", json=body)
    assert reply.status_code == 409


def test_an_admin_resets_a_password_but_not_the_own_one(network, tokens, store):
    admin = bearer(tokens["admin"])
    reply = network.put("/v1/users/viewer/password", json={"password": NEW}, headers=admin)
    assert reply.status_code == 204
    assert store.check_password("viewer", NEW)
    assert network.get("/v1/status", headers=bearer(tokens["viewer"])).status_code == 401
    own = network.put("/v1/users/admin/password", json={"password": NEW}, headers=admin)
    assert own.status_code == 409
    nobody = network.put("/v1/users/nobody/password", json={"password": NEW}, headers=admin)
    assert nobody.status_code == 409
    assert store.actions(1)[0].what == "reset the password of"


def test_a_role_holds_at_once_and_the_only_admin_stays_one(network, tokens):
    admin, viewer = bearer(tokens["admin"]), bearer(tokens["viewer"])
    mute = ("/v1/machines/fan-1/mute", {"minutes": 5})
    assert network.post(mute[0], json=mute[1], headers=viewer).status_code == 403
    reply = network.put("/v1/users/viewer/role", json={"role": "operator"}, headers=admin)
    assert reply.json() == {"name": "viewer", "role": "operator"}
    assert network.post(mute[0], json=mute[1], headers=viewer).status_code == 200
    reply = network.put("/v1/users/admin/role", json={"role": "viewer"}, headers=admin)
    assert (reply.status_code, "only admin" in reply.json()["error"]) == (409, True)
    assert (
        network.put("/v1/users/nobody/role", json={"role": "viewer"}, headers=admin).status_code
        == 404
    )


def test_a_backup_is_downloaded_as_a_whole(client, tmp_path, store):
    reply = client.get("/v1/backup")
    assert reply.headers["content-type"] == "application/x-tar"
    assert reply.headers["content-encoding"] == "identity"
    assert reply.headers["content-disposition"].startswith('attachment; filename="ssdpt-20')
    (tmp_path / "backup.tar").write_bytes(reply.content)
    with tarfile.open(tmp_path / "backup.tar") as tar:
        assert tar.getnames()[-1] == "about.json"
    assert store.actions(1)[0].about == "a backup"


def test_the_id_of_a_machine_stays_and_files_are_refused(client):
    settings = {"id": "fan-2", "source": {"kind": "pushed"}}
    reply = client.put("/v1/machines/fan-1", json=settings)
    assert reply.status_code == 409
    assert "the id of a machine cannot be changed" in reply.json()["error"]
    folder = {"id": "fan-1", "source": {"kind": "folder", "path": "/etc"}}
    for method, path in (
        ("PUT", "/v1/machines/fan-1"),
        ("POST", "/v1/machines/fan-1/settings/effect"),
        ("POST", "/v1/trials"),
    ):
        reply = client.request(method, path, json=folder)
        assert reply.status_code == 409, path
        assert "reads files of the service's computer" in reply.json()["error"]


def test_a_trial_that_is_over(client):
    reply = client.get("/v1/trials/none")
    assert (reply.status_code, reply.json()["error"]) == (
        404,
        "this trial is over; start another one",
    )
