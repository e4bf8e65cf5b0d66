"""Which seconds are new, which were left out, and how long nothing was judged."""

from __future__ import annotations

import pytest

from ssdpt.monitor.service.second_progress import SecondProgress

LEVELS = [(float(end), f"level {end}") for end in range(1001, 1013)]


def test_every_second_in_its_turn():
    progress = SecondProgress()
    assert progress.notice(1001.0, 1000.0) == 1
    assert progress.process(1001.0, 1000.0, LEVELS[:1]) == []
    progress.judge(1001.0)
    assert progress.notice(1002.0, 1000.0) == 1
    assert progress.process(1002.0, 1000.0, LEVELS[:2]) == []
    assert progress.judge(1002.0) == 1.0


def test_what_was_measured_of_seconds_that_were_left_out_is_not_lost():
    progress = SecondProgress()
    progress.process(1001.0, 1000.0, LEVELS[:1])
    assert [progress.notice(end, 1000.0) for end in (1002.0, 1003.0)] == [1, 1]
    assert progress.process(1004.0, 1000.0, LEVELS[:4]) == LEVELS[1:3]


def test_seconds_that_nobody_looked_at_are_counted():
    progress = SecondProgress()
    assert progress.notice(1001.0, 1000.0) == 1
    assert progress.notice(1004.02, 1000.0) == 3


def test_a_gap_is_no_sound_that_was_left_out():
    progress = SecondProgress()
    progress.notice(1001.0, 1000.0)
    progress.process(1001.0, 1000.0, LEVELS[:1])
    assert progress.notice(1009.0, 1007.5) == 2
    assert progress.process(1009.0, 1007.5, LEVELS[:9]) == LEVELS[7:8]


def test_a_clock_that_is_set_back_offers_one_second():
    progress = SecondProgress()
    progress.notice(2000.0, 1000.0)
    progress.process(2000.0, 1000.0, [])
    progress.judge(2000.0)
    assert progress.notice(1500.0, 1000.0) == 1
    assert progress.process(1500.0, 1000.0, [(1499.0, "before")]) == []
    assert progress.judge(1500.0) == 0.0


def test_time_without_a_verdict_counts_up_to_a_limit():
    progress = SecondProgress()
    progress.judge(1001.0)
    assert progress.judge(1009.0) == pytest.approx(8.0)
    assert progress.judge(2000.0) == pytest.approx(10.0)
