"""The last seconds of sound, by time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdpt.monitor.capture.ring import Ring

RATE = 10


def numbered(first, count):
    return np.arange(first, first + count, dtype=np.float32)


def test_it_gives_back_what_lies_between_two_times():
    ring = Ring(10.0, RATE)
    ring.add(numbered(0, 50), 100.0)
    samples, begin = ring.between(101.0, 102.0)
    np.testing.assert_array_equal(samples, numbered(10, 10))
    assert begin == pytest.approx(101.0)
    assert ring.end == pytest.approx(105.0)


def test_of_what_is_forgotten_or_to_come_there_is_nothing():
    ring = Ring(1.0, RATE)
    ring.add(numbered(0, 25), 0.0)
    samples, begin = ring.between(0.0, 99.0)
    np.testing.assert_array_equal(samples, numbered(15, 10))
    assert begin == pytest.approx(1.5)
    assert not len(ring.between(50.0, 60.0)[0])


def test_a_gap_is_silence_and_what_was_before_it_stays():
    ring = Ring(3.0, RATE)
    ring.add(numbered(1, 10), 0.0)
    ring.skip(1.0)
    ring.add(numbered(100, 5), 2.0)
    samples, begin = ring.between(0.0, 99.0)
    assert begin == pytest.approx(0.0)
    np.testing.assert_array_equal(samples[:10], numbered(1, 10))
    np.testing.assert_array_equal(samples[10:20], np.zeros(10))
    np.testing.assert_array_equal(samples[20:], numbered(100, 5))
    ring.skip(1e9)
    assert not ring.between(-1e9, 1e12)[0].any()


def test_the_first_row_that_was_captured_is_after_a_gap():
    ring = Ring(6.0, RATE)
    ring.add(numbered(1, 10), 0.0)
    ring.skip(1.0)
    ring.add(numbered(100, 20), 2.0)
    assert ring.first_captured(-5.0) == pytest.approx(0.0)
    assert ring.first_captured(0.5) == pytest.approx(0.5)
    for begin in (1.0, 1.5, 2.0):
        assert ring.first_captured(begin) == pytest.approx(2.0)
    assert ring.first_captured(3.1) == pytest.approx(3.1)
    ring.skip(3600.0)
    ring.add(numbered(200, 10), 3604.0)
    assert ring.first_captured(0.0) == pytest.approx(3604.0)
    ring.add(numbered(300, 100), 3605.0)  # all gaps are forgotten
    assert ring.first_captured(0.0) == pytest.approx(3609.0)


@given(st.lists(st.integers(0, 37), max_size=20))
def test_however_it_was_filled_it_holds_the_last_samples(sizes):
    ring, total = Ring(2.0, RATE), 0
    for size in sizes:
        ring.add(numbered(total, size), total / RATE)
        total += size
    held = min(total, 20)
    np.testing.assert_array_equal(ring.between(-1e9, 1e9)[0], numbered(total - held, held))


def test_every_row_is_given_once_by_number():
    ring = Ring(3.0, RATE)
    ring.add(numbered(0, 5), 0.0)
    rows, begin, following = ring.since(2)
    np.testing.assert_array_equal(rows, numbered(2, 3))
    assert (begin, following) == (pytest.approx(0.2), 5)
    assert not len(ring.since(following)[0])
    ring.add(numbered(5, 4), 0.5001)  # a time that is corrected
    np.testing.assert_array_equal(ring.since(following)[0], numbered(5, 4))
    ring.add(numbered(9, 40), 0.9)
    np.testing.assert_array_equal(ring.since(following)[0], numbered(19, 30))  # all that is held
    assert ring.count == 49
