"""Progress of long work, reported without knowing who shows it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class Task:
    """One piece of long work. This one is silent; the command line shows a bar."""

    def advance(self, steps: float = 1, note: str = "") -> None:
        """`steps` more are done; `note` is a short live text such as `loss 0.31`."""


class Reporter:
    """Takes progress, remarks and warnings. This one is silent; the command line shows them."""

    def say(self, message: str) -> None:
        """An ordinary remark."""

    def detail(self, message: str) -> None:
        """A remark for `--verbose`."""

    def warn(self, message: str) -> None:
        """Something the user should know although the work continues."""

    @contextlib.contextmanager
    def task(self, description: str, total: float | None = None) -> Iterator[Task]:
        """Long work of `total` steps, or of unknown length."""
        yield Task()


class Relay(Reporter):
    """Passes everything on; a subclass changes something on the way."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter

    def say(self, message: str) -> None:
        self.reporter.say(message)

    def detail(self, message: str) -> None:
        self.reporter.detail(message)

    def warn(self, message: str) -> None:
        self.reporter.warn(message)

    @contextlib.contextmanager
    def task(self, description: str, total: float | None = None) -> Iterator[Task]:
        with self.reporter.task(description, total) as task:
            yield task


class Labelled(Relay):
    """Puts a name before every message, where several report at once."""

    def __init__(self, reporter: Reporter, label: str) -> None:
        super().__init__(reporter)
        self._label = label

    def say(self, message: str) -> None:
        super().say(f"{self._label}: {message}")

    def detail(self, message: str) -> None:
        super().detail(f"{self._label}: {message}")

    def warn(self, message: str) -> None:
        super().warn(f"{self._label}: {message}")

    @contextlib.contextmanager
    def task(self, description: str, total: float | None = None) -> Iterator[Task]:
        with super().task(f"{self._label} {description}", total) as task:
            yield task


SILENT = Reporter()
