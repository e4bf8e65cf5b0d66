"""Errors and warnings that are shown to the user, and text that is safe to show."""

from __future__ import annotations

import re
import warnings

LONGEST_SENTENCE = 2000
"""Characters; of a longer one the middle is left out."""

# Controls of terminals, separators of lines, changes of the direction of writing, and halves of
# characters, which stand for bytes in file names that are no text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class SsdptError(Exception):
    """A problem that the user can solve; the message says what is wrong, where, and what to do.

    The command line prints it without a traceback and exits with code 2. Names and values of others
    may be part of the message: it is made one line that can be printed anywhere.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


class SsdptWarning(UserWarning):
    """Something the user should know although the work continues; used without a reporter."""


def warn(message: str) -> None:
    """Warn once; the command line shows it as a note."""
    warnings.warn(one_line(message), SsdptWarning, stacklevel=2)


def one_line(text: str) -> str:
    """A sentence as one line of bounded length without control characters.

    One that is so already is given back itself, with what it may know beside its text.
    """
    if len(text) <= LONGEST_SENTENCE and not _UNSAFE.search(text):
        return text
    if len(text) > LONGEST_SENTENCE:  # what to do stands at the end
        half = LONGEST_SENTENCE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return visible(text)


def visible(text: str, keep: str = "") -> str:
    """The text with its control characters written out, such as \\x1b; those of `keep` stay."""
    return _UNSAFE.sub(lambda sign: sign[0] if sign[0] in keep else _escape(sign[0]), text)


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
