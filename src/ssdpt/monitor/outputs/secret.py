"""Passwords and keys: in files of their own, never in settings, logs or errors."""

from __future__ import annotations

from pathlib import Path

from ssdpt.errors import SsdptError


def read_secret(path: Path) -> str:
    """The first line of a file; SsdptError names the file, never what is in it."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SsdptError(f"{path}: the secret in it cannot be read ({reason})") from None
    except UnicodeDecodeError:
        # Without its cause: that one carries the content.
        raise SsdptError(f"{path}: holds no text; write the secret as UTF-8") from None
    if not lines or not lines[0]:
        raise SsdptError(f"{path}: is empty; write the secret on its first line")
    if any(lines[1:]):
        raise SsdptError(f"{path}: has more than one line; write the secret alone on the first")
    return lines[0]
