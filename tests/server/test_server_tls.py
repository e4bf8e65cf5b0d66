"""HTTPS with real handshakes, and what is said about certificates and keys that cannot be used."""

from __future__ import annotations

import ssl
import time
from types import SimpleNamespace

import httpx
import pytest
from certificates import make_certificate
from serving import PASSWORD, bearer, connect, running
from websockets.sync.client import connect as connect_socket

from ssdpt.errors import SsdptError
from ssdpt.server import run_service as run_service_module
from ssdpt.server import tls
from ssdpt.server.run import address_of, listening
from ssdpt.server.run_service import run_service
from ssdpt.server.settings import ServerSettings


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A good certificate and its key."""
    return make_certificate(tmp_path_factory.mktemp("site"))


@pytest.fixture
def https(settings, site):
    return settings.model_copy(update={"certificate": site[0], "key": site[1]})


def trusting(certificate):
    return ssl.create_default_context(cafile=str(certificate))


@pytest.fixture
def port(service, store, https):
    with running(service, store, https) as (port, _):
        yield port


def greet(port, site, oldest=None, newest=None):
    """The version of TLS that both agree on."""
    context = trusting(site[0])
    # A client of those days: today's libraries would not even offer the old versions.
    context.set_ciphers("ALL:@SECLEVEL=0")
    if oldest is not None:
        context.minimum_version = oldest
    if newest is not None:
        context.maximum_version = newest
    with connect(port) as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as end:
        return end.version()


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1:DeprecationWarning")
def test_tls_1_2_is_the_oldest_that_is_spoken(port, site):
    assert greet(port, site) == "TLSv1.3"
    assert greet(port, site, newest=ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
    old = {"oldest": ssl.TLSVersion.TLSv1, "newest": ssl.TLSVersion.TLSv1_1}
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        greet(port, site, **old)


def test_tls_1_3_alone(service, store, https, site):
    newest = https.model_copy(update={"tls_minimum": "1.3"})
    with running(service, store, newest) as (port, _):
        assert greet(port, site) == "TLSv1.3"
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            greet(port, site, newest=ssl.TLSVersion.TLSv1_2)


def test_a_client_that_does_not_trust_the_certificate_refuses_it(port):
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"https://127.0.0.1:{port}/healthz")


def test_cookies_are_secure_and_browsers_are_told_to_stay_with_https(port, site, tokens):
    with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=trusting(site[0])) as client:
        signed_in = client.post("/v1/session", json={"name": "viewer", "password": PASSWORD})
        cookie = signed_in.headers["set-cookie"]
        assert {"Secure", "HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
        assert client.get("/v1/status").json()["user"]["name"] == "viewer"
        for path in ("/", "/v1/status", "/healthz", "/v1/none", "/assets/none.js"):
            assert client.get(path).headers["strict-transport-security"] == "max-age=2592000"


def test_the_days_of_https_alone_can_be_ended(service, store, https, site):
    """A year that was promised once could not be taken back."""
    ended = https.model_copy(update={"hsts_days": 0.0})
    with running(service, store, ended) as (port, _):
        reply = httpx.get(f"https://127.0.0.1:{port}/healthz", verify=trusting(site[0]))
    assert reply.headers["strict-transport-security"] == "max-age=0"


def test_plain_http_says_nothing_of_https(client):
    assert "strict-transport-security" not in client.get("/healthz").headers


def test_streams_over_https(port, site, tokens):
    context = trusting(site[0])
    headers = bearer(tokens["operator"])
    address = f"https://127.0.0.1:{port}/v1/live"
    with httpx.stream("GET", address, headers=headers, verify=context, timeout=60.0) as reply:
        assert reply.status_code == 200
        next(reply.iter_lines())
    address = f"wss://127.0.0.1:{port}/v1/machines/fan-1/pcm?rate=16000"
    with connect_socket(address, ssl=context, additional_headers=headers) as end:
        end.send(bytes(64))


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\n\r\n", bytes(512)], ids=["http", "zeros"])
def test_what_is_no_greeting_ends_that_connection_alone(port, site, sent):
    with connect(port) as stranger:
        stranger.sendall(sent)
        assert _rest(stranger)[:1] in (b"", b"\x15")  # an alert of TLS
    reply = httpx.get(f"https://127.0.0.1:{port}/healthz", verify=trusting(site[0]))
    assert reply.status_code == 200


def _rest(connection):
    """What is still sent, until the other side has ended the connection."""
    received = b""
    try:
        while piece := connection.recv(4096):
            received += piece
    except ConnectionResetError:
        pass
    return received


def test_a_key_with_a_password(service, store, settings, tmp_path):
    site = make_certificate(tmp_path, password="correct horse")
    (tmp_path / "password").write_text("correct horse\n")
    files = {"certificate": site[0], "key": site[1], "key_password_file": tmp_path / "password"}
    with running(service, store, settings.model_copy(update=files)) as (port, _):
        assert greet(port, site) == "TLSv1.3"


def test_what_cannot_be_used_is_said_in_a_sentence(settings, tmp_path):
    good, key = make_certificate(tmp_path, "good")
    other, _ = make_certificate(tmp_path, "other")
    locked, locked_key = make_certificate(tmp_path, "locked", password="correct horse")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("wrong horse\n")
    broken = tmp_path / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n")
    missing = tmp_path / "missing.pem"
    for certificate, its_key, password_file, sentence in (
        (missing, key, None, f"{missing}: the certificate cannot be read (No such file"),
        (good, missing, None, f"{missing}: the private key cannot be read (No such file"),
        (tmp_path, key, None, f"{tmp_path}: the certificate cannot be read (Is a directory)"),
        (key, good, None, f"{key}: there is no certificate in it"),
        (good, good, None, f"{good}: there is no private key in it"),
        (broken, key, None, f"{broken}, {key}: cannot be used for HTTPS"),
        (other, key, None, f"{key}: not the key of the certificate {other}"),
        (locked, locked_key, None, f"{locked_key}: is protected by a password"),
        (locked, locked_key, wrong, f"{wrong}: not the password of {locked_key}"),
        (locked, locked_key, missing, f"{missing}: the secret cannot be read"),
    ):
        files = {"certificate": certificate, "key": its_key, "key_password_file": password_file}
        with pytest.raises(SsdptError) as error:
            settings.model_copy(update=files).load_certificate()
        assert str(error.value).startswith(sentence)
        assert "horse" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"expires": 15.5}, ""),
        ({"expires": 13.5}, "the certificate expires on "),
        ({"begins": -9.0, "expires": -1.0}, "the certificate expired on "),
        ({"begins": 1.0}, "the certificate is not valid before "),
        ({"purpose": "CLIENT_AUTH"}, "browsers will not accept this certificate ("),
    ],
    ids=["good", "soon", "expired", "early", "purpose"],
)
def test_a_certificate_that_browsers_refuse_is_a_problem_and_no_end(
    service, store, settings, tmp_path, caplog, options, problem
):
    """Monitoring goes on: an alarm must not be missed because a certificate has expired."""
    certificate, key = make_certificate(tmp_path, **options)
    files = {"certificate": certificate, "key": key}
    with running(service, store, settings.model_copy(update=files)) as (port, _):
        context = trusting(certificate)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        reply = httpx.get(f"https://127.0.0.1:{port}/healthz", verify=context)
        assert reply.status_code == 200
    assert (f"{certificate}: {problem}" in caplog.text) == bool(problem)


def test_the_page_says_that_a_certificate_expires(tmp_path, monkeypatch):
    certificate, key = make_certificate(tmp_path, expires=30.0)
    config = tmp_path / "monitor.yaml"
    config.write_text("machines:\n  - {id: press-1, source: {kind: pushed}}\n")
    problems = []

    def seen(service, *_):
        problems.append(service.status().problems)
        now = time.time()
        later = SimpleNamespace(time=lambda: now + 20 * 86400)  # while it is running
        monkeypatch.setattr(tls, "time", later)
        problems.append(service.status().problems)

    monkeypatch.setattr(run_service_module, "serve", seen)
    settings = ServerSettings(certificate=certificate, key=key)
    run_service(config, tmp_path / "data", settings)
    assert problems[0] == ()
    assert "the certificate expires on" in problems[1][0]


def test_the_address_for_a_browser(https):
    with listening(https.model_copy(update={"port": 0})) as listener:
        assert address_of(https, listener).startswith("https://127.0.0.1:")
