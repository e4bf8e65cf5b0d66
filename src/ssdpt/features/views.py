"""Hand-made views of a clip: what describes a sound texture, without any training.

spectrum     how loud each narrow band is: tones that come, go or move
roughness    how much each mel bin jumps from frame to frame: rattle, rub, lost lubrication
modulation   how strongly bands of the log-mel rise and fall, up to the frame rate
envelope     the same for fast envelopes, 8 to 250 Hz: the envelope spectrum of bearing diagnosis
rhythm       the same for slow changes, from ten seconds to one: strokes, cycles, switching

Each turns the frames of a clip, (frames, values) of `TextureFrames`, into rows of values: one row
for every second, and a single one of the rhythm, which needs the whole clip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ssdpt.features.encoded_texture import ENCODER_VIEW
from ssdpt.features.texture import TextureFrames
from ssdpt.types import Floats

UNTRAINED = ("spectrum", "roughness", "modulation", "envelope", "rhythm")
# The rows of these are averaged before clips are compared, as Welch averages spectra: how a band
# rises and falls within a single second is mostly chance.
AVERAGED = frozenset({"modulation", "envelope", ENCODER_VIEW})
LEAST_FRAMES = 32  # a shorter clip is repeated: there is no modulation in a moment

_GROUPS = 16  # of neighbouring mel bins, whose modulation is averaged
_SLOWEST_HZ = 0.1
_MODULATION_BANDS = 8
_RHYTHM_HZ = (_SLOWEST_HZ, 1.0)
_RHYTHM_BANDS = 3
_RHYTHM_GROUPS = 8  # a single row is noisy: few values
_ENVELOPE_HZ = (8.0, 250.0)
_ENVELOPE_BANDS = 10
SMALLEST = 1e-6  # dB²; silence has no modulation, and no logarithm either


def views_of(
    frames: Floats, front_end: TextureFrames, seconds: float | None = None
) -> dict[str, np.ndarray]:
    """The untrained views of one clip, and further ones of its front end: (rows, values) each.

    A row describes about `seconds` of the clip; None: the whole clip in one row.
    """
    frames = at_least(frames, LEAST_FRAMES)
    mels = front_end.log_mels(frames).astype(np.float64)
    fine = front_end.fine(frames).astype(np.float64)
    whole = fine[front_end.margin : -front_end.margin]
    power = np.power(10.0, (whole if len(whole) else fine) / 10.0)
    envelope = front_end.envelope(frames).astype(np.float64)
    rows = rows_in(len(frames), front_end, seconds)
    cut, cut_power = borders(len(frames), rows), borders(len(power), rows)
    cut_envelope = cut * (len(envelope) // len(frames))
    modulation, fast = modulation_bands(front_end), envelope_bands(front_end)
    return {
        "spectrum": np.array([10.0 * np.log10(part.mean(0)) for part in _cut(power, cut_power)]),
        "roughness": np.array([np.diff(part, axis=0).std(0) for part in _cut(mels, cut)]),
        "modulation": np.array([_modulation(part, modulation) for part in _cut(mels, cut)]),
        "envelope": np.array([_modulation(part, fast) for part in _cut(envelope, cut_envelope)]),
        "rhythm": _modulation(mels, rhythm_bands(front_end))[None],
        **front_end.further_views(frames),
    }


@dataclass(frozen=True, slots=True)
class RateBands:
    """Bands of how often per second levels rise and fall, averaged over neighbouring levels."""

    rate: float  # levels per second
    edges: np.ndarray  # (bands + 1,) Hz
    groups: int  # of neighbouring frequency bands

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

    def grouped(self, bands: int) -> list[np.ndarray]:
        """Which of so many neighbouring frequency bands, by number, are averaged."""
        return np.array_split(np.arange(bands), min(self.groups, bands))


def modulation_bands(front_end: TextureFrames) -> RateBands:
    """Of the view `modulation`: up to half the frame rate."""
    rate = 1 / front_end.frame_seconds
    return RateBands(rate, np.geomspace(_SLOWEST_HZ, rate / 2, _MODULATION_BANDS + 1), _GROUPS)


def envelope_bands(front_end: TextureFrames) -> RateBands:
    """Of the view `envelope`."""
    edges = np.geomspace(*_ENVELOPE_HZ, _ENVELOPE_BANDS + 1)
    return RateBands(front_end.envelope_rate, edges, _GROUPS)


def rhythm_bands(front_end: TextureFrames) -> RateBands:
    """Of the view `rhythm`."""
    edges = np.geomspace(*_RHYTHM_HZ, _RHYTHM_BANDS + 1)
    return RateBands(1 / front_end.frame_seconds, edges, _RHYTHM_GROUPS)


def rows_in(frames: int, front_end: TextureFrames, seconds: float | None) -> int:
    """How many rows of about `seconds` a clip of so many frames has."""
    if seconds is None:
        return 1
    samples, row = frames * front_end.hop, round(seconds * front_end.sample_rate)
    return max(1, (2 * samples + row) // (2 * row))


def borders(count: int, pieces: int) -> np.ndarray:
    """Where to cut `count` things into pieces of equal length, (pieces + 1,)."""
    return np.arange(pieces + 1) * count // pieces


def longest_clip(clip_frames: int) -> int:
    """Frames of the longest clip that `clips_of` yields."""
    return (3 * clip_frames - 1) // 2 + 1


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
    yield from _cut(pending, borders(len(pending), pieces))


def at_least(frames: Floats, count: int) -> Floats:
    """A clip (frames, values), repeated where it is shorter than `count` frames."""
    if len(frames) >= count:
        return frames
    return np.concatenate([frames] * -(-count // len(frames)))


def _cut(things: np.ndarray, borders: np.ndarray) -> Iterator[np.ndarray]:
    for begin, end in pairwise(borders):
        yield things[begin:end]


def _modulation(levels: np.ndarray, rates: RateBands) -> np.ndarray:
    """Power spectrum over time of (times, bands) dB, as a vector of logarithms.

    The spectrum is averaged within the bands of `rates`, and over groups of neighbouring bands.
    """
    count = len(levels)
    window = np.hanning(count + 2)[1:-1, None]
    spectrum = np.fft.rfft((levels - levels.mean(0)) * window, axis=0)
    power = (spectrum.real**2 + spectrum.imag**2) / count
    banded = np.array([power[begin:end].mean(0) for begin, end in rates.lines(count)])
    means = np.stack([banded[:, group].mean(1) for group in rates.grouped(banded.shape[1])], axis=1)
    return np.log(means + SMALLEST).ravel()
