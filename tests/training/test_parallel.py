"""Parallel trainings: results in order, and all stop if one fails."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from ssdpt.common.progress import Reporter
from ssdpt.training.parallel import parallel_jobs, run_parallel


def test_results_come_in_order():
    def work(item, reporter):
        time.sleep(0.01 * (3 - item))
        return item * item

    assert run_parallel(work, range(4), 3, Reporter()) == [0, 1, 4, 9]


def test_items_really_run_in_parallel():
    meeting = threading.Barrier(2, timeout=60)

    def work(item, reporter):
        return meeting.wait() >= 0  # would wait for ever if they ran one after the other

    assert run_parallel(work, [1, 2], 2, Reporter()) == [True, True]


def test_one_job_runs_sequentially_in_this_thread():
    def work(item, reporter):
        return threading.current_thread()

    assert run_parallel(work, [1, 2], 1, Reporter()) == [threading.current_thread()] * 2


def test_when_one_fails_the_others_stop_at_their_next_progress():
    stopped, begun = [], threading.Event()

    def work(item, reporter):
        if item == 0:
            assert begun.wait(60)
            raise ValueError("lost")
        begun.set()
        with reporter.task("training", 1000) as task:
            try:
                for _ in range(1000):
                    time.sleep(0.01)
                    task.advance()
            except BaseException as reason:
                stopped.append(type(reason).__name__)
                raise
        return item

    with pytest.raises(ValueError, match="lost"):
        run_parallel(work, [0, 1], 2, Reporter())
    assert stopped == ["_Stopped"]


def test_a_failure_is_noticed_before_earlier_ones_are_done():
    release, failed = threading.Event(), threading.Event()

    def work(item, reporter):
        if item == 1:
            failed.set()
            raise ValueError("lost")
        with reporter.task("training", 1000) as task:
            assert failed.wait(60)
            for _ in range(1000):
                if release.wait(0.01):
                    return item
                task.advance()
        return item

    with pytest.raises(ValueError, match="lost"):
        run_parallel(work, [0, 1, 2, 3], 2, Reporter())


def test_each_has_the_callers_number_of_torch_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        seen = run_parallel(lambda item, reporter: torch.get_num_threads(), [1, 2], 2, Reporter())
    finally:
        torch.set_num_threads(before)
    assert seen == [2, 2]


def test_messages_are_forwarded():
    class MessageCollector(Reporter):
        messages = ()

        def say(self, message):
            self.messages = (*self.messages, message)

        warn = detail = say

    def work(item, reporter):
        reporter.say(f"say {item}")
        reporter.warn(f"warn {item}")
        reporter.detail(f"detail {item}")

    collector = MessageCollector()
    run_parallel(work, [1, 2], 2, collector)
    assert sorted(collector.messages) == sorted(
        f"{kind} {item}" for kind in ("say", "warn", "detail") for item in (1, 2)
    )


def test_a_cpu_runs_one_job_at_a_time():
    assert parallel_jobs("cpu") == 1
