"""The error a person can act on."""

from __future__ import annotations


class SsdptError(Exception):
    """Something the user can put right, told in one sentence: what, where, and what to do.

    The command line prints it without a traceback and exits with code 2.
    """
