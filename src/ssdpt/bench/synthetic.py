"""Synthetic log-mels of the size of a real data set; speed does not depend on their content."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ssdpt.features.cache import FeatureSet
from ssdpt.types import Recording

FRAMES = 313  # of a ten-second clip
BINS = 128
SECTIONS = 3


def synthetic_clips(clips: int, seed: int = 0) -> FeatureSet:
    """Noise in dB, (clips × 313, 128), of three sections."""
    rng = np.random.default_rng(seed)
    frames = rng.standard_normal((clips * FRAMES, BINS), np.float32) * 10 - 40
    recordings = tuple(
        Recording(Path(f"{number}.wav"), "machine", f"{number % SECTIONS:02d}")
        for number in range(clips)
    )
    return FeatureSet(recordings, frames, np.arange(clips + 1) * FRAMES)
