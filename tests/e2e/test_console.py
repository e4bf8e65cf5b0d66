"""Console output: bars on a terminal, plain lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ssdpt.cli import console
from ssdpt.cli.console import ConsoleReporter
from ssdpt.cli.formats import sparkline


@pytest.fixture
def screen():
    return io.StringIO()


@pytest.fixture
def reporter(screen):
    reporter = ConsoleReporter()
    reporter.console = Console(file=screen, width=120)
    return reporter


def test_messages(reporter, screen):
    reporter.say("a [bold]remark")
    reporter.detail("unseen")
    reporter.warn("take care")
    reporter.verbose = True
    reporter.detail("seen")
    assert screen.getvalue().splitlines() == ["a [bold]remark", "note: take care", "seen"]


def test_quiet_leaves_errors_only(reporter, screen):
    reporter.quiet = True
    reporter.say("a remark")
    reporter.warn("take care")
    with reporter.task("work", total=2) as task:
        task.advance()
    reporter.error("wrong")
    assert screen.getvalue() == "error: wrong\n"


def test_plain_progress_where_there_is_no_terminal(reporter, screen, monkeypatch):
    clock = iter([0.0, 5.0, 11.0, 12.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    with reporter.task("features", total=8) as task:
        task.advance()
        task.advance(2, "loss 0.3")
        task.advance()
    assert screen.getvalue() == "features: 3 of 8 loss 0.3\n"


def test_bars_on_a_terminal(screen):
    reporter = ConsoleReporter()
    reporter.console = Console(file=screen, force_terminal=True, width=150)
    with reporter.task("fit", total=2) as outer:
        with reporter.task("thresholds", total=4) as inner:
            inner.advance(4, "loss 0.25")
        outer.advance(2)
    shown = screen.getvalue()
    for text in ("fit", "thresholds", "4/4", "2/2", "loss 0.25"):
        assert text in shown


def test_sparklines():
    assert sparkline([0.0, 1.0]) == "▁█"
    assert sparkline([3.0, 3.0, 3.0]) == "▁▁▁"
    long = sparkline([0.0] * 99 + [5.0])
    assert len(long) == 40
    assert long.endswith("█")
    assert long.count("█") == 1
