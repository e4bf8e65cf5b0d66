"""Bounds how long a database may take to answer: one that hangs is as good as stopped.

A server that is frozen, or whose machine is gone without a word, keeps connections open. Neither
its own timeouts nor those of TCP end them, so the wait for an answer has a deadline here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from contextvars import ContextVar
from time import monotonic
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError

SECONDS = 10.0  # for an answer to one statement
LONG_SECONDS = 600.0  # to statements that change or read much, such as migrations
BRIEF_SECONDS = 2.0  # to the question whether it is there

_allowed: ContextVar[float] = ContextVar("allowed", default=SECONDS)


class NoAnswer(Exception):
    """The server has not even said that it is there."""


def patient() -> contextlib.AbstractContextManager[None]:
    """Statements in here may take long."""
    return _allowing(LONG_SECONDS)


def brief() -> contextlib.AbstractContextManager[None]:
    """Statements in here take a moment, or the server hangs."""
    return _allowing(min(BRIEF_SECONDS, _allowed.get()))


@contextlib.contextmanager
def _allowing(seconds: float) -> Iterator[None]:
    before = _allowed.set(seconds)
    try:
        yield
    finally:
        _allowed.reset(before)


def bound_waits(engine: Engine) -> None:
    """Connections of this engine, to PostgreSQL, end when the server does not answer in time.

    Each is tried before it is used: one that was closed meanwhile is replaced, and where the server
    does not answer, nobody waits for the answer to a real question.
    """
    import psycopg

    class Unanswered(psycopg.OperationalError):
        """The deadline has passed, and the connection is closed."""

    class PatientConnection(psycopg.Connection[Any]):
        """Waits for an answer as long as is allowed, then is closed."""

        def wait(self, gen: Generator[Any, Any, Any], *arguments: Any, **named: Any) -> Any:
            seconds = _allowed.get()
            try:
                return super().wait(_until(gen, monotonic() + seconds), *arguments, **named)
            except _TooLate:
                self.close()  # the answer may still come, and would be taken for that of the next
                raise Unanswered(f"no answer for {seconds:g} s") from None

    @event.listens_for(engine, "do_connect")
    def _connect(_: Any, __: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return PatientConnection.connect(*arguments, **named)

    @event.listens_for(engine, "checkout")
    def _try(connection: PatientConnection, record: Any, _: object) -> None:
        if "used" not in record.info:
            record.info["used"] = True  # it was opened a moment ago
            return
        before = connection.autocommit
        try:
            with brief():
                connection.autocommit = True
                connection.execute("SELECT 1")
                connection.autocommit = before
        except Unanswered as error:
            raise NoAnswer(str(error)) from error
        except psycopg.Error as error:
            raise DisconnectionError(str(error)) from error


class _TooLate(Exception):
    """The deadline has passed."""


def _until(gen: Generator[Any, Any, Any], deadline: float) -> Generator[Any, Any, Any]:
    """The same steps; psycopg resumes it some times per second while nothing arrives."""
    ready = None  # as a generator is begun
    while True:
        try:
            state = gen.send(ready)
        except StopIteration as end:
            return end.value
        ready = yield state
        if not ready and monotonic() > deadline:
            raise _TooLate
