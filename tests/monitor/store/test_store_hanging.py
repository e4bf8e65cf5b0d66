"""A database that hangs instead of refusing: nobody waits for it for long."""

from __future__ import annotations

import time
from contextvars import ContextVar

import pytest
from sqlalchemy import make_url
from store_data import BEGIN, event, reading

from freezing import FreezableProxy
from ssdpt.monitor.store import (
    Store,
    StoreUnavailable,
    StoreWriter,
    back_up,
    outage,
    patience,
    writer,
)
from waiting import wait_until

pytestmark = pytest.mark.needs_postgres


@pytest.fixture
def proxy(new_url, monkeypatch):
    monkeypatch.setattr(patience, "_allowed", ContextVar("allowed", default=0.5))
    monkeypatch.setattr(outage, "EVERY", 0.2)
    url = make_url(new_url("postgresql"))
    with FreezableProxy(url.port or 5432) as proxy:
        url = url.set(host="127.0.0.1", port=proxy.port).update_query_dict({"connect_timeout": "2"})
        proxy.url = url.render_as_string(hide_password=False)
        yield proxy


@pytest.fixture
def store(proxy, folder):
    with Store.open(proxy.url, folder) as store:
        store.save_event(event())
        yield store


def seconds_until_refused(ask):
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="does not respond"):
        ask()
    return time.monotonic() - began


def test_reading_and_writing_end_with_a_sentence(store, proxy):
    proxy.freeze()
    assert seconds_until_refused(lambda: store.event(event().id)) > 0.4
    # Whoever asks next does not wait as well.
    for ask in (lambda: store.event(event().id), lambda: store.save_event(event())):
        assert seconds_until_refused(ask) < 0.1
    proxy.thaw()
    assert wait_until(lambda: found(store)) == event()


def test_nobody_waits_again_while_it_hangs(store, proxy):
    """Only a thread that looks for its return does."""
    proxy.freeze()
    seconds_until_refused(lambda: store.event(event().id))
    began = time.monotonic()
    while time.monotonic() - began < 3.0:  # longer than one look takes
        assert seconds_until_refused(lambda: store.event(event().id)) < 0.4


def test_a_question_is_not_even_asked_where_the_server_is_not_there(store, proxy, monkeypatch):
    """An answer may take long; the server says quickly whether it is there."""
    monkeypatch.setattr(patience, "_allowed", ContextVar("allowed", default=600.0))
    monkeypatch.setattr(patience, "BRIEF_SECONDS", 0.5)
    proxy.freeze()
    assert seconds_until_refused(lambda: store.event(event().id)) < 60.0


def found(store):
    try:
        return store.event(event().id)
    except StoreUnavailable:
        return None


def test_an_answer_that_comes_too_late_is_nobody_elses(store, proxy):
    """The connection is given up: its late answer must not be taken for that of another query."""
    for _ in range(2):
        proxy.freeze()
        seconds_until_refused(lambda: store.events(limit=1))
        proxy.thaw()
        assert wait_until(lambda: found(store)) == event()


def test_the_writer_says_so_and_loses_nothing(store, proxy, monkeypatch):
    monkeypatch.setattr(writer, "_SLOW", 0.2)
    writing = StoreWriter(store)
    writing.start()
    writing.add_event(event(2))
    wait_until(lambda: store.event(event(2).id))
    assert writing.problem == ""
    proxy.freeze()
    writing.add_event(event(3))
    for second in range(20):
        writing.add_reading(reading(time=BEGIN + second))
    wait_until(lambda: "has not answered" in writing.problem, "it says so while it still waits")
    wait_until(lambda: "does not respond" in writing.problem)
    proxy.thaw()
    wait_until(lambda: not writing.problem)
    writing.stop()
    assert store.event(event(3).id) == event(3)
    assert len(list(store.readings(reading().machine, BEGIN - 1, BEGIN + 30))) == 20


def test_long_work_may_take_long(store, tmp_path, monkeypatch):
    """A backup of a year takes more than seconds."""
    monkeypatch.setattr(patience, "_allowed", ContextVar("allowed", default=0.0))
    back_up(store, tmp_path / "backup.tar")
    assert (tmp_path / "backup.tar").exists()


def test_the_service_is_refused_as_quickly_as_others(proxy, folder):
    """Its lock is a connection of its own, which is asked before every write."""
    with Store.open(proxy.url, folder, writer=True) as store:
        proxy.freeze()
        assert seconds_until_refused(lambda: store.revoke_token("a token")) < 20.0
        proxy.thaw()
        wait_until(lambda: written(store))


def written(store):
    try:
        store.save_event(event(2))
    except StoreUnavailable:
        return False
    return True
