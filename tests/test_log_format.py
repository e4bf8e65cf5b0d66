"""A log that nobody can forge."""

from __future__ import annotations

import io
import logging

import pytest

from ssdpt.common.log_format import LineFormatter


@pytest.fixture
def output():
    return io.StringIO()


@pytest.fixture
def log(output):
    logger, handler = logging.getLogger("test.forged"), logging.StreamHandler(output)
    handler.setFormatter(LineFormatter())
    logger.addHandler(handler)
    logger.propagate = False
    yield logger
    logger.removeHandler(handler)


def test_a_record_is_one_line_without_control_characters(log, output):
    log.warning("wrong password for %s from %s", "a\nINFO root: signed in", "\x1b[2J\x9b")
    assert output.getvalue() == (
        "WARNING test.forged: wrong password for a\\nINFO root: signed in from \\x1b[2J\\x9b\n"
    )


def test_a_huge_value_does_not_fill_the_log(log, output):
    log.warning("%s failed", "x" * 1_000_000)
    assert len(output.getvalue()) < 3000


def test_no_line_of_a_traceback_looks_like_a_record(log, output):
    try:
        raise ValueError("a\nERROR root: forged\x1b[31m\u2028b")
    except ValueError:
        log.exception("failed")
    first, *others = output.getvalue().splitlines()
    assert first == "ERROR test.forged: failed"
    assert all(line.startswith("    ") for line in others)
    assert "\x1b" not in output.getvalue()
    assert others[-1] == r"    ERROR root: forged\x1b[31m\u2028b"
