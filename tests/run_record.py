"""What became of every test, in a file, so that a run can go on where it was cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

PASSED, FAILED, ENDED = "passed", "failed", "ended"


def add_option(parser: pytest.Parser) -> None:
    """The option `--resume`."""
    parser.addoption("--resume", type=Path, help="leave out what has passed by this file")


def start(config: pytest.Config) -> None:
    """Write the file, in the process that starts the others."""
    path = config.getoption("--resume")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(RunRecord(path))


def leave_out_passed(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that have passed by the file."""
    path = config.getoption("--resume")
    if path is not None:
        passed = {name for what, name in _lines(path) if what == PASSED}
        items[:] = [item for item in items if item.nodeid not in passed]


class RunRecord:
    """Adds a line for each test that has passed or failed, and for each process that has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when not in ("setup", "call", "teardown"):
            return  # what was under way in a process that ended
        if report.failed and report.nodeid not in self._failed:
            self._failed.add(report.nodeid)
            self._add(FAILED, report.nodeid)
        if report.when == "teardown" and report.nodeid not in self._failed:
            self._add(PASSED, report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        if error:
            self._add(ENDED, str(error))

    def _add(self, what: str, name: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            print(what, name, file=file)


def count(path: Path, what: str) -> int:
    """How many lines of a kind there are."""
    return sum(each == what for each, _ in _lines(path))


def _lines(path: Path) -> list[tuple[str, str]]:
    if not path.exists():
        return []
    parts = (line.partition(" ") for line in path.read_text("utf-8").splitlines())
    return [(what, name) for what, _, name in parts]
