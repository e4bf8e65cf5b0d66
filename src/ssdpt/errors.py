"""The error a person can act on."""

from __future__ import annotations

import warnings


class SsdptError(Exception):
    """Something the user can put right, told in one sentence: what, where, and what to do.

    The command line prints it without a traceback and exits with code 2.
    """


class SsdptWarning(UserWarning):
    """Something the user should know although the work goes on, from where no reporter is."""


def warn(message: str) -> None:
    """Say it once; the command line shows it as a note."""
    warnings.warn(message, SsdptWarning, stacklevel=2)
