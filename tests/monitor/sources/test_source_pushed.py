"""Pushed sound: too much at once, overlapping times, other rates and channels."""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest
from hand_clock import (
    NOON,
    HandClock,
    Listener,
    amplitude,
    ends_meet,
    joined,
    seconds_of,
    tone,
)

from ssdpt.errors import SsdptError
from ssdpt.monitor.sources import open_source
from ssdpt.monitor.sources.pushed_source import MAX_WAITING, PushedSettings
from waiting import wait_until

RATE = 16_000
SECOND = tone(200, 1.0, RATE)


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def source(clock):
    return open_source(PushedSettings(), RATE, clock)


def test_sound_without_a_time_has_ended_just_now(source):
    assert source.push(SECOND, RATE) == pytest.approx(1.0)
    chunks = seconds_of(source.chunks(threading.Event()), 1.0, RATE)
    np.testing.assert_array_equal(joined(chunks), SECOND)
    assert chunks[0].time == pytest.approx(NOON - 1.0)
    assert ends_meet(chunks, RATE)
    assert all(len(chunk.samples) <= RATE for chunk in chunks)


def test_pieces_that_come_in_time_are_one_sound(source, clock):
    whole = tone(200, 4.0, 48_000)
    jitter = np.random.default_rng(0)
    for piece in np.split(whole, 40):
        clock.now += 0.1 + jitter.uniform(-0.05, 0.05)
        source.push(piece, 48_000)
    chunks = seconds_of(source.chunks(threading.Event()), 3.9, RATE)
    assert ends_meet(chunks, RATE)
    assert source.status.gaps == 0
    expected = tone(200, 4.0, RATE)[: len(joined(chunks))]
    np.testing.assert_allclose(joined(chunks)[500:], expected[500:], atol=1e-3)


def test_what_is_missing_in_between_is_reported(source):
    source.push(SECOND, RATE, time=NOON - 20)
    source.push(SECOND, RATE, time=NOON - 15)
    chunks = seconds_of(source.chunks(threading.Event()), 2.0, RATE)
    assert [chunk.gap for chunk in chunks if chunk.gap] == [pytest.approx(4.0)]
    assert chunks[-1].time == pytest.approx(NOON - 14.25)
    assert source.status.gaps == 1


def test_what_overlaps_or_comes_too_late_is_left_out(source):
    assert source.push(np.tile(SECOND, 4), RATE, time=NOON - 20) == 4.0
    assert source.push(np.tile(SECOND, 2), RATE, time=NOON - 17) == pytest.approx(1.0)
    assert source.push(SECOND, RATE, time=NOON - 19) == 0.0
    assert "were sent before" in source.status.message
    chunks = source.chunks(threading.Event())
    assert ends_meet(seconds_of(chunks, 5.0, RATE), RATE)
    source.push(SECOND, RATE, time=NOON - 15)
    assert next(chunks).time == pytest.approx(NOON - 15)


@pytest.mark.parametrize("timed", [False, True])
def test_after_the_clock_was_set_back_sound_is_taken_at_its_new_time(source, clock, timed):
    def push():
        clock.now += 1.0
        return source.push(SECOND, RATE, time=clock.wall() - 1.0 if timed else None)

    chunks = source.chunks(threading.Event())
    assert [push() for _ in range(3)] == [1.0, 1.0, 1.0]
    assert ends_meet(seconds_of(chunks, 3.0, RATE), RATE)
    clock.set_by = -3600.0
    assert [push() for _ in range(3)] == [1.0, 1.0, 1.0]
    after = seconds_of(chunks, 3.0, RATE)
    assert after[0].time == pytest.approx(NOON + 3.0 - 3600.0)
    assert after[0].gap > 0  # nothing lasts across it
    assert ends_meet(after, RATE)


def test_small_disagreements_of_clocks_are_no_gap(source):
    for number, off in enumerate((0.0, 0.3, -0.2, 0.4)):
        assert source.push(SECOND, RATE, time=NOON - 10 + number + off) == 1.0
    assert ends_meet(seconds_of(source.chunks(threading.Event()), 4.0, RATE), RATE)


