"""The frames of hand-made views with the embeddings of an encoder beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.settings import AudioConfig, FeatureConfig
from ssdpt.config.tree import Config
from ssdpt.features.encoder import encoder_of
from ssdpt.features.encoder_windows import EncoderWindows
from ssdpt.features.texture import TextureFrames
from ssdpt.types import Floats

ENCODER_VIEW = "encoder"


def texture_frames(config: Config) -> TextureFrames:
    """The front end of the hand-made views, and of an encoder where there is one."""
    encoder = config.part(EncoderConfig)
    if not encoder.file:
        return _shared_frames(config.features, config.audio.sample_rate)
    return EncodedTextureFrames(config.features, config.audio, encoder)


@lru_cache(maxsize=8)
def _shared_frames(features: FeatureConfig, sample_rate: int) -> TextureFrames:
    """One for all models with the same settings: its filters take time to make, and memory."""
    return TextureFrames(features, sample_rate)


class EncodedTextureFrames(TextureFrames):
    """`TextureFrames` whose last columns are the embedding of the window that ends in a frame.

    They are NaN in all other frames. Threads may share it.
    """

    name: ClassVar[str] = "texture and encoder"

    def __init__(self, config: FeatureConfig, audio: AudioConfig, encoder: EncoderConfig) -> None:
        super().__init__(config, audio.sample_rate)
        self.encoder = encoder
        self.clip_seconds = audio.clip_seconds
        self.bins += encoder.dimensions

    def stream(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        encoder = encoder_of(self.encoder)
        seconds = encoder.window / encoder.sidecar.sample_rate
        # However a recording is cut into clips, a window ends in each of them.
        hop = round(min(seconds, self.clip_seconds / 2) * self.sample_rate)
        windows = EncoderWindows(encoder, self.sample_rate, hop, self.hop)
        number = 0
        for frames in super().stream(windows.passing(blocks)):
            rows = windows.rows(number, len(frames)).astype(np.float16).astype(np.float32)
            yield np.concatenate([frames, rows], axis=1)
            number += len(frames)

    def further_views(self, frames: Floats) -> dict[str, np.ndarray]:
        """The embeddings of a clip, a row for each window that ends in it; one if max is pooled."""
        rows = frames[:, -self.encoder.dimensions :]
        rows = rows[~np.isnan(rows[:, 0])].astype(np.float64)
        assert self.encoder.sidecar is not None
        if self.encoder.sidecar.pooling == "max" and len(rows):
            rows = rows.max(0, keepdims=True)
        return {ENCODER_VIEW: rows}

    @property
    def settings(self) -> dict[str, Any]:
        assert self.encoder.sidecar is not None
        texts = {"licence", "source"}
        return {
            **super().settings,
            "encoder": self.encoder.digest,
            "sidecar": self.encoder.sidecar.model_dump(exclude=texts),
            "clip_seconds": self.clip_seconds,
        }
