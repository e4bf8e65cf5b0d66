"""Users and tokens: nothing that is stored lets anyone sign in."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import select

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import User
from ssdpt.monitor.store import users as users_module
from ssdpt.monitor.store.tables import tokens, users

PASSWORD = "correct horse"
COST = users_module._COST


def test_a_password_is_valid_only_for_its_user(store):
    store.add_user("ada", "admin", PASSWORD)
    store.add_user("bo@plant", "viewer", "häuser im wald")
    assert store.users() == [User("ada", "admin"), User("bo@plant", "viewer")]
    assert store.check_password("ada", PASSWORD) == User("ada", "admin")
    assert store.check_password("bo@plant", "häuser im wald") == User("bo@plant", "viewer")
    for name, password in (
        ("ada", "häuser im wald"),
        ("ada", ""),
        ("ada", PASSWORD * 1000),
        ("Ada", PASSWORD),
        ("nobody", PASSWORD),
        ("ada\0", PASSWORD + "\ud800"),
    ):
        assert store.check_password(name, password) is None


def test_no_password_and_no_token_is_stored(store, monkeypatch):
    monkeypatch.setattr(users_module, "_COST", COST)
    store.add_user("ada", "admin", PASSWORD)
    store.add_user("bo", "admin", PASSWORD)
    token = store.new_token("ada", None)
    with store.database.read() as connection:
        stored = connection.execute(select(users)).all()
        digests = connection.execute(select(tokens)).all()
    assert all(row.password.startswith("scrypt$16384$8$5$") for row in stored)
    assert stored[0].password != stored[1].password  # salted
    assert PASSWORD not in str(stored)
    assert token not in str(digests)


def test_a_password_of_another_cost_is_still_valid(store, monkeypatch):
    store.add_user("ada", "admin", PASSWORD)
    monkeypatch.setattr(users_module, "_COST", (4, 8, 2))
    assert store.check_password("ada", PASSWORD) == User("ada", "admin")


def test_users_that_are_not_valid_are_refused(store):
    store.add_user("ada", "viewer", PASSWORD)
    for name, role, password, message in (
        ("ada", "admin", PASSWORD, "user 'ada' exists already"),
        ("Ada", "admin", PASSWORD, "user 'ada' exists already; choose a name that differs by"),
        ("a b", "admin", PASSWORD, "a name has letters"),
        ("", "admin", PASSWORD, "a name has letters"),
        ("bo", "king", PASSWORD, "choose one of viewer, operator, admin"),
        ("bo", "admin", "short", r"Password too short \(5 of at least 8 characters\)"),
        ("bo", "admin", "x" * 1025, r"Password too long \(1025 of at most 1024 characters\)"),
    ):
        with pytest.raises(SsdptError, match=message):
            store.add_user(name, role, password)
    assert store.users() == [User("ada", "viewer")]


def test_a_token_is_valid_for_its_user_until_it_expires(store, monkeypatch):
    store.add_user("ada", "operator", PASSWORD)
    ever, day = store.new_token("ada", None), store.new_token("ada", 1)
    ada = User("ada", "operator")
    assert store.check_token(ever) == store.check_token(day) == ada
    assert store.check_token("") is None
    assert store.check_token(ever + "x") is None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 2 * 86400)
    assert store.check_token(day) is None
    assert store.check_token(ever) == ada
    store.new_token("ada", 1)
    with store.database.read() as connection:
        assert len(connection.execute(select(tokens)).all()) == 2  # the expired one is removed


def test_tokens_are_revoked_alone_or_together(store):
    store.add_user("ada", "viewer", PASSWORD)
    store.add_user("bo", "viewer", PASSWORD)
    one, two, other = (store.new_token(name, 7) for name in ("ada", "ada", "bo"))
    store.revoke_token(one)
    assert (store.check_token(one), store.check_token(two)) == (None, User("ada", "viewer"))
    store.revoke_tokens("ada")
    assert store.check_token(two) is None
    assert store.check_token(other) == User("bo", "viewer")


def test_a_new_password_ends_old_sessions(store):
    store.add_user("ada", "viewer", PASSWORD)
    token = store.new_token("ada", 7)
    store.set_password("ada", "battery staple")
    assert store.check_token(token) is None
    assert store.check_password("ada", PASSWORD) is None
    assert store.check_password("ada", "battery staple") is not None


def test_a_removed_user_cannot_sign_in(store):
    store.add_user("ada", "viewer", PASSWORD)
    token = store.new_token("ada", 7)
    store.remove_user("ada")
    assert store.users() == []
    assert store.check_token(token) is None
    assert store.check_password("ada", PASSWORD) is None
    for act in (
        lambda: store.remove_user("ada"),
        lambda: store.new_token("ada", 7),
        lambda: store.set_password("ada", PASSWORD),
    ):
        with pytest.raises(SsdptError, match="user 'ada' does not exist"):
            act()


@pytest.mark.parametrize("password", [PASSWORD, "guess", ""])
def test_the_work_is_the_same_for_a_name_that_does_not_exist(store, monkeypatch, password):
    """Otherwise the time that a reply takes would tell which names exist."""
    store.add_user("ada", "admin", PASSWORD)
    costs = []
    scrypt = users_module._scrypt

    def noted(password, salt, cost):
        costs.append(cost)
        return scrypt(password, salt, cost)

    monkeypatch.setattr(users_module, "_scrypt", noted)
    for name in ("ada", "nobody"):
        store.check_password(name, password)
    assert costs == [users_module._COST] * 2
