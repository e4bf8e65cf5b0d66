"""Several things at once: nobody waits for one that hangs."""

from __future__ import annotations

import threading
import time

from ssdpt.common.at_once import do_at_once
from ssdpt.errors import SsdptError


def test_all_are_done_at_the_same_time():
    meeting = threading.Barrier(3)
    assert do_at_once({str(number): meeting.wait for number in range(3)}, 60.0) == []
    assert not meeting.broken


def test_what_hangs_is_named_and_left():
    hangs = threading.Event()
    began = time.monotonic()
    late = do_at_once({"quick": lambda: None, "slow": hangs.wait, "slower": hangs.wait}, 0.2)
    assert late == ["slow", "slower"]
    assert time.monotonic() - began < 30.0
    hangs.set()


def test_errors_are_logged_and_end_nothing_else(caplog):
    done = threading.Event()

    def refuse():
        raise SsdptError("the database does not respond")

    assert do_at_once({"saving": refuse, "sending": (1).__truediv__, "rest": done.set}, 60.0) == []
    assert done.is_set()
    assert "saving failed: the database does not respond" in caplog.messages
    assert "sending failed" in caplog.messages
