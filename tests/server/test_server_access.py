"""Who may do what: every route with every role, and without one."""

from __future__ import annotations

import pytest
from fastapi.routing import iter_route_contexts
from serving import HERE, PASSWORD, ROLES, ROUTES, USER, ask, bearer, of_app, unavailable

from ssdpt.errors import SsdptError
from ssdpt.server import auth, sessions
from ssdpt.server.app import create_app

# Tested with a real server, in test_server_live.py.
STREAMS = {("GET", "/v1/live"), ("WEBSOCKET", "/v1/machines/{machine}/pcm")}
# What is not in the action log when done with a token.
NOT_LOGGED = {("DELETE", "/v1/session")}


def test_every_route_is_in_the_table(service, store, settings):
    """A new route must name the role that it requires."""
    app = create_app(service, store, settings)
    found = set()
    for route in iter_route_contexts(app.routes):
        for method in getattr(route, "methods", None) or {"WEBSOCKET"}:
            found.add((method, route.path))
    assert {item for item in found if item[0] != "HEAD"} == set(ROUTES) | STREAMS


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_roles(network, tokens, store, route):
    least = ROUTES[route][0]
    assert (ask(network, route).status_code == 401) == (least is not None)
    assert (ask(network, route, headers=bearer("wrong")).status_code == 401) == (least is not None)
    before = len(store.actions(1000))
    for role in ROLES:
        reply = ask(network, route, headers=bearer(tokens[role]))
        enough = least is None or ROLES.index(role) >= ROLES.index(least)
        if not enough:
            assert reply.status_code == 403
            assert least in reply.json()["error"]
            assert len(store.actions(1000)) == before
    assert reply.status_code in (200, 201, 204), reply.text  # the admin's
    if route[0] != "GET" and route not in NOT_LOGGED:
        assert len(store.actions(1000)) > before


def test_a_network_address_without_users_is_refused(service, store, settings):
    with pytest.raises(SsdptError, match="ssdpt user add NAME --role admin"):
        create_app(service, store, settings.model_copy(update={"host": "0.0.0.0"}))


def test_at_the_computer_itself_everyone_is_admin(client):
    for host in ("localhost:8765", "127.0.0.1", "[::1]:8765", "LOCALHOST."):
        reply = client.get("/v1/session", headers={"Host": host})
        assert reply.json() == {"name": "local", "role": "admin", "csrf": ""}


def test_another_name_for_this_computer_is_refused(client):
    """DNS rebinding: a stranger's name that was made to point here."""
    for host in ("evil.example", "127.0.0.1.evil.example", "10.0.0.7", "", "[x"):
        reply = client.get("/v1/status", headers={"Host": host})
        assert reply.status_code == 403, host
        assert "ssdpt user add" in reply.json()["error"]


def test_a_proxy_does_not_make_everyone_admin(client):
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
        assert client.get("/v1/status", headers={header: "10.0.0.7"}).status_code == 403


def test_nobody_learns_which_machines_there_are(network):
    known = network.get("/v1/machines/fan-1")
    for path in ("/v1/machines/none", "/v1/events/none", "/v1/machines/fan-1/trend?points=0"):
        unknown = network.get(path)
        assert (unknown.status_code, unknown.content) == (401, known.content)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://[bad"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": f"{HERE}:8765"},
    ],
)
def test_other_sites_pages_cannot_act(client, service, headers):
    reply = client.post("/v1/machines/fan-1/mute", json={"minutes": 5}, headers=headers)
    assert reply.status_code == 403
    assert service.machines["fan-1"].muted_until is None


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": f"{HERE}:8765"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://behind.proxy.example"},
        {},
    ],
)
def test_the_own_page_and_programs_can_act(client, headers):
    reply = client.post("/v1/machines/fan-1/mute", json={"minutes": 5}, headers=headers)
    assert reply.status_code == 200


def test_the_first_user_ends_access_without_signing_in(client, store):
    viewer = {**USER, "name": "eve"}
    assert client.post("/v1/users", json=viewer).status_code == 409
    assert client.post("/v1/users", json={**USER, "role": "admin"}).status_code == 201
    assert client.get("/v1/status").status_code == 401
    assert store.actions(1)[0].about == "bob"


def test_a_user_added_by_the_command_line_ends_access_without_signing_in(client, store):
    assert client.get("/v1/status").status_code == 200
    store.add_user("ann", "admin", PASSWORD)
    client.app.state.context.access.clear_cache()  # what a second would do
    assert client.get("/v1/status").status_code == 401


def test_the_only_admin_stays(network, tokens, store):
    reply = network.delete("/v1/users/admin", headers=bearer(tokens["admin"]))
    assert reply.status_code == 409
    assert "admin" in {user.name for user in store.users()}


def test_a_removed_user_is_out_at_once(network, tokens):
    assert network.get("/v1/status", headers=bearer(tokens["viewer"])).status_code == 200
    gone = network.delete("/v1/users/viewer", headers=bearer(tokens["admin"]))
    assert gone.status_code == 204
    assert network.get("/v1/status", headers=bearer(tokens["viewer"])).status_code == 401
    again = network.delete("/v1/users/viewer", headers=bearer(tokens["admin"]))
    assert again.status_code == 404


@pytest.mark.parametrize("user", [{"name": "local"}, {"password": "short"}, {"name": "a b"}])
def test_invalid_users(network, tokens, user):
    reply = network.post("/v1/users", json={**USER, **user}, headers=bearer(tokens["admin"]))
    assert reply.status_code == 409


def test_signed_in_users_keep_access_while_the_store_is_unavailable(
    network, tokens, store, monkeypatch
):
    monkeypatch.setattr(sessions, "_CACHE_SECONDS", 0.0)
    assert network.get("/v1/machines", headers=bearer(tokens["viewer"])).status_code == 200

    monkeypatch.setattr(store, "check_token", unavailable)
    assert network.get("/v1/machines", headers=bearer(tokens["viewer"])).status_code == 200
    reply = network.get("/v1/machines", headers=bearer("unknown"))
    assert (reply.status_code, reply.json()["error"]) == (503, "the database does not answer")


def test_loopback_with_users_takes_a_proxy(service, store, settings, tokens):
    with of_app(create_app(service, store, settings), "https://plant.example") as client:
        headers = {**bearer(tokens["viewer"]), "X-Forwarded-For": "10.0.0.7"}
        assert client.get("/v1/status", headers=headers).status_code == 200


def test_local_users_keep_access_while_the_store_is_unavailable(client, store, monkeypatch):
    monkeypatch.setattr(auth, "_CACHE_SECONDS", 0.0)
    assert client.get("/v1/machines").status_code == 200
    monkeypatch.setattr(store, "users", unavailable)
    assert client.get("/v1/machines").status_code == 200
    client.app.state.context.access.clear_cache()
    assert client.get("/v1/machines").status_code == 503
