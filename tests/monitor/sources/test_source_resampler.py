"""Resampling in pieces gives what resampling at once gives."""

from __future__ import annotations

import numpy as np
import pytest
import soxr
from hand_clock import tone

from ssdpt.monitor.sources.resampler import BlockConverter, Resampler


@pytest.mark.parametrize("rate_in", [8000, 44_100, 48_000])
def test_pieces_of_any_length_have_no_seam(rate_in):
    rng = np.random.default_rng(0)
    whole = rng.normal(0, 0.1, 3 * rate_in).astype(np.float32)
    cuts = np.sort(rng.integers(0, len(whole), 60))
    resampler = Resampler(rate_in, 16_000)
    out = [resampler.feed(piece) for piece in np.split(whole, cuts)]
    found = np.concatenate([*out, resampler.finish()])
    expected = soxr.resample(whole, rate_in, 16_000)
    assert len(found) == len(expected) == 48_000
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_the_same_rate_passes_as_it_is():
    resampler = Resampler(16_000, 16_000)
    samples = tone(440, 0.1, 16_000)
    np.testing.assert_array_equal(resampler.feed(samples), samples)
    assert len(resampler.finish()) == 0


def test_what_is_no_number_or_too_loud_does_not_pass():
    samples = np.array([0.5, np.nan, np.inf, -np.inf, 3.0, -7.0], np.float32)
    out = Resampler(16_000, 16_000).feed(samples)
    np.testing.assert_array_equal(out, np.array([0.5, 0, 0, 0, 1, -1], np.float32))
    loud = np.sign(tone(100, 1.0, 48_000))  # overshoots when it is filtered
    assert np.abs(Resampler(48_000, 16_000).feed(loud)).max() <= 1.0


def test_blocks_are_of_one_channel_and_length():
    blocks = BlockConverter(16_000, 16_000, 1, 0.25)
    ramp = np.arange(10_000, dtype=np.float32) / 10_000
    frames = np.stack([np.zeros_like(ramp), ramp], axis=1)
    out = [block for piece in np.split(frames, [7, 5000, 5001]) for block in blocks.feed(piece)]
    assert [len(block) for block in out] == [4000, 4000]
    np.testing.assert_array_equal(np.concatenate([*out, blocks.finish()]), ramp)
