"""Anomaly maps show an added fault, for any position of the microphone."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.normal_map import NormalSound

FRAMES, BINS = 313, 128


def sound(seed: int) -> np.ndarray:
    """A normal log-mel: a falling spectrum with a tone, blows in a band, another place each."""
    rng = np.random.default_rng(seed)
    bins = np.arange(BINS)
    place = rng.uniform(-4, 4) + rng.normal(0, 2) * (bins / BINS - 0.5)
    frames = -20 - 0.2 * bins + place + rng.normal(0, 3, (FRAMES, BINS))
    frames[:, 30] += 10
    frames[rng.integers(20) :: 20, 60:65] += 25
    return frames.astype(np.float32)


@pytest.fixture(scope="module")
def normal():
    return NormalSound.of(sound(seed) for seed in range(30))


def peak(heat: np.ndarray) -> tuple[int, int]:
    frame, column = np.unravel_index(int(np.argmax(heat)), heat.shape)
    return int(frame), int(column)


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_a_new_tone(normal, seed):
    frames = sound(seed)
    frames[:, 90:93] += 8
    assert peak(normal.anomaly_map(frames))[1] in range(90, 93)


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_a_missing_tone(normal, seed):
    frames = sound(seed)
    frames[:, 30] -= 10
    assert peak(normal.anomaly_map(frames))[1] in range(29, 32)


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_bursts(normal, seed):
    frames = sound(seed)
    struck = np.arange(15, FRAMES, 40)
    frames[struck, 100:105] += 15
    frame, column = peak(normal.anomaly_map(frames))
    assert frame in struck
    assert column in range(100, 105)


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_blows_that_are_missing(normal, seed):
    frames = np.random.default_rng(seed).normal(0, 3, (FRAMES, BINS)).astype(np.float32)
    frames += sound(seed).mean(0) - frames.mean(0)
    heat = normal.anomaly_map(frames)
    assert peak(heat)[1] in range(59, 66)


def test_a_normal_clip_and_the_place_of_the_microphone(normal):
    quiet = normal.anomaly_map(sound(100))
    assert quiet.shape == (FRAMES, BINS)
    assert quiet.dtype == np.float32
    assert quiet.min() >= 0
    assert quiet.max() < 4  # two standard deviations
    tilted = sound(100) + 12 + np.linspace(-3, 3, BINS, dtype=np.float32)
    assert normal.anomaly_map(tilted).max() < 4
    louder = sound(100)
    louder[:, 90:93] += 8
    assert normal.anomaly_map(louder).max() > 10


def test_arrays_are_small_and_restore_the_same(normal):
    arrays = normal.arrays()
    assert all(array.dtype == np.float32 for array in arrays.values())
    assert sum(array.size for array in arrays.values()) < 3000
    again = NormalSound.restore(arrays)
    np.testing.assert_array_equal(again.anomaly_map(sound(7)), normal.anomaly_map(sound(7)))
    with pytest.raises(KeyError):
        NormalSound.restore({"mean": arrays["mean"]})
    with pytest.raises(ValueError, match="normal sound"):
        NormalSound.restore({**arrays, "spread": arrays["spread"][:3]})


def test_the_spread_is_that_between_clips(normal):
    from ssdpt.scoring.normal_map import _levels

    levels = np.array([_levels(sound(seed)) for seed in range(30)])
    np.testing.assert_allclose(normal.mean, levels.mean(0), atol=1e-4)
    spread = levels.std(0, ddof=1)
    common = np.median(spread**2, axis=1, keepdims=True)
    expected = np.sqrt(0.8 * spread**2 + 0.2 * common + 0.25)
    np.testing.assert_allclose(normal.spread, expected, rtol=1e-4)


@pytest.mark.parametrize("frames", [1, 2, 5, 5000])
def test_clips_of_any_length(normal, frames):
    clip = np.resize(sound(100), (frames, BINS))
    heat = normal.anomaly_map(clip)
    assert heat.shape == clip.shape
    assert np.isfinite(heat).all()


def test_one_clip_is_enough_and_none_is_not():
    single = NormalSound.of([sound(0)])
    assert single.anomaly_map(sound(0)).max() == pytest.approx(0, abs=1e-6)
    with pytest.raises(ValueError, match="at least one clip"):
        NormalSound.of([])
