"""Sound between gaps."""

from __future__ import annotations

import numpy as np

from ssdpt.monitor.capture.gaps import without_gaps

RATE = 1000


def lengths(*parts):
    """Of the pieces of sounds (above 0) and gaps (below 0) of so many samples."""
    waves = [np.full(abs(part), float(part > 0), np.float32) for part in parts]
    return [len(piece) for piece in without_gaps(np.concatenate(waves), RATE)]


def test_sound_without_a_gap_is_one_piece():
    assert lengths(4000) == [4000]
    assert lengths(2000, -20, 2000) == [4020]  # a few zeros are no gap


def test_gaps_are_left_out():
    assert lengths(-500, 3000, -2000, 2500, -10) == [3000, 2510]
    assert lengths(-4000) == []


def test_pieces_too_short_to_measure_are_left_out():
    assert lengths(900, -500, 800) == []
    assert lengths(6000, -500, 1200) == [6000]
