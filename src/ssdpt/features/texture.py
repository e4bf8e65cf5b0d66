"""What the hand-made views of a clip are made from: log-mel, envelopes and a fine spectrum.

One frame every log-mel hop holds three things side by side, all in dB and all centred on the same
sample: the log-mel itself, the fast envelopes of a few mel bands (sixteen values per hop each: what
vibration engineers demodulate), and a spectrum of half-second windows in narrow bands (where tones
are separate).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ssdpt.config.settings import FeatureConfig
from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd, centred_windows
from ssdpt.features.logmel import LogMel, mel_filters, resolved_filters
from ssdpt.types import Floats

ENVELOPES_A_FRAME = 16
_ENVELOPE_BANDS = 16
_ENVELOPE_LOWEST_HZ = 50.0
_ALL_BANDS_FROM = 4000  # Hz; at a lower sample rate so many bands are narrower than can be resolved
ENVELOPE_FLOOR = 1e-10  # power; far below any microphone's own noise
_FINE_SECONDS = 0.5  # at least; the window is the next power of two in samples
_FINE_LOWEST_HZ = 16.0
_FINE_BANDS = 220  # asked for; where the transform is coarser than a band, bands fall together
FINE_EVERY = 8  # frames share one fine spectrum: half-second windows change no faster
_AT_ONCE = 64  # frames


class TextureFrames(FrontEnd):
    """Log-mel, envelopes and fine spectrum, one row a log-mel frame. Threads may share it."""

    name: ClassVar[str] = "texture"
    # Five times as many values as a log-mel: kept, and therefore exact, to 0.06 dB.
    storage: ClassVar[Literal["<f4", "<f2"]] = "<f2"

    def __init__(self, config: FeatureConfig, sample_rate: int) -> None:
        if config.hop_length % ENVELOPES_A_FRAME:
            raise SsdptError(
                f"features.hop_length {config.hop_length}: envelopes need a multiple of "
                f"{ENVELOPES_A_FRAME} samples"
            )
        self.log_mel = LogMel(config, sample_rate)
        self.sample_rate = sample_rate
        self.hop = config.hop_length
        self.frame_seconds = self.log_mel.frame_seconds
        wanted = max(_FINE_SECONDS * sample_rate, 2 * config.n_fft)
        self.n_fine = 1 << int(np.ceil(np.log2(wanted)))
        self.fine_window = _hann(self.n_fine)
        lowest = _FINE_LOWEST_HZ * self.n_fine / sample_rate
        edges = np.geomspace(max(lowest, 1.0), self.n_fine // 2, _FINE_BANDS)
        self.fine_edges = np.unique(edges.round().astype(int))  # first transform bin of each band
        self.envelope_hop = self.hop // ENVELOPES_A_FRAME
        self.n_envelope = 8 * self.envelope_hop
        self.envelope_window = _hann(self.n_envelope)
        # Where in a window of `n_fine` samples the first envelope of the frame begins.
        self.envelope_begin = (self.n_fine - self.hop - self.n_envelope) // 2
        self.envelope_bands = _ENVELOPE_BANDS
        if sample_rate < _ALL_BANDS_FROM:
            line_hz = sample_rate / self.n_envelope
            most = resolved_filters(_ENVELOPE_LOWEST_HZ, sample_rate / 2, line_hz)
            self.envelope_bands = min(_ENVELOPE_BANDS, most)
        bands = FeatureConfig(
            n_fft=self.n_envelope,
            hop_length=self.envelope_hop,
            n_mels=self.envelope_bands,
            f_min=_ENVELOPE_LOWEST_HZ,
        )
        self.envelope_filters = mel_filters(bands, sample_rate).T.astype(np.float64)
        self.mels = self.mel_bins = config.n_mels
        self.envelopes = ENVELOPES_A_FRAME * self.envelope_bands
        self.fine_bands = len(self.fine_edges) - 1
        self.bins = self.width = self.mels + self.envelopes + self.fine_bands

    def stream(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        shared: np.ndarray | None = None  # the fine spectrum of the frames under way
        number = 0
        for stretch in centred_windows(blocks, self.n_fine, self.hop):
            windows = sliding_window_view(stretch, self.n_fine)[:: self.hop]
            for first in range(0, len(windows), _AT_ONCE):
                some = windows[first : first + _AT_ONCE]
                rows = np.empty((len(some), self.width), np.float32)
                rows[:, : self.mels] = self._log_mels(some)
                rows[:, self.mels : self.mels + self.envelopes] = self._envelopes(some)
                for place, window in enumerate(some):
                    if shared is None or number % FINE_EVERY == 0:
                        shared = self._fine(window)
                    rows[place, self.mels + self.envelopes :] = shared
                    number += 1
                yield rows.astype(np.float16).astype(np.float32)

    @property
    def settings(self) -> dict[str, Any]:
        return self.log_mel.settings

    @property
    def frequencies(self) -> Floats:
        """Of the log-mel, which comes first in every frame."""
        return self.log_mel.frequencies

    def log_mels(self, frames: Floats) -> Floats:
        """(frames, mel bins) in dB."""
        return frames[:, : self.mels]

    def envelope(self, frames: Floats) -> Floats:
        """(16 × frames, bands) in dB: one row every `envelope_hop` samples."""
        part = frames[:, self.mels : self.mels + self.envelopes]
        return part.reshape(-1, self.envelope_bands)

    def fine(self, frames: Floats) -> Floats:
        """(frames, narrow bands) in dB; frames near the ends see zeros beyond them."""
        return frames[:, self.mels + self.envelopes : self.width]

    def further_views(self, frames: Floats) -> dict[str, np.ndarray]:
        """Views, (rows, values) each, that others have made of the samples of a clip, by name."""
        return {}

    @property
    def margin(self) -> int:
        """Frames at either end of a recording whose fine spectrum reaches beyond it."""
        return self.n_fine // 2 // self.hop

    @property
    def envelope_rate(self) -> float:
        """Envelope values per second."""
        return self.sample_rate / self.envelope_hop

    def _log_mels(self, windows: Floats) -> Floats:
        """The middle of each window, (frames, n_fine), as log-mel."""
        begin = (self.n_fine - self.log_mel.config.n_fft) // 2
        return self.log_mel.of_windows(windows[:, begin : begin + self.log_mel.config.n_fft])

    def _envelopes(self, windows: Floats) -> np.ndarray:
        """(frames, n_fine) to (frames, envelopes per frame × bands) in dB."""
        begin = self.envelope_begin
        middle = windows[:, begin : begin + self.hop + self.n_envelope]
        steps = sliding_window_view(middle, self.n_envelope, axis=1)[:, : self.hop]
        steps = steps[:, :: self.envelope_hop]  # (frames, envelopes per frame, n_envelope)
        spectrum = np.fft.rfft(steps * self.envelope_window)
        power = (spectrum.real**2 + spectrum.imag**2) @ self.envelope_filters
        decibels = 10.0 * np.log10(np.maximum(power, ENVELOPE_FLOOR))
        return decibels.reshape(len(windows), -1)

    def _fine(self, window: Floats) -> np.ndarray:
        """One window (n_fine,) to (narrow bands,) in dB."""
        spectrum = np.fft.rfft(window * self.fine_window)
        power = spectrum.real**2 + spectrum.imag**2
        decibels = 10.0 * np.log10(np.maximum(power, ENVELOPE_FLOOR))
        sums = np.add.reduceat(decibels[: self.fine_edges[-1]], self.fine_edges[:-1])
        return sums / np.diff(self.fine_edges)


def _hann(samples: int) -> np.ndarray:
    """(samples,) Hann, periodic."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(samples) / samples)
