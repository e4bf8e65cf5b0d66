"""Who may do what: every route with every role, and without one."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import anyio.to_thread
import httpx
import pytest
import websockets.exceptions
from fastapi import APIRouter, FastAPI, WebSocket
from serving import (
    HERE,
    PASSWORD,
    ROLES,
    ROUTES,
    STREAMS,
    USER,
    ask,
    bearer,
    of_app,
    running,
    unavailable,
)
from starlette.routing import Mount, Route
from websockets.sync.client import connect as connect_socket

from ssdpt.errors import SsdptError
from ssdpt.server import app as app_module
from ssdpt.server import auth, sessions
from ssdpt.server.access_rules import UndeclaredAccess, access_rules
from ssdpt.server.app import create_app
from ssdpt.server.auth import Admin, Viewer
from ssdpt.server.context import Context

# What is not in the action log when done with a token.
NOT_LOGGED = {
    ("DELETE", "/v1/session"),
    ("DELETE", "/v1/upgrade"),
    ("DELETE", "/v1/trials/{trial}"),
    ("POST", "/v1/machines/{machine}/settings/effect"),  # changes nothing
}


def test_every_route_declares_the_role_of_the_table(service, store, settings):
    """A new route fails here until somebody has thought about who may use it."""
    app = create_app(service, store, settings)
    declared = {(rule.method, rule.path): rule.role for rule in access_rules(app)}
    assert declared == {**{route: least for route, (least, _) in ROUTES.items()}, **STREAMS}


def _plain(context: Context) -> None: ...


async def _socket(socket: WebSocket, context: Context) -> None: ...


def _late(context: Context, user: Viewer) -> None: ...


def _twice(user: Viewer, admin: Admin) -> None: ...


async def _of_starlette(request): ...


@pytest.mark.parametrize(
    ("add", "reason"),
    [
        (lambda router: router.get("/v1/new")(_plain), "no role"),
        (lambda router: router.websocket("/v1/new")(_socket), "no role"),
        (lambda router: router.get("/v1/new")(_late), "must be the first parameter"),
        (lambda router: router.get("/v1/new")(_twice), "more than one role"),
        (lambda router: router.routes.append(Route("/v1/new", _of_starlette)), "no role"),
        (lambda router: router.routes.append(Mount("/v1/new", FastAPI())), "no role"),
    ],
    ids=["route", "socket", "late", "twice", "starlette", "mounted"],
)
def test_a_route_without_a_rule_is_refused_at_the_start(
    service, store, settings, monkeypatch, own_routes, add, reason
):
    router = APIRouter()
    add(router)
    monkeypatch.setattr(app_module, "_WITH_CONTENT", (SimpleNamespace(router=router),))
    with pytest.raises(UndeclaredAccess, match=f"/v1/new: .*{reason}"):
        create_app(service, store, settings)


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


@pytest.fixture
def real(service, store, settings, tokens):
    """The port of a real server with users."""
    with running(service, store, settings) as (port, _):
        yield port


@pytest.mark.parametrize("route", STREAMS, ids=" ".join)
def test_roles_of_streams(real, tokens, route):
    least = STREAMS[route]
    assert _opens(real, route, {}) == _opens(real, route, bearer("wrong")) == 401
    for role in ROLES:
        enough = ROLES.index(role) >= ROLES.index(least)
        assert _opens(real, route, bearer(tokens[role])) == (200 if enough else 403), role


def _opens(port, route, headers):
    """The status of the answer to a request for a stream; 200 also for a WebSocket."""
    method, path = route
    path = path.format(machine="fan-1", trial="1")
    if method != "WEBSOCKET":
        address = f"{HERE}:{port}{path}"
        with httpx.stream(method, address, headers=headers, timeout=60.0) as reply:
            return reply.status_code
    try:
        address = f"ws://127.0.0.1:{port}{path}?rate=16000"
        with connect_socket(address, additional_headers=headers, open_timeout=60.0):
            return 200
    except websockets.exceptions.InvalidStatus as refused:
        return refused.response.status_code


def test_methods_that_are_not_in_the_table_are_not_there(network, tokens):
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")
    for path in {path for _, path in {*ROUTES, *STREAMS}}:
        there = {method for method, at in {*ROUTES, *STREAMS} if at == path}
        if "WEBSOCKET" in there:
            continue
        for method in set(methods) - there:
            for headers in ({}, bearer(tokens["admin"])):
                reply = network.request(method, path.format_map(_Any()), headers=headers)
                assert reply.status_code == 405, (method, path)


class _Any(dict):
    def __missing__(self, name):
        return "1"


def test_the_page_is_the_built_folder_and_nothing_else(network, page):
    """Open to everyone: it holds no data, and asks for it with the role of who is signed in."""
    for file in (file for file in page.rglob("*") if file.is_file()):
        assert network.get(f"/{file.relative_to(page)}").content == file.read_bytes()
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"):
        assert "secret" not in network.get(path).text
    for path in ("/", "/index.html"):
        assert network.post(path).status_code == 404


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


def test_one_request_waits_for_a_store_that_hangs_and_the_others_go_on(client, store, monkeypatch):
    monkeypatch.setattr(auth, "_CACHE_SECONDS", 0.0)
    assert client.get("/v1/machines").status_code == 200
    asked, answer = threading.Event(), threading.Event()

    def users():
        asked.set()
        assert answer.wait(60.0)
        return []

    monkeypatch.setattr(store, "users", users)
    access = client.app.state.context.access
    with ThreadPoolExecutor(1) as waiting:
        first = waiting.submit(access.has_users)
        assert asked.wait(60.0)
        assert client.get("/v1/machines").status_code == 200
        assert not first.done()
        answer.set()
        assert first.result() is False


def test_the_store_is_never_asked_on_the_event_loop(network, tokens, store, monkeypatch):
    """It may hang, and everything else with it."""
    monkeypatch.setattr(auth, "_CACHE_SECONDS", 0.0)
    monkeypatch.setattr(sessions, "_CACHE_SECONDS", 0.0)
    asked = []

    def watched(name):
        answer = getattr(store, name)

        def ask_store(*arguments):
            asked.append((name, asyncio._get_running_loop()))
            return answer(*arguments)

        monkeypatch.setattr(store, name, ask_store)

    for name in ("users", "check_token"):
        watched(name)
    for token in (tokens["viewer"], "unknown"):
        network.get("/v1/machines", headers=bearer(token))
    assert {name for name, _ in asked} == {"check_token"}
    assert {loop for _, loop in asked} == {None}


def test_the_store_is_never_asked_on_the_event_loop_without_users(client, store, monkeypatch):
    monkeypatch.setattr(auth, "_CACHE_SECONDS", 0.0)
    asked, users = [], store.users
    monkeypatch.setattr(
        store, "users", lambda: (asked.append(asyncio._get_running_loop()), users())[1]
    )
    assert client.get("/v1/machines").status_code == 200
    assert asked == [None]


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/status", "/v1/events", "/v1/events/groups", "/v1/machines/fan-1"),
        *(f"/v1/machines/fan-1/{what}" for what in ("trend", "bands", "spectrum")),
    ],
)
def test_a_request_waits_for_two_threads_at_most(client, path, monkeypatch):
    """For its answer, and the check of it. Each further one takes long while all are busy."""
    assert client.get(path).status_code == 200  # who sends it is known for a second
    monkeypatch.setattr(auth, "_CACHE_SECONDS", 60.0)
    waited, run_sync = [], anyio.to_thread.run_sync

    async def counted(work, *arguments, **named):
        waited.append(work)
        return await run_sync(work, *arguments, **named)

    monkeypatch.setattr(anyio.to_thread, "run_sync", counted)
    assert client.get(path).status_code == 200
    assert 1 <= len(waited) <= 2


def test_an_answer_of_before_a_user_was_added_is_not_kept(client, store, monkeypatch):
    access = client.app.state.context.access
    asked, answer = threading.Event(), threading.Event()
    users = store.users

    def late():
        before = users()
        asked.set()
        assert answer.wait(60.0)
        return before

    access.clear_cache()
    monkeypatch.setattr(store, "users", late)
    with ThreadPoolExecutor(1) as waiting:
        first = waiting.submit(access.has_users)
        assert asked.wait(60.0)
        store.add_user("anna", "admin", PASSWORD)
        access.clear_cache()
        monkeypatch.setattr(store, "users", users)
        answer.set()
        assert first.result() is False
    assert access.has_users()
