"""What a process uses."""

from __future__ import annotations

import os
import threading

import pytest

from ssdpt.bench.load.usage import usage_of


def test_files_and_threads_of_this_process_are_counted(tmp_path):
    before = usage_of(os.getpid())
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    with (tmp_path / "one").open("w"), (tmp_path / "two").open("w"):
        during = usage_of(os.getpid())
    end.set()
    thread.join()
    assert during.files == before.files + 2
    assert during.threads == before.threads + 1
    assert during.memory_mb > 10
    sum(range(3_000_000))
    assert usage_of(os.getpid()).cpu_seconds > before.cpu_seconds


def test_a_process_that_is_gone_has_none():
    with pytest.raises(OSError, match="No such file"):
        usage_of(2**22 + 1)
