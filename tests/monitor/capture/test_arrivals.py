"""How often something arrives, and when the last is no longer current."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.monitor.capture.arrivals import Arrivals


def fed(times, seconds, **options):
    arrivals = Arrivals(**options)
    for time in times:
        arrivals.note(time, seconds)
    return arrivals


def test_a_stream_is_stale_after_eight_seconds_from_the_start():
    assert Arrivals(at_intervals=False).stale_after == 8.0
    assert Arrivals(at_intervals=False).last is None


def test_sound_that_is_pushed_like_a_stream_is_one():
    arrivals = fed(np.arange(100.0, 106.0, 0.25), 0.25, at_intervals=True)
    assert arrivals.steady
    assert arrivals.stale_after == 8.0
    assert not fed(np.arange(100.0, 104.0, 0.25), 0.25, at_intervals=True).steady


def test_a_long_recording_is_no_stream():
    """It arrives without pauses too, but faster than it was made."""
    arrivals = fed(np.arange(100.0, 130.0, 0.05), 0.25, at_intervals=True)
    assert not arrivals.steady


def test_a_first_recording_is_current_for_ten_minutes():
    """Nobody knows when the next one is due: its sender may have stopped for good."""
    arrivals = Arrivals(at_intervals=True)
    assert arrivals.stale_after is None
    for time in np.arange(100.0, 130.0, 0.05):
        arrivals.note(time, 0.25)
    assert arrivals.stale_after == 600.0


def test_other_settings_of_a_machine_do_not_make_its_data_younger():
    before = fed([0.0, 600.0, 1200.0], 5.0, at_intervals=True)
    after = Arrivals(at_intervals=True)
    after.continue_from(before)
    assert (after.last, after.stale_after) == (1200.0, 1800.0)
    after.note(1800.0, 5.0)
    assert before.last == 1200.0
    stream = Arrivals(at_intervals=False)
    stream.continue_from(before)
    assert (stream.last, stream.stale_after) == (1200.0, 8.0)
    later = fed(np.arange(0.0, 9.0, 0.25), 0.25, at_intervals=False)
    recordings = Arrivals(at_intervals=True)
    recordings.continue_from(later)
    assert (recordings.last, recordings.stale_after) == (8.75, 600.0)


@pytest.mark.parametrize(("every", "stale"), [(600.0, 1800.0), (1.0, 8.0)])
def test_recordings_and_snapshots_are_judged_by_their_own_interval(every, stale):
    snapshots = Arrivals(at_intervals=True)
    for number in range(12):
        snapshots.note(number * every, single=True)
    assert snapshots.stale_after == pytest.approx(stale)
    if every > 60:
        pieces = [number * every + piece for number in range(4) for piece in (0.0, 0.5, 1.0)]
        assert fed(pieces, 5.0, at_intervals=True).stale_after == pytest.approx(stale)
