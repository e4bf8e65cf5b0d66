"""The hand-made views of ssdpt.features.views in torch, for export.

Each takes a clip, (frames, values) in float64 with at least LEAST_FRAMES frames, to rows (rows, d).
The number of frames need not be known beforehand: spectra over time are matrix products with
matrices that are made from it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ssdpt.features.texture import ENVELOPES_A_FRAME, TextureFrames
from ssdpt.features.views import (
    LEAST_FRAMES,
    SMALLEST,
    RateBands,
    envelope_bands,
    modulation_bands,
    rhythm_bands,
)


class RowCut(NamedTuple):
    """Which things belong to which row; rows differ by one in their length."""

    place: Tensor  # (rows, longest row)
    inside: Tensor  # the same shape: whether this place is in the row
    length: Tensor  # (rows,)

    @classmethod
    def of(cls, count: int, rows: int) -> RowCut:
        """As `ssdpt.features.views.borders` cuts `count` things."""
        borders = torch.arange(rows + 1) * _whole(count) // _whole(rows)
        place = borders[:-1, None] + torch.arange((count + rows - 1) // rows)
        inside = place < borders[1:, None]
        return cls(place.minimum(_whole(count) - 1), inside, borders[1:] - borders[:-1])

    def mean(self, values: Tensor) -> Tensor:
        """Of values (rows, longest row, d) over each row: (rows, d)."""
        weights = self.inside.double() / self.length.double()[:, None]
        return (weights[:, None] @ values)[:, 0]


class Rows:
    """How many rows a clip has: `rows_in` for a number of frames that is not known yet."""

    def __init__(self, front_end: TextureFrames, seconds: float | None) -> None:
        self.hop = front_end.hop
        self.row = None if seconds is None else round(seconds * front_end.sample_rate)  # samples

    def longest(self, clip: int) -> int:
        """Frames of the longest row in clips of up to `clip` frames."""
        if self.row is None:
            return clip
        return min(clip, max(2 * LEAST_FRAMES, math.ceil(1.5 * self.row / self.hop) + 1))

    def __call__(self, frames: int) -> int:
        if self.row is None:
            return 1
        rows = (2 * frames * self.hop + self.row) // (2 * self.row)
        return torch.sym_max(rows, 1)  # type: ignore[no-untyped-call]


class SpectrumGraph(nn.Module):
    """How loud each narrow band is on average; frames that reach beyond the ends do not count."""

    def __init__(self, front_end: TextureFrames, rows: Rows) -> None:
        super().__init__()
        self.first, self.last = front_end.mels + front_end.envelopes, front_end.width
        self.margin, self.rows = front_end.margin, rows

    def forward(self, frames: Tensor) -> Tensor:
        count, margin = frames.shape[0], self.margin
        cut = RowCut.of(count - 2 * margin, self.rows(count))
        # As tensors: the exporter rounds plain numbers to float32.
        bel, level = (_exact(value) for value in (math.log(10) / 10, 10 / math.log(10)))
        power = (frames[:, self.first : self.last] * bel).exp()
        return cut.mean(power[cut.place + margin]).log() * level


class RoughnessGraph(nn.Module):
    """How much each mel bin jumps from frame to frame."""

    def __init__(self, front_end: TextureFrames, rows: Rows) -> None:
        super().__init__()
        self.mels, self.rows = front_end.mels, rows

    def forward(self, frames: Tensor) -> Tensor:
        count = frames.shape[0]
        cut = RowCut.of(count, self.rows(count))
        mels = frames[:, : self.mels][cut.place]  # (rows, longest row, mel bins)
        within = RowCut(cut.place[:, 1:], cut.inside[:, 1:], cut.length - 1)
        jumps = mels[:, 1:] - mels[:, :-1]
        return within.mean((jumps - within.mean(jumps)[:, None]).square()).sqrt()


class ModulationGraph(nn.Module):
    """How strongly bands rise and fall, by how often per second."""

    lines: Tensor  # (frames + 1, rate bands, 2): first line of a band, and that after the last
    groups: Tensor  # (bands, groups): means over neighbouring bands

    def __init__(
        self, values: slice, per_frame: int, rates: RateBands, rows: Rows, longest: int
    ) -> None:
        """`values` of a frame are `per_frame` levels of every band; `longest` row in frames."""
        super().__init__()
        self.first, self.last, self.per_frame, self.rows = (
            values.start,
            values.stop,
            per_frame,
            rows,
        )
        none = [(0, 1)] * (len(rates.edges) - 1)
        of_count = [rates.lines(count * per_frame) for count in range(1, longest + 1)]
        self.register_buffer("lines", torch.tensor([none, *of_count]))
        bands = (values.stop - values.start) // per_frame
        groups = np.zeros((bands, len(rates.grouped(bands))))
        for number, group in enumerate(rates.grouped(bands)):
            groups[group, number] = 1 / len(group)
        self.register_buffer("groups", torch.from_numpy(groups))

    def forward(self, frames: Tensor) -> Tensor:
        count, bands = frames.shape[0], self.groups.shape[0]
        cut = RowCut.of(count, self.rows(count))
        length = cut.length[:, None, None]
        levels = frames[:, self.first : self.last].reshape(count, self.per_frame, bands)[cut.place]
        # (rows, frames, levels of a frame, bands)
        mean = cut.mean(levels.mean(2))[:, None, None]
        inside = cut.inside[:, :, None].double()
        levels = (levels - mean) * (self._window(cut) * inside)[:, :, :, None]
        real, imaginary = _over_frames(levels.flatten(2), length)
        shape = (*cut.place.shape, self.per_frame, bands)
        power = self._over_levels(real.reshape(shape), imaginary.reshape(shape), length)
        # Line k1 + frames · k2 is at (k1, k2); k1 is below the number of frames.
        first = torch.arange(power.shape[1])[:, None]
        line = (first + length * torch.arange(power.shape[2])).flatten(1)  # (rows, lines)
        real_line = (first < length).expand(-1, -1, power.shape[2]).flatten(1)
        begin, end = self.lines[cut.length].unbind(2)  # (rows, rate bands)
        begin, end = begin[:, :, None], end[:, :, None]
        chosen = (line[:, None] >= begin) & (line[:, None] < end) & real_line[:, None]
        banded = (chosen.double() / (end - begin).double()) @ power.flatten(1, 2)
        banded = banded / (length.double() * self.per_frame)  # (rows, rate bands, bands)
        return (banded @ self.groups + _exact(SMALLEST)).log().flatten(1)

    def _window(self, cut: RowCut) -> Tensor:
        """Hann over all levels of a row, without its zeros: (rows, frames, levels of a frame)."""
        frame = torch.arange(cut.place.shape[1])[:, None]
        place = frame * self.per_frame + torch.arange(self.per_frame) + 1
        levels = cut.length.double()[:, None, None] * self.per_frame
        return 0.5 - 0.5 * _cosine(place.double() / (levels + 1))

    def _over_levels(self, real: Tensor, imaginary: Tensor, length: Tensor) -> Tensor:
        """The second step, over the levels of a frame: the power at every line (k1, k2)."""
        if self.per_frame == 1:
            return real.square() + imaginary.square()
        level = torch.arange(self.per_frame)
        turns = torch.arange(real.shape[1])[:, None] * level  # (k1, levels)
        part = turns.double() / (length.double() * self.per_frame)
        cosine, sine = _cosine(part)[:, :, :, None], _sine(part)[:, :, :, None]
        real, imaginary = real * cosine + imaginary * sine, imaginary * cosine - real * sine
        later = torch.arange(self.per_frame // 2 + 1)
        part = (later[:, None] * level).double() / self.per_frame  # (k2, levels)
        cosine, sine = _cosine(part), _sine(part)
        power = (cosine @ real + sine @ imaginary).square()
        return power + (cosine @ imaginary - sine @ real).square()


def view_graphs(
    front_end: TextureFrames, seconds: float | None, longest: int
) -> dict[str, nn.Module]:
    """All hand-made views by name, for clips of up to `longest` frames."""
    rows, whole = Rows(front_end, seconds), Rows(front_end, None)
    longest_row = rows.longest(longest)
    mels = slice(0, front_end.mels)
    envelopes = slice(front_end.mels, front_end.mels + front_end.envelopes)
    modulation, envelope = modulation_bands(front_end), envelope_bands(front_end)
    return {
        "spectrum": SpectrumGraph(front_end, rows),
        "roughness": RoughnessGraph(front_end, rows),
        "modulation": ModulationGraph(mels, 1, modulation, rows, longest_row),
        "envelope": ModulationGraph(envelopes, ENVELOPES_A_FRAME, envelope, rows, longest_row),
        "rhythm": ModulationGraph(mels, 1, rhythm_bands(front_end), whole, longest),
    }


def _over_frames(levels: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """The first step of the transform: (rows, frames, …) to (rows, lines k1, …)."""
    frames = torch.arange(levels.shape[1])
    turns = (frames[:, None] * frames) % length  # (rows, frames, frames)
    part = turns.double() / length.double()
    return _cosine(part) @ levels, -(_sine(part) @ levels)


def _cosine(turns: Tensor) -> Tensor:
    return (turns * _exact(2 * torch.pi)).cos()


def _sine(turns: Tensor) -> Tensor:
    return (turns * _exact(2 * torch.pi)).sin()


def _exact(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def _whole(value: int) -> Tensor:
    return torch.scalar_tensor(value, dtype=torch.int64)
