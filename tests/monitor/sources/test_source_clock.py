"""Times of samples: drifting clocks, lost samples, a wall clock that is set, back-off."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from hand_clock import NOON, HandClock

from ssdpt.monitor.sources.clock import SampleClock
from ssdpt.monitor.sources.playback import PlaybackTimer

RATE = 1000
BLOCK = np.zeros(250, np.float32)


def run(times, clock, seconds, *, ppm=0.0, jitter=None):
    """Blocks of a device whose clock is `ppm` fast; arrivals are late by up to 0.1 s."""
    jitter = jitter or random.Random(1)
    chunks = []
    for _ in range(round(seconds / 0.25)):
        clock.now += 0.25 / (1 + ppm * 1e-6)
        chunks.append(times.chunk(BLOCK, clock.now + jitter.uniform(0, 0.1)))
    return chunks


def test_the_first_sample_lies_the_length_of_its_chunk_back():
    clock = HandClock()
    clock.now = 10.0
    chunk = SampleClock(RATE, clock).chunk(BLOCK)
    assert chunk.time == pytest.approx(NOON + 9.75)
    assert chunk.gap == 0


@pytest.mark.parametrize("ppm", [150.0, -150.0])
def test_a_drifting_clock_is_followed_without_gaps_and_reported(ppm):
    clock = HandClock()
    times = SampleClock(RATE, clock)
    chunks = run(times, clock, 4 * 3600, ppm=ppm)
    # Uncorrected it would be 2 s off by now.
    assert chunks[-1].time + 0.25 - NOON == pytest.approx(clock.now, abs=0.03)
    assert not any(chunk.gap for chunk in chunks)
    assert times.drift_ppm == pytest.approx(ppm, abs=15)
    steps = np.diff([chunk.time for chunk in chunks[40:]])
    assert np.abs(steps - 0.25).max() < 0.006


@pytest.mark.parametrize("ppm", [20_000.0, -20_000.0])
def test_a_clock_that_creeps_away_is_set_anew_without_a_gap(ppm):
    clock = HandClock()
    times = SampleClock(RATE, clock)
    chunks = run(times, clock, 300, ppm=ppm)
    steps = np.diff([chunk.time for chunk in chunks[40:]]) - 0.25
    assert np.abs(steps).max() > 0.4
    assert not any(chunk.gap for chunk in chunks)
    assert chunks[-1].time + 0.25 - NOON == pytest.approx(clock.now, abs=0.8)


def test_samples_lost_at_one_blow_are_a_gap():
    clock = HandClock()
    times = SampleClock(RATE, clock)
    run(times, clock, 60)
    clock.now += 3.0
    chunks = run(times, clock, 30)
    gaps = [chunk.gap for chunk in chunks if chunk.gap]
    assert gaps == [pytest.approx(3.0, abs=0.15)]
    assert chunks[-1].time + 0.25 - NOON == pytest.approx(clock.now, abs=0.1)


def test_a_stall_that_is_caught_up_is_no_gap():
    clock = HandClock()
    times = SampleClock(RATE, clock)
    chunks = run(times, clock, 60)
    clock.now += 4.0
    chunks += [times.chunk(BLOCK) for _ in range(16)]
    chunks += run(times, clock, 60)
    assert not any(chunk.gap for chunk in chunks)
    assert chunks[-1].time + 0.25 - NOON == pytest.approx(clock.now, abs=0.1)


def test_a_new_connection_tells_what_is_missing():
    clock = HandClock()
    times = SampleClock(RATE, clock)
    before = run(times, clock, 2)[-1]
    clock.now += 7.0
    times.restart(began=clock.now)
    clock.now += 0.25
    chunk = times.chunk(BLOCK)
    assert chunk.time == pytest.approx(NOON + 9.0)
    assert chunk.gap == pytest.approx(chunk.time - before.time - 0.25)


def test_sound_after_a_break_never_seems_to_go_on():
    clock = HandClock()
    times = SampleClock(RATE, clock)
    before = times.chunk(BLOCK)
    times.restart(began=clock.now - 1.0)
    after = times.chunk(BLOCK)
    assert after.time == pytest.approx(before.time + 0.25)
    assert after.gap > 0
    assert times.chunk(BLOCK).gap == 0


def test_a_connection_that_took_long_to_give_sound_is_no_gap():
    clock = HandClock()
    times = SampleClock(RATE, clock)
    times.restart(began=clock.now)
    clock.now += 1.7
    chunks = run(times, clock, 30)
    assert not any(chunk.gap for chunk in chunks)
    assert chunks[-1].time + 0.25 - NOON == pytest.approx(clock.now, abs=0.1)


def test_skipped_seconds_are_a_gap():
    clock = HandClock()
    times = SampleClock(RATE, clock)
    before = times.chunk(BLOCK)
    times.skip(1.5)
    after = times.chunk(BLOCK)
    assert after.gap == pytest.approx(1.5)
    assert after.time == pytest.approx(before.time + 1.75)


def test_a_wall_clock_that_is_set_moves_times_but_nothing_is_missing():
    clock = HandClock()
    times = SampleClock(RATE, clock)
    before = run(times, clock, 10)[-1]
    clock.set_by = 3600.0
    after = run(times, clock, 10)
    assert after[0].time == pytest.approx(before.time + 3600.25, abs=0.01)
    assert not any(chunk.gap for chunk in after)


def test_playback_waits_for_its_share_of_real_time():
    clock = HandClock()
    timer = PlaybackTimer(RATE, speed=5.0, clock=clock)
    chunks = [timer.chunk(BLOCK, threading.Event()) for _ in range(40)]
    assert clock.now == pytest.approx(2.0)
    assert [chunk.time for chunk in chunks] == pytest.approx(NOON + 0.25 * np.arange(40))


def test_playback_does_not_rush_after_the_computer_was_too_slow():
    clock = HandClock()
    timer = PlaybackTimer(RATE, clock=clock)
    timer.chunk(BLOCK, threading.Event())
    clock.now += 20.0
    chunk = timer.chunk(BLOCK, threading.Event())
    assert chunk.time == pytest.approx(NOON + 0.25)
    clock.waits.clear()
    timer.chunk(BLOCK, threading.Event())
    assert clock.waits == pytest.approx([0.25])
