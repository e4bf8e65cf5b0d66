"""Signing in: cookies, forged requests, guessed passwords."""

from __future__ import annotations

import ipaddress

import httpx
import pytest
from serving import PASSWORD, bearer, of_app, running

from ssdpt.server import attempts
from ssdpt.server.app import create_app
from ssdpt.server.run import _address_forms
from ssdpt.server.sessions import COOKIE
from ssdpt.server.settings import THIS_COMPUTER, ServerSettings


def sign_in(client, name="operator", password=PASSWORD, **more):
    return client.post("/v1/session", json={"name": name, "password": password}, **more)


def test_sign_in_act_and_sign_out(network, store):
    reply = sign_in(network)
    csrf = reply.json()["csrf"]
    assert (reply.json()["name"], reply.json()["role"]) == ("operator", "operator")
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert network.get("/v1/session").json()["csrf"] == csrf
    assert network.get("/v1/status").json()["user"] == {"name": "operator", "role": "operator"}
    mute = "/v1/machines/fan-1/mute"
    assert network.post(mute, json={"minutes": 1}).status_code == 403
    for wrong in ("", "x", csrf[:-1], csrf + "0", "ü"):
        headers = {"X-CSRF-Token": wrong.encode()}
        assert network.post(mute, json={"minutes": 1}, headers=headers).status_code == 403
    headers = {"X-CSRF-Token": csrf}
    assert network.post(mute, json={"minutes": 1}, headers=headers).status_code == 200
    assert network.delete("/v1/session").status_code == 403
    secret = network.cookies[COOKIE]
    assert network.delete("/v1/session", headers=headers).status_code == 204
    assert COOKIE not in network.cookies
    network.cookies.set(COOKIE, secret)
    assert network.get("/v1/session").status_code == 401
    did = [action.what for action in store.actions(10)]
    assert did == ["signed out", "muted for 1 min", "signed in"]


def test_the_cookie_is_secure_over_https(service, store, settings, tokens):
    with of_app(create_app(service, store, settings), "https://plant.example") as client:
        assert "Secure" in sign_in(client).headers["set-cookie"].split("; ")


def test_a_session_survives_a_restart(service, store, settings, network):
    sign_in(network)
    with of_app(create_app(service, store, settings), "http://plant.example:8765") as other:
        other.cookies.set(COOKIE, network.cookies[COOKIE])
        assert other.get("/v1/session").json()["name"] == "operator"


def test_a_new_session_ends_the_old_one(network):
    sign_in(network)
    old = network.cookies[COOKIE]
    sign_in(network)
    assert network.cookies[COOKIE] != old
    network.cookies.clear()
    network.cookies.set(COOKIE, old)
    assert network.get("/v1/session").status_code == 401


def test_bearer_goes_before_a_cookie_and_needs_no_csrf(network, tokens):
    sign_in(network, "viewer")
    reply = network.post(
        "/v1/machines/fan-1/mute", json={"minutes": 1}, headers=bearer(tokens["operator"])
    )
    assert reply.status_code == 200


