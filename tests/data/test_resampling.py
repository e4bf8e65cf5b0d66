"""Resampling in pieces gives what resampling at once gives."""

from __future__ import annotations

import numpy as np
import pytest
import soxr

from ssdpt.data.resampling import ResampledBlocks, Resampler


def tone(hz: float, seconds: float, rate: int) -> np.ndarray:
    """A sine, (samples,) float32."""
    moments = np.arange(round(seconds * rate)) / rate
    return (0.25 * np.sin(2 * np.pi * hz * moments)).astype(np.float32)


@pytest.mark.parametrize("rate_in", [8000, 44_100, 48_000])
def test_pieces_of_any_length_have_no_seam(rate_in):
    rng = np.random.default_rng(0)
    whole = rng.normal(0, 0.1, 3 * rate_in).astype(np.float32)
    cuts = np.sort(rng.integers(0, len(whole), 60))
    resampler = Resampler(rate_in, 16_000)
    out = [resampler.feed(piece) for piece in np.split(whole, cuts)]
    resampled = np.concatenate([*out, resampler.finish()])
    expected = soxr.resample(whole, rate_in, 16_000)
    assert len(resampled) == len(expected) == 48_000
    np.testing.assert_allclose(resampled, expected, atol=2e-5)


def test_the_same_rate_passes_as_it_is():
    resampler = Resampler(16_000, 16_000)
    samples = tone(440, 0.1, 16_000)
    np.testing.assert_array_equal(resampler.feed(samples), samples)
    assert len(resampler.finish()) == 0


def test_what_is_no_number_or_too_loud_is_cleaned():
    samples = np.array([0.5, np.nan, np.inf, -np.inf, 3.0, -7.0], np.float32)
    out = Resampler(16_000, 16_000, clean=True).feed(samples)
    np.testing.assert_array_equal(out, np.array([0.5, 0, 0, 0, 1, -1], np.float32))
    loud = np.sign(tone(100, 1.0, 48_000))  # overshoots when it is filtered
    assert np.abs(Resampler(48_000, 16_000, clean=True).feed(loud)).max() <= 1.0
    assert np.abs(Resampler(48_000, 16_000).feed(loud)).max() > 1.0


def test_blocks_are_of_one_length():
    blocks = ResampledBlocks(16_000, 16_000, 0.25)
    ramp = np.arange(10_000, dtype=np.float32) / 10_000
    out = [block for piece in np.split(ramp, [7, 5000, 5001]) for block in blocks.feed(piece)]
    assert [len(block) for block in out] == [4000, 4000]
    np.testing.assert_array_equal(np.concatenate([*out, *blocks.finish()]), ramp)


def test_the_rest_of_a_filter_may_be_more_than_a_block():
    blocks = ResampledBlocks(44_100, 16_000, 0.001)
    out = [*blocks.feed(tone(440, 0.5, 44_100)), *blocks.finish()]
    assert {len(block) for block in out[:-1]} == {16}
    assert sum(map(len, out)) == 8000


def test_a_sensor_gives_blocks_of_one_channel():
    from ssdpt.monitor.sources.block_converter import BlockConverter

    blocks = BlockConverter(16_000, 16_000, 1, 0.25)
    ramp = np.arange(10_000, dtype=np.float32) / 10_000
    frames = np.stack([np.zeros_like(ramp), ramp], axis=1)
    out = [block for piece in np.split(frames, [7, 5000, 5001]) for block in blocks.feed(piece)]
    assert [len(block) for block in out] == [4000, 4000]
    np.testing.assert_array_equal(np.concatenate([*out, blocks.finish()]), ramp)
