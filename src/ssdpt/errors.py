"""Errors and warnings that are shown to the user."""

from __future__ import annotations

import warnings


class SsdptError(Exception):
    """A problem that the user can solve; the message says what is wrong, where, and what to do.

    The command line prints it without a traceback and exits with code 2.
    """


class SsdptWarning(UserWarning):
    """Something the user should know although the work continues; used without a reporter."""


def warn(message: str) -> None:
    """Warn once; the command line shows it as a note."""
    warnings.warn(message, SsdptWarning, stacklevel=2)
