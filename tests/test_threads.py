"""Worker threads: one torch thread each, and the caller keeps its own."""

from __future__ import annotations

import threading

import torch

from ssdpt.common.threads import cores, workers


def test_each_worker_has_one_torch_thread_and_the_caller_keeps_its_own():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        meeting = threading.Barrier(3, timeout=60)

        def ask():
            meeting.wait()  # all three workers at once, so that each is asked
            return torch.get_num_threads()

        with workers(3, "test") as pool:
            assert [job.result() for job in [pool.submit(ask) for _ in range(3)]] == [1, 1, 1]
        assert torch.get_num_threads() == cores() == 2
    finally:
        torch.set_num_threads(before)
