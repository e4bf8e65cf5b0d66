"""A run of all tests goes on after a process was ended; what failed runs once more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CONFTEST = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
import run_record

def pytest_addoption(parser):
    run_record.add_option(parser)

def pytest_configure(config):
    run_record.start(config)

def pytest_collection_modifyitems(config, items):
    run_record.leave_out_passed(config, items)
"""
PASSES = """
def test_passes():
    with open({path!r}, "a") as file:
        file.write("p")
"""
IS_ENDED_ONCE = """
import os, pathlib, signal
def test_is_ended_once():
    path = pathlib.Path({path!r})
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""
FAILS_ONCE = """
import pathlib
def test_fails_once():
    path = pathlib.Path({path!r})
    before = path.exists()
    path.touch()
    assert before
"""
FAILS = """
def test_fails():
    with open({path!r}, "a") as file:
        file.write("f")
    assert False
"""


@pytest.mark.parametrize(
    ("last", "code", "content"), [(IS_ENDED_ONCE, 0, ""), (FAILS_ONCE, 0, ""), (FAILS, 1, "ff")]
)
def test_what_passed_runs_once_and_what_failed_twice(tmp_path, last, code, content):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text(PASSES.format(path=str(tmp_path / "passed")))
    (tmp_path / "test_b.py").write_text(last.format(path=str(tmp_path / "last")))
    options = ("-n", "1", "-p", "no:cacheprovider", "--dist", "loadfile")
    run = subprocess.run(
        [sys.executable, TESTS / "run_all.py", *options, "--no-loadscope-reorder", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == code, run.stdout
    assert (tmp_path / "passed").read_text() == "p"
    assert (tmp_path / "last").read_text() == content
    assert run.stdout.count("what is left runs") == 1
