"""Output of the command line: messages and progress to stderr, results to stdout."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console as RichConsole

from ssdpt.common.progress import Reporter, Task
from ssdpt.errors import visible
from ssdpt.help import topic_of

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PLAIN_SECONDS = 10.0  # between progress lines without a terminal


class Console(RichConsole):
    """Names of files and machines can hold control characters; the terminal never gets them."""

    def print(self, *objects: Any, **options: Any) -> None:
        shown = (visible(one, "\n\t") if isinstance(one, str) else one for one in objects)
        super().print(*shown, **options)


class ConsoleReporter(Reporter):
    """Messages, warnings and progress bars; plain lines if stderr is not a terminal."""

    def __init__(self) -> None:
        self.quiet = False
        self.verbose = False
        self.console = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        self._bars: Progress | None = None
        self._tasks = 0  # number of tasks that share the display
        self._lock = threading.Lock()
        self._topics: set[str] = set()  # that were named

    def start(self, quiet: bool, verbose: bool) -> None:
        """A command begins."""
        self.quiet, self.verbose = quiet, verbose
        self._topics.clear()

    def say(self, message: str) -> None:
        if not self.quiet:
            self.console.print(message, markup=False)

    def detail(self, message: str) -> None:
        if self.verbose:
            self.console.print(message, style="dim", markup=False)

    def warn(self, message: str) -> None:
        if not self.quiet:
            self.console.print(f"note: {message}", style="yellow", markup=False)

    def error(self, message: str) -> None:
        """Show an error, even with --quiet, and once the topic that explains it."""
        self.console.print(f"error: {message}", style="bold red", markup=False)
        topic = topic_of(message)
        if topic is not None and topic not in self._topics:
            self._topics.add(topic)
            self.say(f"more: ssdpt help {topic}")

    @contextlib.contextmanager
    def task(self, description: str, total: float | None = None) -> Iterator[Task]:
        if self.quiet:
            yield Task()
        elif not self.console.is_terminal:
            yield _PlainTask(self, description, total)
        else:
            with self._display() as bars:
                number = bars.add_task(description, total=total, note="")
                yield _BarTask(bars, number)
                # The bar stays on screen: finished, or where it stopped.
                bars.stop_task(number)

    @contextlib.contextmanager
    def _display(self) -> Iterator[Progress]:
        """One live display, shared by all running tasks of all threads."""
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        with self._lock:
            if self._bars is None:
                self._bars = Progress(
                    TextColumn("{task.description:<16}"),
                    BarColumn(bar_width=28),
                    MofNCompleteColumn(),
                    TimeElapsedColumn(),
                    TimeRemainingColumn(),
                    TextColumn("{task.fields[note]}", style="dim"),
                    console=self.console,
                )
                self._bars.start()
            self._tasks += 1
            bars = self._bars
        try:
            yield bars
        finally:
            with self._lock:
                self._tasks -= 1
                if self._tasks == 0:
                    bars.stop()
                    self._bars = None


class _BarTask(Task):
    def __init__(self, bars: Progress, number: TaskID) -> None:
        self._bars, self._number = bars, number

    def advance(self, steps: float = 1, note: str = "") -> None:
        self._bars.advance(self._number, steps)
        if note:
            self._bars.update(self._number, note=visible(note))


class _PlainTask(Task):
    """Progress as occasional lines, for log files."""

    def __init__(self, reporter: ConsoleReporter, description: str, total: float | None) -> None:
        self._reporter, self._description, self._total = reporter, description, total
        self._done, self._shown = 0.0, time.monotonic()

    def advance(self, steps: float = 1, note: str = "") -> None:
        self._done += steps
        now = time.monotonic()
        if now - self._shown >= _PLAIN_SECONDS:
            self._shown = now
            total = f" of {self._total:g}" if self._total else ""
            self._reporter.say(f"{self._description}: {self._done:g}{total} {note}".rstrip())


REPORTER = ConsoleReporter()
STDOUT = Console(highlight=False, emoji=False, soft_wrap=True)


def print_rows(rows: list[dict[str, str]]) -> None:
    """Print rows of text as aligned columns, never truncated; the keys are the headings."""
    table = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for number, (first, *others) in enumerate(table):
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        line = "  ".join([first.ljust(widths[0]), *cells])
        STDOUT.print(line, markup=False, style=None if number else "bold")
