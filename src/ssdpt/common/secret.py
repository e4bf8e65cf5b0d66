"""Passwords and keys are read from files; they never appear in settings, logs or errors."""

from __future__ import annotations

from pathlib import Path

from ssdpt.errors import SsdptError


def read_secret(path: Path) -> str:
    """The first line of a file; SsdptError names the file, never its content."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SsdptError(f"{path}: the secret cannot be read ({reason})") from None
    except UnicodeDecodeError:
        # Without its cause, which holds the content.
        raise SsdptError(f"{path}: not a text file; write the secret as UTF-8") from None
    if not lines or not lines[0]:
        raise SsdptError(f"{path}: is empty; write the secret on the first line")
    if any(lines[1:]):
        raise SsdptError(f"{path}: more than one line; write only the secret, on the first line")
    return lines[0]
