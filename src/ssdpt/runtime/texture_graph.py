"""The frames of ssdpt.features.texture for a whole clip, as a graph."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ssdpt.features.texture import ENVELOPE_FLOOR, ENVELOPES_A_FRAME, FINE_EVERY, TextureFrames
from ssdpt.runtime.fourier import PowerSpectrum, decibels

_EXPONENTS = range(-8, 9)  # of levels in dB, as powers of two


class TextureFramesGraph(nn.Module):
    """Log-mel, envelopes and fine spectrum of a clip of any length, rounded as they are stored."""

    filters: Tensor  # (lines, envelope bands)
    band_lines: Tensor  # (narrow bands, most lines of a band): which lines are in a band
    band_weights: Tensor  # the same shape: 1 / number of lines, or 0 beyond the last

    def __init__(self, front_end: TextureFrames, log_mel: nn.Module, dtype: torch.dtype) -> None:
        """`log_mel`: (samples,) to (frames, mel bins) in dB; `dtype` of all arithmetic."""
        super().__init__()
        self.hop = front_end.hop
        self.log_mel = log_mel
        self.envelope = PowerSpectrum(front_end.envelope_window, dtype)
        self.envelope_hop, self.envelope_bands = front_end.envelope_hop, front_end.envelope_bands
        # Samples from the first envelope's beginning to the first sample.
        self.envelope_lead = front_end.n_fine // 2 - front_end.envelope_begin
        self.fine = PowerSpectrum(front_end.fine_window, dtype)
        self.register_buffer("filters", torch.from_numpy(front_end.envelope_filters).to(dtype))
        first, count = front_end.fine_edges[:-1, None], np.diff(front_end.fine_edges)[:, None]
        place = np.arange(count.max())
        lines = np.minimum(first + place, front_end.n_fine // 2)
        self.register_buffer("band_lines", torch.from_numpy(lines))
        self.register_buffer("band_weights", torch.from_numpy((place < count) / count).to(dtype))

    def forward(self, samples: Tensor) -> Tensor:
        """(samples,) to (frames, values); frames = 1 + samples // hop."""
        frames = samples.shape[0] // self.hop + 1
        envelopes, fine = self._envelopes(samples, frames), self._fine(samples, frames)
        return _as_stored(torch.cat([self.log_mel(samples), envelopes, fine], 1))

    def _envelopes(self, samples: Tensor, frames: int) -> Tensor:
        """(frames, envelopes of a frame × bands) in dB."""
        padded = functional.pad(samples, (self.envelope_lead, self.hop + self.envelope.size))
        first = torch.arange(frames * ENVELOPES_A_FRAME) * self.envelope_hop
        windows = padded[first[:, None] + torch.arange(self.envelope.size)]
        level = decibels(self.envelope(windows) @ self.filters, ENVELOPE_FLOOR)
        return level.float().reshape(-1, ENVELOPES_A_FRAME * self.envelope_bands)

    def _fine(self, samples: Tensor, frames: int) -> Tensor:
        """(frames, narrow bands) in dB; several frames have the same."""
        margin = self.fine.size // 2
        padded = functional.pad(samples, (margin, margin))
        first = torch.arange((frames - 1) // FINE_EVERY + 1) * (FINE_EVERY * self.hop)
        windows = padded[first[:, None] + torch.arange(self.fine.size)]
        lines = decibels(self.fine(windows), ENVELOPE_FLOOR)
        bands = (lines[:, self.band_lines] * self.band_weights).sum(2).float()
        return bands[torch.arange(frames) // FINE_EVERY]


def _as_stored(levels: Tensor) -> Tensor:
    """Levels (frames, values) rounded to float16, as frames are.

    Runtimes may join two conversions into one, or pass over a conversion and back. So it is written
    as a rounding to the step between the numbers of float16, which is exact in float32.
    """
    size = levels.abs()
    scale = torch.full_like(levels, 2.0 ** (11 - _EXPONENTS[0]))
    for exponent in _EXPONENTS:
        scale = torch.where(size >= 2.0**exponent, 2.0 ** (10 - exponent), scale)
    return torch.round(levels * scale) / scale
