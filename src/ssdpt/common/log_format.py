"""A log that nobody can forge: what comes from outside stays in the line it belongs to."""

from __future__ import annotations

import logging
from typing import Any

from ssdpt.errors import one_line, visible

_INDENT = "    "


class LineFormatter(logging.Formatter):
    """One line for each record, without control characters; a traceback is indented below it.

    Names, addresses and payloads of others may be part of a message. They can neither begin a line
    nor send commands to the terminal that shows the log.
    """

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        return one_line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        return _indented(super().formatStack(stack_info))


def _indented(text: str) -> str:
    return "\n".join(_INDENT + visible(line) for line in text.split("\n"))