def test_other_sites_pages_cannot_sign_someone_in(network):
    assert sign_in(network, headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize("name", ["operator", "nobody"])
def test_wrong_names_and_passwords_read_the_same(network, name):
    reply = sign_in(network, name, "wrong password")
    assert reply.status_code == 401
    assert reply.json()["error"] == "the name or the password is wrong"


def test_guessing_a_password_is_slowed_down(network):
    for _ in range(attempts.ADDRESS_AND_NAME.free):
        assert sign_in(network, "viewer", "guess").status_code == 401
    reply = sign_in(network, "viewer")
    assert reply.status_code == 429
    assert 0 < int(reply.headers["retry-after"]) <= 15
    # Others can still sign in.
    assert sign_in(network, "operator").status_code == 200


def test_guessing_from_one_address_is_slowed_down(network):
    for n in range(attempts.ADDRESS.free):
        assert sign_in(network, f"name{n}", "guess").status_code == 401
    assert sign_in(network, "operator").status_code == 429


def test_right_passwords_are_no_attempts(network):
    for _ in range(attempts.ADDRESS.free + 1):
        assert sign_in(network).status_code == 200
        network.cookies.clear()


def test_wrong_passwords_of_others_do_not_keep_a_known_browser_out(network, service, store):
    """Ten wrong passwords used to lock the right person out, wherever they sat."""
    sign_in(network)
    device = {name: value for name, value in network.cookies.items() if "device" in name}
    network.cookies.clear()
    while sign_in(network, password="guess").status_code != 429:
        pass
    assert sign_in(network).status_code == 429  # here somebody else seems to sit
    network.cookies.update(device)
    assert sign_in(network).status_code == 200
    # It is known as this person's alone.
    network.cookies.clear()
    while sign_in(network, "viewer", "guess").status_code != 429:
        pass
    network.cookies.update(device)
    assert sign_in(network, "viewer").status_code == 429


def test_guessing_in_a_known_browser_is_slowed_down_too(network):
    sign_in(network)
    for _ in range(attempts.KNOWN_DEVICE.free):
        assert sign_in(network, password="guess").status_code == 401
    assert sign_in(network).status_code == 429


def test_a_new_password_ends_what_browsers_are_known_by(store, tokens):
    token = store.device_token("viewer")
    device = store.known_device("viewer", token)
    assert device
    assert token.startswith(f"{device}.")
    for forged in ("", ".", device, f"{device}.", f"x{token}", f"{token}x", "ü.ü", "a.b.c"):
        assert store.known_device("viewer", forged) == ""
    assert store.known_device("operator", token) == ""
    assert store.known_device("nobody", token) == ""
    store.set_password("viewer", "another password")
    assert store.known_device("viewer", token) == ""


def test_the_cookie_of_a_device_goes_nowhere_else(network):
    cookie = sign_in(network).headers.get_list("set-cookie")[1].split("; ")
    assert cookie[0].startswith("ssdpt_device_")
    assert {"HttpOnly", "SameSite=strict", "Path=/v1/session"} <= set(cookie)


@pytest.fixture
def now(monkeypatch):
    seconds = [1000.0]
    monkeypatch.setattr(attempts.time, "monotonic", lambda: seconds[0])
    return seconds


def waits(tried, now, count, *who):
    """How long each of so many attempts in a row must wait, one after the other."""
    waited = []
    for _ in range(count):
        wait = tried.begin(*who)
        waited.append(wait)
        now[0] += wait
        if wait:
            assert tried.begin(*who) == 0
    return waited


def test_the_wait_grows_and_is_forgotten_in_time(now):
    tried = attempts.SignInAttempts()
    assert waits(tried, now, 17, "ann", "10.0.0.7") == [0] * 10 + [15, 30, 60, 120, 240, 480, 900]
    assert tried.begin("ann", "10.0.0.7") == 900
    assert tried.begin("ann", "10.0.0.8") == 0  # from elsewhere she still can
    now[0] += 3601.0
    assert waits(tried, now, 10, "ann", "10.0.0.7") == [0] * 10


def test_guessing_from_many_addresses_is_slowed_down_but_for_known_browsers(now):
    tried = attempts.SignInAttempts()
    for n in range(attempts.NAME.free):
        assert tried.begin("ann", f"10.0.{n // 200}.{n % 200}") == 0
    assert tried.begin("ann", "10.9.9.9") == 15
    assert tried.begin("Ann", "10.9.9.9") == 15
    assert tried.begin("bob", "10.9.9.9") == 0
    assert tried.begin("ann", "10.9.9.9", device="her laptop") == 0


def test_guessing_many_names_from_many_addresses_is_slowed_down_too(now):
    tried = attempts.SignInAttempts()
    for n in range(attempts.ALL.free):
        assert tried.begin(f"name{n}", f"10.{n // 200}.0.{n % 200}") == 0
    assert tried.begin("ann", "10.99.9.9") == 1
    assert tried.begin("ann", "10.99.9.9", device="her laptop") == 0


def test_attempts_at_the_same_time_all_count(now):
    """Those that are under way as well: a hundred at once are not one."""
    tried = attempts.SignInAttempts()
    begun = [tried.begin("ann", "10.0.0.7") for _ in range(100)]
    assert begun.count(0.0) == attempts.ADDRESS_AND_NAME.free


def test_the_right_password_takes_only_its_own_attempt_off_an_address(now):
    tried = attempts.SignInAttempts()
    for n in range(attempts.ADDRESS.free - 1):
        assert tried.begin(f"name{n}", "10.0.0.7") == 0
    for _ in range(5):
        assert tried.begin("ann", "10.0.0.7") == 0
        tried.succeed("ann", "10.0.0.7")
    assert tried.begin("bob", "10.0.0.7") == 0
    assert tried.begin("ann", "10.0.0.7") == 15


def test_attempts_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(attempts, "_MAX_TRACKED", 10)
    tried = attempts.SignInAttempts()
    for _ in range(attempts.ADDRESS_AND_NAME.free):
        tried.begin("ann", "10.0.0.7")
    for n in range(100):
        tried.begin(f"name{n}", f"10.0.1.{n}")
    assert len(tried._failures) <= 14
    assert tried.begin("ann", "10.0.0.7") > 0  # those who tried most are not forgotten


def test_the_addresses_of_one_network_count_as_one():
    tried = attempts.SignInAttempts()
    for n in range(attempts.ADDRESS.free):
        assert tried.begin(f"name{n}", f"2001:db8::{n:x}") == 0
    assert tried.begin("another", "2001:db8::ffff") > 0
    assert tried.begin("another", "2001:db8:0:1::1") == 0


def sign_in_from(port, address, password="guess", name="viewer"):
    """As a proxy passes it on, by HTTPS."""
    headers = {"X-Forwarded-For": address, "X-Forwarded-Proto": "https"}
    body = {"name": name, "password": password}
    return httpx.post(f"http://127.0.0.1:{port}/v1/session", json=body, headers=headers)


@pytest.mark.parametrize(
    ("proxies", "believed"),
    [(THIS_COMPUTER, True), (("10.0.0.0/8", "127.0.0.0/8"), True), (("10.0.0.0/8",), False)],
)
def test_a_proxy_is_believed_only_where_it_was_named(
    service, store, settings, tokens, proxies, believed
):
    settings = ServerSettings(**{**settings.model_dump(), "proxies": proxies})
    with running(service, store, settings) as (port, _):
        reply = sign_in_from(port, "203.0.113.1", PASSWORD)
        assert ("Secure" in reply.headers["set-cookie"].split("; ")) == believed
        assert ("strict-transport-security" in reply.headers) == believed
        for n in range(attempts.ADDRESS.free):
            assert sign_in_from(port, "203.0.113.1", name=f"name{n}").status_code == 401
        assert sign_in_from(port, "203.0.113.1", PASSWORD).status_code == 429
        # Others behind the same proxy are others, if it is believed.
        other = sign_in_from(port, "203.0.113.2", PASSWORD).status_code
        assert other == (200 if believed else 429)


def test_a_proxy_is_known_on_a_listener_for_ipv6_too():
    forms = [ipaddress.ip_network(form) for form in _address_forms("172.18.0.0/16")]
    for address in ("172.18.0.2", "::ffff:172.18.0.2"):
        assert any(ipaddress.ip_address(address) in form for form in forms)
    for address in ("172.19.0.2", "::ffff:172.19.0.2", "::172.18.0.2"):
        assert not any(ipaddress.ip_address(address) in form for form in forms)
    assert list(_address_forms("fd00::/8")) == ["fd00::/8"]


@pytest.mark.parametrize("proxy", ["nginx", "10.0.0.0/99", "*", "10.0.0.1:80", ""])
def test_a_proxy_that_is_no_address_is_refused(proxy):
    with pytest.raises(ValueError, match="is not an address or network; write 172"):
        ServerSettings(proxies=(proxy,))


def test_a_proxy_may_be_written_as_an_address_of_its_network():
    assert ServerSettings(proxies=("172.18.0.1/16", " 10.0.0.7")).proxies == (
        *("172.18.0.0/16", "10.0.0.7/32"),
    )
