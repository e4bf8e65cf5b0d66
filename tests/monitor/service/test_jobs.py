"""Jobs run one after the other; a failure is noted and does not stop the others."""

from __future__ import annotations

import threading

from ssdpt.errors import SsdptError
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.service_log import ServiceLog
from waiting import wait_until


def test_jobs_run_in_order_and_failures_are_noted():
    log = ServiceLog()
    jobs, done = JobQueue(log, "jobs"), []

    def fail():
        raise SsdptError("the disk is full")

    def break_down():
        raise ZeroDivisionError

    jobs.submit("pump: first", lambda: done.append(1))
    jobs.submit("pump: no baseline was learned", fail)
    jobs.submit("pump: no picture", break_down)
    jobs.submit("pump: last", lambda: done.append(2))
    wait_until(lambda: done == [1, 2])
    assert log.notes == (
        "pump: no baseline was learned: the disk is full",
        "pump: no picture (ZeroDivisionError())",
    )
    jobs.close()


def test_a_closed_queue_starts_nothing_more():
    jobs, done = JobQueue(ServiceLog(), "jobs"), []
    started, go_on = threading.Event(), threading.Event()

    def first():
        started.set()
        go_on.wait(60)

    jobs.submit("first", first)
    jobs.submit("second", lambda: done.append(2))
    started.wait(60)
    jobs.close()
    go_on.set()
    wait_until(lambda: not jobs._thread.is_alive())
    assert not done
