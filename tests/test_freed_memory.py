"""Memory of a process that runs for months."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from ssdpt.common import memory

# In processes of their own: what other tests have made would hide it, or be settled with it.
SETTLED = """
import gc, weakref
from ssdpt.common import memory

class Part:
    def __init__(self):
        self.whole = self

loaded = [Part() for _ in range(10_000)]
gone = weakref.ref(loaded[0])
before = len(gc.get_objects())
memory.settle()
print(before > 10_000, len(gc.get_objects()) < 1_000)
del loaded
gc.collect()
print(gone() is not None)
memory.settle()
print(gone() is None)
"""

# Small arrays, of which every hundredth stays: as short-lived ones of many threads lie in a heap.
RELEASED = """
import re
from pathlib import Path
import numpy as np
from ssdpt.common import memory

def megabytes():
    return int(re.search(r"VmRSS:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

arrays = [np.ones(2000) for _ in range(10_000)]
full = megabytes()
kept = arrays[::100]
del arrays
before = megabytes()
memory.release()
print(full - before, full - megabytes())
"""


def printed(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()


def test_what_stays_is_not_looked_through_again_and_is_freed_when_it_is_garbage():
    assert printed(SETTLED) == ["True"] * 4


@pytest.mark.skipif(memory._trim() is None, reason="the C library cannot give pages back")
def test_holes_are_given_back_to_the_system():
    without, released = map(float, printed(RELEASED))
    assert without < 30  # of 150 MB
    assert released > 100


def test_where_the_c_library_cannot_nothing_happens(monkeypatch):
    monkeypatch.setattr(memory, "_trim", lambda: None)
    memory.release()
    assert gc.isenabled()
