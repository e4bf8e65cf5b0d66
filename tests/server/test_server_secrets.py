"""Secrets are compared in constant time, and never written down where they were typed."""

from __future__ import annotations

import ast
import logging
import re
from pathlib import Path

import pytest
from serving import PASSWORD

import ssdpt

SOURCE = Path(ssdpt.__file__).parent
SECRET = re.compile(r"token|password|secret|csrf|signature|cookie", re.IGNORECASE)
EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
# Comparisons with such a word in them, none of which compares a secret with one that was sent.
HARMLESS = {
    "asked != (settings.password_file is not None)",
    "_PASSWORD in url",  # the placeholder {password}
    "self.url == without_password(stored.url)",  # both as they are shown
    # By the store, whose index holds SHA-256 digests: how long it takes tells nothing of a token.
    "tokens.c.digest == _digest(token)",
    "tokens.c.user == name",
    "tokens.c.user == users.c.name",
    "tokens.c.user == storable(name)",
}


def test_secrets_are_compared_in_constant_time():
    """With `hmac.compare_digest`; a new comparison with == has to be looked at."""
    compared = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], EQUAL):
                compared.add(ast.unparse(node))
    assert {text for text in compared if SECRET.search(text)} == HARMLESS


@pytest.mark.parametrize(
    ("name", "logged"), [("viewer", True), ("my password by mistake", False)], ids=["user", "typo"]
)
def test_a_name_that_nobody_has_is_not_logged(network, caplog, name, logged):
    """It may be a password, typed where the name belongs."""
    with caplog.at_level(logging.DEBUG):
        reply = network.post("/v1/session", json={"name": name, "password": PASSWORD + "x"})
    assert reply.status_code == 401
    assert "wrong password for" in caplog.text
    assert (name in caplog.text) == logged
