"""The oracle notices everything that must not happen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# In a process of its own: an audit hook cannot be taken back.
SCRIPT = """
import json, logging, os, sys, tempfile, warnings
from pathlib import Path
import numpy as np
from fuzz_oracle import Oracle, Violation
from ssdpt.errors import SsdptError

folder = Path(tempfile.mkdtemp())
kept = []

class Careless(SsdptError):
    def __str__(self):
        return "\\x1b[31m"

def log():
    try:
        1 / 0
    except ZeroDivisionError:
        logging.getLogger("a").exception("failed")

def forever():
    while True:
        pass

CASES = {
    "success": lambda: None,
    "a sentence": lambda: error(SsdptError("a.wav: empty; record it again")),
    "inside": lambda: (folder / "a").write_text("a"),
    "another error": lambda: error(KeyError("a")),
    "a control character": lambda: error(Careless("a")),
    "an empty sentence": lambda: error(SsdptError("")),
    "output": lambda: print("oops"),
    "output of a library": lambda: os.write(2, b"oops"),
    "a warning": lambda: warnings.warn("oops"),
    "a traceback": log,
    "a file outside": lambda: Path("/dev/../tmp/oops-fuzz").write_text("oops"),
    "a folder outside": lambda: os.mkdir(folder.parent / "oops-fuzz"),
    "a secret": lambda: Path("/etc/passwd").read_text(),
    "a command": lambda: os.system("true"),
    "time": forever,
    "memory": lambda: kept.append(np.ones(12_000_000)),
}

def error(one):
    raise one

oracle = Oracle(folder, 0.3, 64)
seen = {}
for name, case in CASES.items():
    try:
        oracle.check(lambda data: case(), b"")
    except Violation as violation:
        seen[name] = str(violation)
(folder.parent / "oops-fuzz").rmdir() if (folder.parent / "oops-fuzz").is_dir() else None
json.dump(seen, sys.stdout)
"""

EXPECTED = {
    "another error": "KeyError in",
    "a control character": "the sentence of Careless has a control character",
    "an empty sentence": "the sentence of SsdptError is empty",
    "output": "printed: oops",
    "output of a library": "printed: oops",
    "a warning": "UserWarning in",
    "a traceback": "logged ZeroDivisionError",
    "a file outside": "wrote outside the folder",
    "a folder outside": "os.mkdir outside the folder",
    "a secret": "read outside the folder",
    "a command": "os.system",
    "time": "too slow in",
    "memory": "too much memory",
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=Path(__file__).parent,
        env={**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("oracle"))},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", EXPECTED)
def test_what_must_not_happen_is_noticed(seen, case):
    assert seen[case].startswith(EXPECTED[case])


def test_what_may_happen_is_not(seen):
    assert set(seen) == set(EXPECTED)
