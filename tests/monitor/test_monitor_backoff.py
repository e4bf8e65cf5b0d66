"""The time between two attempts."""

from __future__ import annotations

import itertools
import random

from ssdpt.common.backoff import FIRST, LONGEST, Backoff


def test_waits_double_up_to_the_longest_and_begin_anew():
    backoff = Backoff()
    for number, wait in enumerate(itertools.islice(backoff, 12)):
        longest = min(FIRST * 2**number, LONGEST)
        assert longest / 2 <= wait <= longest
    backoff.reset()
    assert next(backoff) <= FIRST


def test_many_that_lost_one_server_do_not_come_back_together():
    backoffs = [Backoff(random.Random(seed)) for seed in range(20)]
    for _ in range(12):
        assert len({round(next(backoff), 3) for backoff in backoffs}) > 15
