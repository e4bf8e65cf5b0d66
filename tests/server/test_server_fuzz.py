"""Invalid ids and addresses are refused: no server error, and nothing is disclosed."""

from __future__ import annotations

import http.client
import re
import urllib.parse

import pytest
from examples import EVENT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import ROUTES, running

STRANGE = (
    *("..", "../..", "%2e%2e", "%2e%2e%2fsecret.txt", "..%2f..%2fsecret.txt", "%252e%252e"),
    *("%00", "fan-1%00", "fan-1%0a", "fan-1/", "fan-1%2f", "fan-1%5c..", "FAN-1", "%20", ".", "~"),
    *("a" * 5000, "%F0%9F%92%A5", "%ff%fe", "%ED%A0%80", "ｆan-1".encode().hex("%")),
    *("'; DROP TABLE events;--".replace(" ", "%20"), "{}", "*", "-1", "0" * 32, EVENT.upper()),
    *(EVENT + "0", EVENT + "%0a", "%3Cscript%3E", "con", "NUL", "C:%5cboot.ini"),
)


def with_ids(path, id, **known):
    """The path with `id` for every id that is not `known`."""
    return re.sub(r"\{(\w+)\}", lambda name: known.get(name[1], id), path)


@pytest.fixture
def raw(service, store, settings):
    """Asks with a path as it is written: a usual client would tidy it up."""
    with running(service, store, settings) as (port, _):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

        def ask(method, path, body=None, headers=None):
            connection.putrequest(method, path, skip_accept_encoding=True)
            body = body or b""
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            return reply.status, reply.read()

        yield ask
        connection.close()


def test_strange_ids(raw, service):
    """Every address with an id, with every strange id."""
    before = dict(service.machines)
    for method, path in ROUTES:
        if "{" not in path:
            continue
        for strange in STRANGE:
            status, content = raw(
                method,
                with_ids(path, strange),
                b'{"minutes": 1, "false_alerts_per_week": 1, "text": "a", "label": ""}',
                {"Content-Type": "application/json"},
            )
            at_page = b"<title>plant" in content and method == "GET"
            assert 400 <= status < 500 or at_page, (method, path, strange, status)
            assert b"secret" not in content
            assert b"Traceback" not in content
    assert service.machines == before


def test_strange_paths_of_the_page(raw):
    for strange in STRANGE:
        for path in (
            f"/{strange}",
            f"/assets/{strange}",
            f"/assets/{strange}/secret.txt",
            f"//{strange}",
        ):
            status, content = raw("GET", path)
            assert status < 500, path
            assert b"secret" not in content, path


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(max_size=60), where=st.sampled_from(sorted(ROUTES)))
def test_any_text_for_an_id(raw, text, where):
    method, path = where
    if "{" not in path:
        path += "/{name}"
    strange = urllib.parse.quote(text.encode("utf-8", "surrogatepass"), safe="")
    status, _ = raw(
        method,
        with_ids(path, strange),
    )
    assert status < 500, (method, text)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    values=st.dictionaries(
        st.sampled_from(
            [
                "machine",
                "open",
                "kind",
                "begin",
                "end",
                "before",
                "limit",
                "points",
                "format",
                "what",
                "seconds",
                "false_alerts_per_week",
            ]
        ),
        st.text(max_size=20) | st.floats().map(str) | st.integers().map(str),
        max_size=4,
    ),
    path=st.sampled_from(
        (
            "/v1/events",
            "/v1/export",
            "/v1/actions",
            *(
                f"/v1/machines/fan-1/{name}"
                for name in ("trend", "bands", "spectrogram", "sound", "thresholds")
            ),
        )
    ),
)
def test_any_query(raw, values, path):
    query = urllib.parse.urlencode(values, errors="surrogatepass")
    status, content = raw("GET", f"{path}?{query}")
    assert status < 500, (path, values, content)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(body=st.binary(max_size=200), where=st.sampled_from(sorted(ROUTES)))
def test_any_body(raw, body, where):
    method, path = where
    known = {"machine": "fan-1", "event": EVENT, "number": "1", "note": "1"}
    path = with_ids(path, "nobody", **known)
    status, _ = raw(method, path, body, {"Content-Type": "application/json"})
    assert status < 500, (method, path, body)
