"""Warnings of libraries reach the user as notes."""

from __future__ import annotations

import pytest

from ssdpt import cli
from ssdpt.errors import SsdptWarning, warn


def test_ours_are_notes_and_others_are_details(monkeypatch):
    shown = []
    monkeypatch.setattr(cli.REPORTER, "warn", lambda text: shown.append(("note", text)))
    monkeypatch.setattr(cli.REPORTER, "detail", lambda text: shown.append(("detail", text)))
    cli._show_warning(SsdptWarning("too little memory"), SsdptWarning, "a.py", 1)
    cli._show_warning("old function", DeprecationWarning, "b.py", 2)
    assert shown == [("note", "too little memory"), ("detail", "old function")]


def test_warn():
    with pytest.warns(SsdptWarning, match="smaller"):
        warn("smaller batches")
