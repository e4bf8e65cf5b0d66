"""Passwords and keys are read from files; they never appear in settings, logs or errors."""

from __future__ import annotations

from pathlib import Path

from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence


def read_secret(path: Path) -> str:
    """The first line of a file; SsdptError names the file, never its content."""
    lines = _lines(path)
    if not lines or not lines[0]:
        raise SsdptError(Sentence("store.noSecret", path=path))
    if any(lines[1:]):
        raise SsdptError(Sentence("store.longSecret", path=path))
    return lines[0]


def read_secrets(path: Path) -> list[str]:
    """The lines of a file, without empty ones and those that begin with #."""
    lines = [line.strip() for line in _lines(path)]
    secrets = [line for line in lines if line and not line.startswith("#")]
    if not secrets:
        raise SsdptError(Sentence("store.noAddresses", path=path))
    return secrets


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SsdptError(Sentence("store.secretUnreadable", path=path, reason=reason)) from None
    except UnicodeDecodeError:
        # Without its cause, which holds the content.
        raise SsdptError(Sentence("store.secretNotText", path=path)) from None
