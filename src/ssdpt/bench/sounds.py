"""Made-up log-mels of the size of a real data set: how fast does not depend on what is heard."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ssdpt.features.cache import FeatureSet
from ssdpt.types import Recording

FRAMES = 313  # of a ten-second clip
BINS = 128
SECTIONS = 3


def made_up_clips(clips: int, seed: int = 0) -> FeatureSet:
    """Noise in dB, (clips × 313, 128), in three sections."""
    rng = np.random.default_rng(seed)
    frames = rng.standard_normal((clips * FRAMES, BINS), np.float32) * 10 - 40
    recordings = tuple(
        Recording(Path(f"{number}.wav"), "machine", f"{number % SECTIONS:02d}")
        for number in range(clips)
    )
    return FeatureSet(recordings, frames, np.arange(clips + 1) * FRAMES)
