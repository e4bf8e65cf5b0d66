"""Hand-made views of a clip: what describes a sound texture, without any training.

spectrum     how loud each narrow band is: tones that come, go or move
roughness    how much each mel bin jumps from frame to frame: rattle, rub, lost lubrication
modulation   how strongly bands of the log-mel rise and fall, from ten seconds to the frame rate
envelope     the same for fast envelopes, 8 to 250 Hz: the envelope spectrum of bearing diagnosis

Each turns the frames of a clip, (frames, values) of `TextureFrames`, into one vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ssdpt.features.texture import TextureFrames
from ssdpt.types import Floats

UNTRAINED = ("spectrum", "roughness", "modulation", "envelope")
LEAST_FRAMES = 32  # a shorter clip is repeated: there is no modulation in a moment

_GROUPS = 16  # of neighbouring mel bins, whose modulation is averaged
_SLOWEST_HZ = 0.1
_MODULATION_BANDS = 8
_ENVELOPE_HZ = (8.0, 250.0)
_ENVELOPE_BANDS = 10
SMALLEST = 1e-6  # dB²; silence has no modulation, and no logarithm either


def views_of(frames: Floats, front_end: TextureFrames) -> dict[str, np.ndarray]:
    """The untrained views of one clip."""
    frames = at_least(frames, LEAST_FRAMES)
    mels = front_end.log_mels(frames).astype(np.float64)
    fine = front_end.fine(frames).astype(np.float64)
    whole = fine[front_end.margin : -front_end.margin]
    power = np.power(10.0, (whole if len(whole) else fine) / 10.0)
    envelope = front_end.envelope(frames).astype(np.float64)
    slow, fast = modulation_bands(front_end), envelope_bands(front_end)
    return {
        "spectrum": 10.0 * np.log10(power.mean(0)),
        "roughness": np.diff(mels, axis=0).std(0),
        "modulation": _modulation(mels, slow),
        "envelope": _modulation(envelope, fast),
    }


@dataclass(frozen=True, slots=True)
class RateBands:
    """Bands of how often per second levels rise and fall."""

    rate: float  # levels per second
    edges: np.ndarray  # (bands + 1,) Hz

    def lines(self, count: int) -> list[tuple[int, int]]:
        """Of every band, the first line of the spectrum of `count` levels, and that after the last.

        A band that is narrower than so many levels can resolve has the nearest line.
        """
        frequencies = np.fft.rfftfreq(count, 1 / self.rate)
        first = np.searchsorted(frequencies, self.edges).tolist()
        lines = []
        for low, high, (begin, end) in zip(
            self.edges[:-1], self.edges[1:], pairwise(first), strict=True
        ):
            if end == begin:
                begin = int(np.argmin(np.abs(frequencies - np.sqrt(low * high))))
            lines.append((begin, max(end, begin + 1)))
        return lines


def modulation_bands(front_end: TextureFrames) -> RateBands:
    """Of the view `modulation`, from ten seconds to half the frame rate."""
    half_rate = 0.5 / front_end.frame_seconds
    edges = np.geomspace(_SLOWEST_HZ, half_rate, _MODULATION_BANDS + 1)
    return RateBands(1 / front_end.frame_seconds, edges)


def envelope_bands(front_end: TextureFrames) -> RateBands:
    """Of the view `envelope`."""
    return RateBands(front_end.envelope_rate, np.geomspace(*_ENVELOPE_HZ, _ENVELOPE_BANDS + 1))


def band_groups(bands: int) -> list[np.ndarray]:
    """Which neighbouring bands, by number, are averaged."""
    return np.array_split(np.arange(bands), min(_GROUPS, bands))


def clips_of(blocks: Iterable[Floats], clip_frames: int) -> Iterator[Floats]:
    """A recording, given as blocks of frames, in clips of about `clip_frames` frames.

    Up to one and a half times that length stays whole, as it does when clips are cut for
    training. The cuts do not depend on the blocks, and only a few clips are in memory.
    """
    pending: Floats | None = None
    for block in blocks:
        pending = block if pending is None else np.concatenate([pending, block])
        while len(pending) >= 5 * clip_frames // 2:
            yield pending[:clip_frames]
            pending = pending[clip_frames:]
    if pending is None:
        return
    pieces = max(1, int(len(pending) / clip_frames + 0.5))
    borders = np.linspace(0, len(pending), pieces + 1).astype(int)
    for begin, end in pairwise(borders):
        yield pending[begin:end]


def longest_clip(clip_frames: int) -> int:
    """Frames of the longest recording that `clips_of` leaves whole."""
    return (3 * clip_frames - 1) // 2


def at_least(frames: Floats, count: int) -> Floats:
    """A clip (frames, values), repeated where it is shorter than `count` frames."""
    if len(frames) >= count:
        return frames
    return np.concatenate([frames] * -(-count // len(frames)))


def _modulation(levels: np.ndarray, rates: RateBands) -> np.ndarray:
    """Power spectrum over time of (times, bands) dB, as a vector of logarithms.

    The spectrum is averaged within the bands of `rates`, and over groups of neighbouring bands.
    """
    count = len(levels)
    window = np.hanning(count + 2)[1:-1, None]
    spectrum = np.fft.rfft((levels - levels.mean(0)) * window, axis=0)
    power = (spectrum.real**2 + spectrum.imag**2) / count
    banded = np.array([power[begin:end].mean(0) for begin, end in rates.lines(count)])
    groups = band_groups(banded.shape[1])
    means = np.stack([banded[:, group].mean(1) for group in groups], axis=1)
    return np.log(means + SMALLEST).ravel()
