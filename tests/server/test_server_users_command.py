"""ssdpt user: adding, listing and removing people, and tokens for programs."""

from __future__ import annotations

import json

import pytest
from serving import PASSWORD
from typer.testing import CliRunner

from ssdpt.cli.users import app, open_store


@pytest.fixture
def run(tmp_path):
    def run(*arguments, typed=PASSWORD + "\n"):
        return CliRunner().invoke(app, [*arguments, "--data", str(tmp_path / "data")], input=typed)

    return run


def add(run, name, role, **more):
    return run("add", name, "--role", role, "--password-file", "-", **more)


def test_a_user_comes_and_goes(run, tmp_path):
    assert add(run, "ann", "admin").exit_code == 0
    assert add(run, "bob", "viewer").exit_code == 0
    found = json.loads(run("list", "--json").stdout)
    assert found == [{"name": "ann", "role": "admin"}, {"name": "bob", "role": "viewer"}]
    assert run("list").stdout == "ann  admin\nbob  viewer\n"
    with open_store(tmp_path / "data") as store:
        assert store.check_password("ann", PASSWORD).role == "admin"
    assert run("remove", "bob").exit_code == 0
    assert run("list").stdout == "ann  admin\n"


def test_a_token_is_shown_once_and_can_be_revoked(run, tmp_path):
    add(run, "ann", "operator")
    token = run("token", "ann", "--days", "1").stdout.strip()
    with open_store(tmp_path / "data") as store:
        assert store.check_token(token).name == "ann"
    assert run("token", "ann", "--revoke").exit_code == 0
    with open_store(tmp_path / "data") as store:
        assert store.check_token(token) is None


def test_a_new_password_ends_tokens(run, tmp_path):
    add(run, "ann", "operator")
    token = run("token", "ann").stdout.strip()
    assert run("password", "ann", "--password-file", "-", typed="another one\n").exit_code == 0
    with open_store(tmp_path / "data") as store:
        assert store.check_password("ann", "another one").name == "ann"
        assert store.check_token(token) is None


def test_a_password_from_a_file(run, tmp_path):
    (tmp_path / "password").write_text(PASSWORD + "\n")
    result = run("add", "ann", "--password-file", str(tmp_path / "password"))
    assert result.exit_code == 0
    with open_store(tmp_path / "data") as store:
        assert store.check_password("ann", PASSWORD).role == "viewer"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("add", "ann", "--role", "boss", "--password-file", "-"), "viewer, operator, admin"),
        (("add", "ann"), "--password-file"),
        (("add", "a b", "--password-file", "-"), "name"),
        (("remove", "nobody"), "nobody"),
        (("token", "nobody"), "nobody"),
        (("list", "--store", "mysql://x"), "sqlite"),
    ],
)
def test_errors_are_sentences(run, arguments, sentence):
    add(run, "root", "admin")
    result = run(*arguments)
    assert result.exit_code == 2
    assert sentence in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("arguments", [("list",), ("token", "ann"), ("remove", "ann")])
def test_a_folder_without_a_history_is_an_error_and_stays_as_it_is(run, tmp_path, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "there is no history here" in result.output
    assert not (tmp_path / "data").exists()
