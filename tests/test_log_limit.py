"""A log that nobody can flood."""

from __future__ import annotations

import io
import logging
import re
import subprocess
import sys

import pytest

from ssdpt.cli.serve import _log_to_terminal
from ssdpt.common.log_format import LineFormatter
from ssdpt.common.log_limit import LimitedHandler
from waiting import wait_until


class Log:
    """A logger of its own, and what was written."""

    def __init__(self, **options):
        self.written = io.StringIO()
        self.handler = LimitedHandler(self.written, **options)
        self.logger = logging.Logger("test")
        self.logger.addHandler(self.handler)

    @property
    def lines(self):
        return self.written.getvalue().splitlines()

    @property
    def accounted_for(self):
        """Records that were written, and those that were counted."""
        counts = [re.match(r"(\d+) more like this", line) for line in self.lines]
        written = [line for line in self.lines if line.startswith(("machine-", "connection "))]
        return len(written) + sum(int(count[1]) for count in counts if count)

    def flood(self, count):
        for number in range(count):
            self.logger.warning("connection %d failed at 100%% load", number)

    def lose_sources(self, count):
        for number in range(count):
            self.logger.info("%s", f"machine-{number}: the source is lost: no sound for 60 s")


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def log(now):
    """Its period ends when the test says so, or a record comes."""
    log = Log(clock=lambda: now[0])
    yield log
    log.handler.close()


def test_what_repeats_is_counted_not_written(log, now):
    log.flood(1000)
    assert len(log.lines) == 10
    now[0] = 61.0
    log.flood(1)
    counts = [line for line in log.lines if "990 more like this were left out within 61 s" in line]
    assert len(counts) == 1
    assert log.lines[-1] == "connection 0 failed at 100% load"
    now[0] = 122.0
    log.flood(1)
    assert log.lines[-2:] == ["connection 0 failed at 100% load"] * 2


def test_the_names_of_what_was_left_out_are_written(log, now):
    log.lose_sources(200)
    now[0] = 61.0
    log.lose_sources(1)
    written = log.written.getvalue()
    assert "190 more like this were left out" in written
    assert all(f"machine-{number}" in written for number in range(200))
    assert len(log.lines) < 16


def test_many_names_are_bounded(log, now):
    for number in range(100_000):
        log.logger.warning("%s is refused", f"{number:050d}")
    now[0] = 61.0
    log.flood(1)
    log.handler.close()
    assert "99990 more like this" in log.written.getvalue()
    assert "and others" in log.written.getvalue()
    assert len(log.written.getvalue()) < 12_000
    assert max(map(len, log.lines)) < 2000


def test_the_count_follows_even_if_nothing_more_comes():
    log = Log(period=0.2)
    log.lose_sources(200)
    log.flood(300)
    # However long it took: each record was written or counted.
    wait_until(lambda: log.accounted_for == 500)
    assert "machine-199" in log.written.getvalue()
    log.handler.close()


def test_the_count_follows_at_the_end_of_the_program():
    program = """
import logging
from ssdpt.cli.serve import _log_to_terminal

_log_to_terminal()
for number in range(200):
    logging.getLogger("ssdpt").info("%s", f"machine-{number} is lost")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "190 more like this were left out" in done.stderr
    assert "machine-199" in done.stderr


def test_a_count_is_no_second_traceback(log, now):
    log.handler.setFormatter(LineFormatter())
    for _ in range(11):
        try:
            raise ValueError
        except ValueError:
            log.logger.exception("it failed")
    now[0] = 61.0
    log.handler.close()
    assert log.written.getvalue().count("Traceback") == 10
    assert log.lines[-1].startswith(
        "ERROR test: 1 more like this were left out within 61 s (it fail"
    )


def test_other_places_are_still_written(log):
    log.flood(100)
    log.logger.warning("the disk is full")
    assert log.lines[-1] == "the disk is full"


def test_exceptions_of_another_type_are_still_written(log):
    log.handler.setFormatter(logging.Formatter("%(message)s"))
    for error in [ValueError()] * 20 + [KeyError()]:
        log.logger.error("failed with %s", type(error).__name__, exc_info=error)
    failures = [line for line in log.lines if line.startswith("failed with")]
    assert len(failures) == 11
    assert failures[-1] == "failed with KeyError"


def test_the_log_of_the_service_is_limited_whoever_writes():
    """The tracebacks of connections that failed, 55 MB of them, came from a library."""
    root, ours = logging.getLogger(), logging.getLogger("ssdpt")
    before, level = list(root.handlers), ours.level
    _log_to_terminal()
    (handler,) = (one for one in root.handlers if one not in before)
    try:
        handler.setStream(written := io.StringIO())
        for number in range(1000):
            logging.getLogger("uvicorn.error").warning("connection %d failed", number)
        assert written.getvalue().count("failed") == 10
    finally:
        root.removeHandler(handler)
        handler.close()
        ours.setLevel(level)