def test_a_flood_is_refused_until_it_was_listened_to(source):
    ten = np.tile(SECOND, 10)
    for number in range(int(MAX_WAITING // 10)):
        source.push(ten, RATE, time=NOON - 1000 + 10 * number)
    with pytest.raises(SsdptError, match="60 s of sound are waiting"):
        source.push(ten, RATE, time=NOON - 500)
    chunks = source.chunks(threading.Event())
    seconds_of(chunks, 10.0, RATE)
    assert source.push(ten, RATE, time=NOON - 500) == 10.0
    with pytest.raises(SsdptError, match="60 s of sound are waiting"):
        source.push(ten, RATE, time=NOON - 400)


def test_one_long_recording_is_taken_where_nothing_waits(source):
    assert source.push(np.tile(SECOND, 120), RATE, time=NOON - 500) == 120.0
    with pytest.raises(SsdptError, match="waiting"):
        source.push(SECOND, RATE, time=NOON - 380)


def test_an_hour_at_a_low_rate_takes_little_memory(source):
    """At the rate of the machine it is many times as large."""
    source.push(np.zeros(3600 * 1000, np.float32), 1000, time=NOON - 3600)
    chunks = source.chunks(threading.Event())
    tracemalloc.start()
    try:
        taken = seconds_of(chunks, 10.0, RATE)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 5_000_000  # bytes; all of it is 230 MB
    assert ends_meet(taken, RATE)


def test_more_than_an_hour_at_once_is_refused(source):
    with pytest.raises(SsdptError, match="send at most 60 min at once"):
        source.push(np.zeros(3601 * 1000, np.float32), 1000, time=NOON - 4000)


def test_more_than_can_have_been_recorded_is_refused(source):
    source.push(np.tile(SECOND, 50), RATE)
    chunks = source.chunks(threading.Event())
    seconds_of(chunks, 50, RATE)
    source.push(np.tile(SECOND, 9), RATE)
    seconds_of(chunks, 9, RATE)
    with pytest.raises(SsdptError, match="ahead of real time"):
        source.push(np.tile(SECOND, 55), RATE)


def test_another_channel_in_16_bits(clock):
    source = open_source(PushedSettings(channel=1), RATE, clock)
    frames = np.stack([tone(300, 2, 44_100), tone(1000, 2, 44_100, 0.5)], axis=1)
    source.push((frames * 32768).astype(np.int16).ravel(), 44_100, 2)
    samples = joined(seconds_of(source.chunks(threading.Event()), 1.9, RATE))
    assert amplitude(samples, 1000, RATE) == pytest.approx(0.5, rel=0.01)
    assert amplitude(samples, 300, RATE) < 0.001
    assert (source.status.rate_in, source.status.channels_in) == (44_100, 2)


def test_the_end_of_a_recording_is_not_held_back():
    source = open_source(PushedSettings(), RATE)
    with Listener(source) as listener:
        source.push(tone(200, 1.0, 44_100), 44_100)
        wait_until(lambda: listener.seconds == 1.0)
        assert ends_meet(listener.chunks, RATE)


def test_silence_is_sound(source):
    source.push(np.zeros(RATE, np.float32), RATE)
    assert not joined(seconds_of(source.chunks(threading.Event()), 1.0, RATE)).any()


def test_a_sender_that_falls_silent_is_reported(source, clock):
    assert not source.status.connected
    source.push(SECOND, RATE)
    assert source.status.connected
    with Listener(source):
        clock.now += 100
        wait_until(lambda: not source.status.connected)
        assert "nothing was sent" in source.status.message


@pytest.mark.parametrize(
    ("samples", "rate", "channels", "time", "sentence"),
    [
        (SECOND, 10, 1, None, "a rate of 10 Hz"),
        (SECOND, RATE, 0, None, "0 channels"),
        (SECOND, RATE, 3, None, "not a multiple"),
        (SECOND.reshape(-1, 2), RATE, 1, None, "not a multiple"),
        (np.full(100, np.nan, np.float32), RATE, 1, None, "not numbers"),
        (SECOND, RATE, 1, float("nan"), "seconds since 1970"),
        (SECOND, RATE, 1, NOON + 1000, "in the future"),
    ],
)
def test_what_is_no_sound_is_refused_with_a_message(
    source, samples, rate, channels, time, sentence
):
    with pytest.raises(SsdptError, match=sentence):
        source.push(samples, rate, channels, time)


def test_a_channel_that_is_not_there_is_refused(clock):
    source = open_source(PushedSettings(channel=1), RATE, clock)
    with pytest.raises(SsdptError, match="there is no channel 1; it has 1 channel"):
        source.push(SECOND, RATE)
