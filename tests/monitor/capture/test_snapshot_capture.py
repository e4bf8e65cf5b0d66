"""Capture of snapshots: none is lost, and the last ones are kept."""

from __future__ import annotations

from bearing import snapshot

from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.snapshot_capture import SnapshotCapture
from ssdpt.monitor.sources.snapshot import Unusable
from waiting import wait_until


class Source:
    """Gives what it was made with."""

    def __init__(self, *items):
        self.items = items

    def snapshots(self, stop):
        for item in self.items:
            if isinstance(item, Exception):
                raise item
            yield item


def test_all_wait_in_order_however_many_come_at_once():
    capture = SnapshotCapture("a", Source(*(snapshot(number) for number in range(250))))
    capture.start()
    times = []
    while len(times) < 250:
        wait_until(lambda: capture.due)
        times.append(capture.take().time)
    assert times == sorted(times)
    wait_until(lambda: not capture.alive)
    assert not capture.due


def test_it_stops_while_nobody_takes_them():
    capture = SnapshotCapture("a", Source(*(snapshot(number) for number in range(250))))
    capture.start()
    wait_until(lambda: capture.due)
    capture.stop()
    assert not capture.alive


def test_what_ends_it_is_said():
    capture = SnapshotCapture("a", Source(Unusable("no"), SsdptError("it is a file")))
    capture.start()
    wait_until(lambda: capture.failure)
    assert capture.failure == "it is a file"
    assert capture.take() == Unusable("no")
    capture = SnapshotCapture("a", Source(ValueError("x")))
    capture.start()
    wait_until(lambda: "internal error" in capture.failure)


def test_the_last_ten_minutes_are_kept():
    capture = SnapshotCapture("a", Source())
    for number in range(200):
        capture.keep(snapshot(number))
    kept = capture.kept
    assert len(kept) == 61
    assert kept[-1].time - kept[0].time == 600.0
    for number in range(200, 600):
        capture.keep(snapshot(200 + number / 1000))
    assert len(capture.kept) == 120
