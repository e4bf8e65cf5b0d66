"""The hand-made views of ssdpt.features.views in torch, for export.

Each takes clips of the same length, (clips, frames, values) in float64 with at least LEAST_FRAMES
frames, to one vector each, (clips, d). The number of frames need not be known beforehand: spectra
over time are matrix products with a matrix that is made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from ssdpt.features.texture import ENVELOPES_A_FRAME, TextureFrames
from ssdpt.features.views import (
    LEAST_FRAMES,
    SMALLEST,
    RateBands,
    band_groups,
    envelope_bands,
    modulation_bands,
)


class SpectrumGraph(nn.Module):
    """How loud each narrow band is on average; frames that reach beyond the ends do not count."""

    def __init__(self, front_end: TextureFrames) -> None:
        super().__init__()
        self.first, self.margin = front_end.mels + front_end.envelopes, front_end.margin

    def forward(self, clips: Tensor) -> Tensor:
        count = clips.shape[1]
        frame, frames = torch.arange(count), torch.scalar_tensor(count, dtype=torch.int64)
        inside = (frame >= self.margin) & (frame < frames - self.margin)
        counts = (inside | (frames <= 2 * self.margin)).double()[:, None]
        # As tensors: the exporter rounds plain numbers to float32.
        bel, level = (_exact(value) for value in (math.log(10) / 10, 10 / math.log(10)))
        power = (clips[:, :, self.first :] * bel).exp()
        mean = (counts.T / counts.sum()) @ power  # (clips, 1, narrow bands)
        return mean[:, 0].log() * level


class RoughnessGraph(nn.Module):
    """How much each mel bin jumps from frame to frame."""

    def __init__(self, front_end: TextureFrames) -> None:
        super().__init__()
        self.mels = front_end.mels

    def forward(self, clips: Tensor) -> Tensor:
        mels = clips[:, :, : self.mels]
        jumps = mels[:, 1:] - mels[:, :-1]
        return (jumps - jumps.mean(1, keepdim=True)).square().mean(1).sqrt()


class ModulationGraph(nn.Module):
    """How strongly bands rise and fall, by how often per second."""

    lines: Tensor  # (frames + 1, rate bands, 2): first line of a band, and that after the last
    groups: Tensor  # (bands, groups): means over neighbouring bands

    def __init__(self, values: slice, per_frame: int, rates: RateBands, longest: int) -> None:
        """`values` of a frame are `per_frame` levels of every band; `longest` clip in frames."""
        super().__init__()
        self.first, self.last, self.per_frame = values.start, values.stop, per_frame
        none = [(0, 1)] * (len(rates.edges) - 1)
        of_count = [rates.lines(count * per_frame) for count in range(LEAST_FRAMES, longest + 1)]
        self.register_buffer("lines", torch.tensor([none] * LEAST_FRAMES + of_count))
        bands = (values.stop - values.start) // per_frame
        groups = np.zeros((bands, len(band_groups(bands))))
        for number, group in enumerate(band_groups(bands)):
            groups[group, number] = 1 / len(group)
        self.register_buffer("groups", torch.from_numpy(groups))

    def forward(self, clips: Tensor) -> Tensor:
        count = clips.shape[1]
        levels = clips[:, :, self.first : self.last]
        levels = levels.reshape(-1, count, self.per_frame, self.groups.shape[0])
        frames = torch.scalar_tensor(count, dtype=torch.int64)
        levels = (levels - levels.mean((1, 2), keepdim=True)) * self._window(count)[:, :, None]
        real, imaginary = self._over_frames(levels.flatten(2), count)
        shape = (-1, count, self.per_frame, self.groups.shape[0])
        power = self._over_levels(real.reshape(shape), imaginary.reshape(shape), count)
        # Line k1 + frames · k2 is at (k1, k2).
        line = torch.arange(count)[:, None] + frames * torch.arange(power.shape[2])
        begin, end = self.lines[frames].unbind(1)  # (rate bands,)
        begin, end = begin[:, None], end[:, None]
        line = line.flatten()
        inside = ((line >= begin) & (line < end)).double() / (end - begin).double()
        banded = inside @ power.flatten(1, 2)  # (clips, rate bands, bands)
        banded = banded / (frames.double() * self.per_frame)
        return (banded @ self.groups + _exact(SMALLEST)).log().flatten(1)

    def _window(self, count: int) -> Tensor:
        """Hann over all levels, without its zeros: (frames, levels of a frame)."""
        place = torch.arange(count)[:, None] * self.per_frame + torch.arange(self.per_frame) + 1
        levels = torch.scalar_tensor(count, dtype=torch.float64) * self.per_frame
        return 0.5 - 0.5 * _cosine(place.double() / (levels + 1))

    def _over_frames(self, levels: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """The first step of the transform: (clips, frames, …) to (clips, lines k1, …)."""
        frames = torch.scalar_tensor(count, dtype=torch.int64)
        turns = (torch.arange(count)[:, None] * torch.arange(count)) % frames
        part = turns.double() / frames.double()
        return _cosine(part) @ levels, -(_sine(part) @ levels)

    def _over_levels(self, real: Tensor, imaginary: Tensor, count: int) -> Tensor:
        """The second step, over the levels of a frame: the power at every line (k1, k2)."""
        if self.per_frame == 1:
            return real.square() + imaginary.square()
        levels = torch.scalar_tensor(count, dtype=torch.float64) * self.per_frame
        level = torch.arange(self.per_frame)
        part = (torch.arange(count)[:, None] * level).double() / levels
        cosine, sine = _cosine(part)[:, :, None], _sine(part)[:, :, None]
        real, imaginary = real * cosine + imaginary * sine, imaginary * cosine - real * sine
        later = torch.arange(self.per_frame // 2 + 1)
        part = (later[:, None] * level).double() / self.per_frame  # (k2, levels)
        cosine, sine = _cosine(part), _sine(part)
        power = (cosine @ real + sine @ imaginary).square()
        return power + (cosine @ imaginary - sine @ real).square()


def _cosine(turns: Tensor) -> Tensor:
    return (turns * _exact(2 * torch.pi)).cos()


def _sine(turns: Tensor) -> Tensor:
    return (turns * _exact(2 * torch.pi)).sin()


def _exact(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def _modulation(front_end: TextureFrames, longest: int) -> nn.Module:
    return ModulationGraph(slice(0, front_end.mels), 1, modulation_bands(front_end), longest)


def _envelope(front_end: TextureFrames, longest: int) -> nn.Module:
    values = slice(front_end.mels, front_end.mels + front_end.envelopes)
    return ModulationGraph(values, ENVELOPES_A_FRAME, envelope_bands(front_end), longest)


# By view: from the front end and the frames of the longest clip.
VIEW_GRAPHS: dict[str, Callable[[TextureFrames, int], nn.Module]] = {
    "spectrum": lambda front_end, _: SpectrumGraph(front_end),
    "roughness": lambda front_end, _: RoughnessGraph(front_end),
    "modulation": _modulation,
    "envelope": _envelope,
}
