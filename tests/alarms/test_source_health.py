"""Problems of a source: no data, silence, clipping."""

from __future__ import annotations

import itertools

import pytest

from ssdpt.alarms.source_health import CLIPPING, LOST, SILENT, UNUSABLE, SourceHealth
from ssdpt.features.loudness import Loudness

HEALTHY, CLIPPED = Loudness(-40.0, 0.0), Loudness(-1.0, 0.2)


@pytest.mark.parametrize(
    ("loudness", "lost", "problem"),
    [
        (None, True, LOST),
        (Loudness(-120.0, 0.0), False, SILENT),
        (CLIPPED, False, CLIPPING),
        (HEALTHY, False, ""),
    ],
)
def test_a_problem_is_reported_when_it_lasts_and_over_when_it_stays_away(loudness, lost, problem):
    health = SourceHealth()
    reports = [health.update(float(time), loudness, lost=lost) for time in range(12)]
    assert reports == [""] * 10 + [problem] * 2
    reports = [health.update(float(time), HEALTHY, lost=False) for time in range(12, 24)]
    assert reports == [problem] * 10 + [""] * 2


def problems(pattern, health=None, start=0):
    """The problem reported after each second; x: a second that clips."""
    health = health or SourceHealth()
    seconds = [CLIPPED if sign == "x" else HEALTHY for sign in pattern]
    return [
        health.update(float(time), loudness, lost=False)
        for time, loudness in enumerate(seconds, start)
    ]


def test_a_source_that_clips_every_few_seconds_is_one_problem():
    reports = problems("x" * 12 + "..x.....x.x" * 10 + "." * 12)
    assert sum(before != after for before, after in itertools.pairwise(reports)) == 2
    assert reports[11] == reports[-3] == CLIPPING
    assert reports[-1] == ""


def test_a_loud_second_now_and_then_is_no_problem():
    assert set(problems("x........." * 10)) == {""}


def test_a_clock_that_is_set_back_neither_keeps_a_problem_nor_makes_one():
    health = SourceHealth()
    problems("x" * 12 + "..", health, start=1000)
    assert problems("." * 12, health, start=10)[-1] == ""
    problems("x", health, start=2000)
    assert set(problems("x" * 10, health, start=10)) == {""}


def test_a_lost_source_is_reported_although_it_clipped_before():
    health = SourceHealth()
    problems("x" * 12, health)
    reports = [health.update(float(time), None, lost=True) for time in range(12, 24)]
    assert reports == [CLIPPING] * 10 + [LOST] * 2


def test_three_unusable_snapshots_in_a_row_are_a_problem_until_three_can_be_used():
    health = SourceHealth()
    usable = [False, False, True, False, False, False, True, True, False, True, True, True]
    reports = [
        health.add_snapshot(10.0 * number, 0.0 if one else None)
        for number, one in enumerate(usable)
    ]
    assert reports == [""] * 5 + [UNUSABLE] * 6 + [""]


def test_snapshots_that_clip_are_a_problem_and_quiet_ones_are_not():
    health = SourceHealth()
    assert [health.add_snapshot(10.0 * number, 0.2) for number in range(3)] == [
        *("", CLIPPING, CLIPPING)
    ]
    assert health.add_snapshot(30.0, None) == CLIPPING
    assert [health.add_snapshot(40.0 + 10 * number, 0.0) for number in range(2)][-1] == ""


def test_a_source_that_was_lost_is_not_when_snapshots_come_again():
    health = SourceHealth()
    for second in range(12):
        health.update(float(second), None, lost=True)
    assert health.problem == LOST
    assert [health.add_snapshot(20.0 + 10 * number, 0.0) for number in range(2)] == [LOST, ""]


def test_a_source_has_no_problem_at_first_nor_with_a_thousandth_of_clipped_samples():
    assert SourceHealth().problem == ""
    health = SourceHealth()
    at_the_limit = Loudness(-1.0, 0.001)
    assert {health.update(float(time), at_the_limit, lost=False) for time in range(30)} == {""}
    assert {health.add_snapshot(100.0 + 10 * number, 0.001) for number in range(5)} == {""}
