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

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
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
    power = np.exp((np.log(10.0) / 10.0) * (whole if len(whole) else fine))
    envelope = front_end.envelope(frames).astype(np.float64)
    rows = rows_in(len(frames), front_end, seconds)
    cut, cut_power = borders(len(frames), rows), borders(len(power), rows)
    cut_envelope = cut * (len(envelope) // len(frames))
    modulation, fast = modulation_bands(front_end), envelope_bands(front_end)
    return {
        "spectrum": _of_pieces(power, cut_power, lambda part: 10.0 * np.log10(part.mean(1))),
        "roughness": _of_pieces(mels, cut, lambda part: np.diff(part, axis=1).std(1)),
        "modulation": _of_pieces(mels, cut, lambda part: _modulation(part, modulation)),
        "envelope": _of_pieces(envelope, cut_envelope, lambda part: _modulation(part, fast)),
        "rhythm": _modulation(mels[None], rhythm_bands(front_end)),
        **front_end.further_views(frames),
    }


@dataclass(frozen=True, slots=True)
class RateBands:
    """Bands of how often per second levels rise and fall, averaged over neighbouring levels."""

    rate: float  # levels per second
    edges: tuple[float, ...]  # of the bands, Hz
    groups: int  # of neighbouring frequency bands

    def lines(self, count: int) -> list[tuple[int, int]]:
        """Of every band, the first line of the spectrum of `count` levels, and that after the last.

        A band that is narrower than so many levels can resolve has the nearest line.
        """
        frequencies = np.fft.rfftfreq(count, 1 / self.rate)
        first = np.searchsorted(frequencies, self.edges).tolist()
        lines = []
        for (low, high), (begin, end) in zip(pairwise(self.edges), pairwise(first), strict=True):
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
    return _rate_bands(rate, _SLOWEST_HZ, rate / 2, _MODULATION_BANDS, _GROUPS)


def envelope_bands(front_end: TextureFrames) -> RateBands:
    """Of the view `envelope`."""
    return _rate_bands(front_end.envelope_rate, *_ENVELOPE_HZ, _ENVELOPE_BANDS, _GROUPS)


def rhythm_bands(front_end: TextureFrames) -> RateBands:
    """Of the view `rhythm`."""
    rate = 1 / front_end.frame_seconds
    return _rate_bands(rate, *_RHYTHM_HZ, _RHYTHM_BANDS, _RHYTHM_GROUPS)


@lru_cache
def _rate_bands(rate: float, lowest: float, highest: float, bands: int, groups: int) -> RateBands:
    """Bands of equal width in octaves, from `lowest` to `highest` Hz."""
    return RateBands(rate, tuple(np.geomspace(lowest, highest, bands + 1).tolist()), groups)


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


def _of_pieces(
    things: np.ndarray, borders: np.ndarray, describe: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Each piece of (n, d) things as a row: (pieces, values).

    `describe` takes all pieces of one length at once, (pieces, length, d): of so few numbers the
    calls cost more than the arithmetic.
    """
    starts, lengths = borders[:-1], np.diff(borders)
    rows: np.ndarray | None = None
    for length in np.unique(lengths):
        of_length = np.flatnonzero(lengths == length)
        described = describe(things[starts[of_length, None] + np.arange(length)])
        if rows is None:
            rows = np.empty((len(starts), described.shape[1]))
        rows[of_length] = described
    assert rows is not None
    return rows


def _modulation(levels: np.ndarray, rates: RateBands) -> np.ndarray:
    """Power spectra over time of pieces (pieces, times, bands) in dB, as rows of logarithms.

    A spectrum is averaged within the bands of `rates`, and over groups of neighbouring bands.
    """
    _, count, bands = levels.shape
    window, over_lines, over_bands = _averages(rates, count, bands)
    spectrum = np.fft.rfft((levels - levels.mean(1, keepdims=True)) * window, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2) / count  # (pieces, lines, bands)
    means = over_lines @ power @ over_bands  # (pieces, rates, groups)
    return np.log(means + SMALLEST).reshape(len(levels), -1)


@lru_cache
def _averages(
    rates: RateBands, count: int, bands: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A window (count, 1), and what averages (lines, bands): from the left (rates, lines), from
    the right (bands, groups).
    """
    lines, groups = rates.lines(count), rates.grouped(bands)
    over_lines = np.zeros((len(lines), count // 2 + 1))
    for number, (begin, end) in enumerate(lines):
        over_lines[number, begin:end] = 1 / (end - begin)
    over_bands = np.zeros((bands, len(groups)))
    for number, group in enumerate(groups):
        over_bands[group, number] = 1 / len(group)
    return np.hanning(count + 2)[1:-1, None], over_lines, over_bands
