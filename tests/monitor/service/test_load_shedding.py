"""The rule of shedding: what is left out, whose turn it is, and when it ends."""

from __future__ import annotations

import doctest
from collections import Counter

import pytest

from ssdpt.monitor.service import load_shedding
from ssdpt.monitor.service.load_shedding import DEGREES, LoadShedding

BUSY = {"scoring": 0.7, "other": 0.3}
IDLE = {"scoring": 0.05, "other": 0.05}
LAST = len(DEGREES) - 1


def at_degree(number: int, machines: int = 0) -> LoadShedding:
    """A rule at this degree, with so many machines."""
    shedding = LoadShedding()
    for machine in range(machines):
        shedding.turn(f"m{machine}", 1)
    for _ in range(number):
        shedding.update(3.0, **BUSY)
    assert shedding.number == number
    return shedding


def turns(shedding: LoadShedding, machines: int, seconds: int) -> list[Counter[str]]:
    """How often each turn came, of every machine."""
    counts = [Counter() for _ in range(machines)]
    for _ in range(seconds):
        for number, count in enumerate(counts):
            count[shedding.turn(f"m{number}", 1)] += 1
    return counts


def test_without_load_every_second_is_scored():
    shedding = LoadShedding()
    for _ in range(20):
        assert not shedding.update(3.0, scoring=0.5, other=0.31)
    assert turns(shedding, 5, 10) == [Counter(score=10)] * 5


def test_segments_are_left_out_before_seconds():
    seen = [(degree.score_every, degree.second_every) for degree in DEGREES]
    assert seen == sorted(seen)
    first_skip = next(at for at, (_, seconds) in enumerate(seen) if seconds > 1)
    assert first_skip >= 2
    assert all(scores >= seconds for scores, seconds in seen)


@pytest.mark.parametrize("number", range(len(DEGREES)))
def test_every_machine_has_its_share_of_turns(number):
    shedding = at_degree(number, machines=10)
    period = 8  # a multiple of every degree
    for count in turns(shedding, 10, 5 * period)[1:]:
        looked_at = count["score"] + count["read"]
        assert abs(looked_at - 5 * period / DEGREES[number].second_every) <= 1
        assert abs(count["score"] - 5 * period / DEGREES[number].score_every) <= 1


def test_turns_are_spread_over_the_seconds():
    shedding = at_degree(LAST, machines=16)
    looked_at = [
        sum(shedding.turn(f"m{machine}", 1) != "skip" for machine in range(16)) for _ in range(8)
    ]
    assert looked_at == [2] * 8


def test_seconds_that_were_missed_count_towards_the_next_turn():
    shedding = at_degree(4, machines=1)
    assert shedding.turn("m0", 1) == "skip"
    assert shedding.turn("m0", 3) == "score"


def test_an_urgent_machine_is_never_left_out():
    shedding = at_degree(LAST, machines=8)
    assert [shedding.turn("m3", 1, urgent=True) for _ in range(5)] == ["score"] * 5
    assert shedding.segments_every("m3") == 1
    assert shedding.segments_every("m4") == DEGREES[LAST].score_every


def test_too_many_urgent_machines_take_turns_like_all_others():
    shedding = at_degree(LAST, machines=8)
    for machine in range(8):
        shedding.turn(f"m{machine}", 1, urgent=True)
    skipped = [shedding.turn(f"m{machine}", 1, urgent=True) for machine in range(8)].count("skip")
    assert skipped >= 6


def test_it_stops_at_the_last_degree():
    shedding = at_degree(LAST)
    assert not shedding.update(3.0, **BUSY)
    assert shedding.number == LAST


def test_it_recovers_step_by_step_when_load_falls():
    shedding = at_degree(LAST)
    numbers = []
    while shedding.number:
        numbers.append(shedding.number)
        assert len(numbers) < 1000
        shedding.update(3.0, **IDLE)
    assert sorted(set(numbers), reverse=True) == numbers[:: len(numbers) // LAST][:LAST]
    assert numbers.count(LAST) * 3.0 >= 20.0  # not at the first calm moment


def test_it_does_not_recover_where_the_lower_degree_would_be_too_much():
    shedding = at_degree(1)
    for _ in range(100):
        # Half of the segments take 0.4 of the time: all of them would take 0.8.
        assert not shedding.update(3.0, scoring=0.4, other=0.1)
    assert shedding.number == 1


def test_a_recovery_that_was_too_early_is_tried_later_the_next_time():
    shedding = at_degree(1)

    def seconds_until_lower() -> float:
        seconds = 0.0
        while shedding.number:
            seconds += 3.0
            shedding.update(3.0, scoring=0.2, other=0.1)
        return seconds

    waits = []
    for _ in range(8):
        waits.append(seconds_until_lower())
        shedding.update(3.0, **BUSY)  # too much again at once
    assert waits == sorted(waits)
    assert waits[-1] > 10 * waits[0]
    assert waits[-1] < 700


def test_after_a_quiet_time_it_recovers_as_fast_as_at_first():
    shedding = at_degree(1)
    first = 0
    while shedding.number:
        first += 1
        shedding.update(3.0, **IDLE)
    shedding.update(3.0, **BUSY)
    for _ in range(300):
        shedding.update(3.0, **IDLE)
    assert shedding.number == 0
    shedding.update(3.0, **BUSY)
    steps = 0
    while shedding.number:
        steps += 1
        shedding.update(3.0, **IDLE)
    assert steps == first


def test_machines_that_are_gone_are_forgotten():
    shedding = at_degree(LAST, machines=4)
    for machine in range(4):
        shedding.turn(f"m{machine}", 1, urgent=True)
    shedding.keep_only(["m0"])
    assert shedding.turn("m0", 1, urgent=True) == "score"  # it is the only urgent one now


def test_the_example_is_true():
    assert doctest.testmod(load_shedding) == (0, 4)
