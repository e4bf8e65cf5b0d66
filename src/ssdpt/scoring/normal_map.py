"""Where a clip is unusual, measured by what normal clips of the same machine sound like.

A fault that lasts moves the level of a band; one that comes and goes leaves the level alone and
moves how far a band's loud or quiet moments lie from it: blows, rubs, modulation, missing strokes.
Both show in the levels of a band in order of loudness. So each bin of a clip is described by
how loud its quietest, its usual and its loudest frames are, and each frame by its place in that
order. How unusual the loudness at a place is, its frames are marked with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from ssdpt.types import Floats

# Shares of a clip's frames; dense at the loud end, where a blow of 50 ms in ten seconds is.
_SHARES = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.995])
_USUAL = 3  # the median among them
_BAND = 3  # bins, averaged in each frame: what shows in one bin alone is no place
_SLOPE_BINS = 12.0  # slower changes across the spectrum are the microphone's place, not the machine
_FLOOR_DB = 0.5  # no spread is smaller, however alike the few clips were
_BORROWED = 0.2  # of a bin's variance, from all bins: few clips show a spread badly
_STEADY = 0.5  # weight of the usual level: echoes of the place move narrow bands of it as well
_MISSING = 0.3  # weight of loud moments that are too quiet: which of them fell out is not known


@dataclass(frozen=True, slots=True)
class NormalSound:
    """What normal clips of one section sound like: levels in order of loudness, and their spread.

    Overall level and slow changes across the spectrum do not count: they differ with the place of
    the microphone.
    """

    mean: Floats  # (shares, bins) dB
    spread: Floats  # (shares, bins) dB, one standard deviation between clips

    @classmethod
    def of(cls, clips: Iterable[Floats]) -> Self:
        """Learn from normal clips, log-mels (frames, bins) in dB each; one is held at a time."""
        count, mean, squares = 0, np.zeros(()), np.zeros(())
        for frames in clips:
            count += 1
            levels = _levels(frames)
            before = levels - mean
            mean = mean + before / count
            squares = squares + before * (levels - mean)
        if not count:
            raise ValueError("normal sound is learned from at least one clip")
        variance = squares / max(count - 1, 1)  # (shares, bins)
        common = np.median(variance, axis=1, keepdims=True)
        spread = np.sqrt((1 - _BORROWED) * variance + _BORROWED * common + _FLOOR_DB**2)
        return cls(mean.astype(np.float32), spread.astype(np.float32))

    def anomaly_map(self, frames: Floats) -> Floats:
        """Where in time and frequency a clip (frames, bins) in dB is unusual: same shape, ≥ 0.

        In squared standard deviations between normal clips.
        """
        deviation = (_levels(frames) - self.mean) / self.spread  # (shares, bins)
        steady = _STEADY * np.abs(deviation[_USUAL])
        moments = deviation.copy()
        moments[_USUAL] = 0.0
        moments = np.maximum(moments, -_MISSING * moments)
        # What the frame at each place in the order of loudness is marked with, then the frames.
        unusual = _between_shares(len(frames)) @ moments  # (places, bins)
        place = frames.argsort(axis=0).argsort(axis=0)
        marks = np.maximum(np.take_along_axis(unusual, place, axis=0), steady)
        return np.square(_across(marks, np.ones(_BAND))).astype(np.float32)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learned."""
        return {"mean": self.mean, "spread": self.spread}

    @classmethod
    def restore(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The reverse of `arrays`; KeyError or ValueError if they are no such arrays."""
        mean, spread = np.asarray(arrays["mean"]), np.asarray(arrays["spread"])
        if mean.ndim != 2 or len(mean) != len(_SHARES) or mean.shape != spread.shape:
            raise ValueError("these arrays do not describe normal sound")
        return cls(mean.astype(np.float32), spread.astype(np.float32))


def _levels(frames: Floats) -> np.ndarray:
    """A clip (frames, bins) as levels in order of loudness, (shares, bins) dB.

    The usual level is measured against its surroundings in the spectrum, the others against it.
    """
    levels = np.quantile(frames.astype(np.float64), _SHARES, axis=0)
    usual = levels[_USUAL].copy()
    levels -= usual
    levels[_USUAL] = usual - _across(usual[None], _bell(_SLOPE_BINS))[0]
    return levels


def _across(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted means over neighbouring bins of (rows, bins); at the edges, over those there."""
    bins, reach = values.shape[1], len(weights) // 2
    near = np.zeros((bins, bins))
    for step, weight in enumerate(weights, start=-reach):
        near += weight * np.eye(bins, k=step)
    return values @ (near / near.sum(axis=0))


def _bell(width: float) -> np.ndarray:
    """Weights of a Gaussian, `width` bins wide."""
    reach = np.arange(-round(3 * width), round(3 * width) + 1)
    return np.exp(-0.5 * np.square(reach / width))


def _between_shares(frames: int) -> np.ndarray:
    """How far each place in the order of loudness belongs to each share, (frames, shares)."""
    places = np.arange(frames) / max(frames - 1, 1)
    each = np.eye(len(_SHARES))
    return np.stack([np.interp(places, _SHARES, column) for column in each], axis=1)
