"""Chunks of a clip: together they give the outputs of the graph for the whole clip."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.config.settings import FeatureConfig
from ssdpt.runtime.chunks import chunks
from ssdpt.runtime.manifest import Segment


def frames_of(samples, features):
    """A stand-in for the graph's log-mel: the sum of every centred, zero-padded window."""
    half = features.n_fft // 2
    padded = np.concatenate([np.zeros(half), samples, np.zeros(half)])
    starts = np.arange(len(samples) // features.hop_length + 1) * features.hop_length
    return np.array([padded[start : start + features.n_fft].sum() for start in starts])


def segments_of(frames, segment):
    """And for its segments: all their frames; a short clip is repeated."""
    count = max(len(frames) - segment.frames, 0) // segment.hop + 1
    places = np.arange(count)[:, None] * segment.hop + np.arange(segment.frames)
    return frames[places % len(frames)]


@pytest.mark.parametrize(("n_fft", "hop"), [(8, 4), (8, 8), (8, 2), (10, 3), (8, 5)])
@pytest.mark.parametrize(
    ("length", "step", "at_once"), [(4, 1, 3), (4, 4, 2), (3, 7, 2), (5, 2, 1)]
)
def test_pieces_give_the_segments_of_the_whole(n_fft, hop, length, step, at_once):
    features = FeatureConfig(n_fft=n_fft, hop_length=hop)
    segment = Segment(frames=length, hop=step, at_once=at_once)
    rng = np.random.default_rng(0)
    for count in [*range(1, 60), 200, 333]:
        samples = rng.integers(-99, 99, count).astype(np.float32)
        whole = frames_of(samples, features)
        for block in (1, 7, 64, 1000):
            blocks = [samples[at : at + block] for at in range(0, count, block)]
            segments = []
            for piece in chunks(blocks, features, segment):
                own = frames_of(piece.samples, features)
                segments += segments_of(own, segment)[piece.segments].tolist()
            assert segments == segments_of(whole, segment).tolist()


def test_a_long_recording_passes_in_pieces_of_one_size():
    features, segment = FeatureConfig(n_fft=8, hop_length=4), Segment(frames=4, hop=1, at_once=8)
    blocks = (np.ones(100, np.float32) for _ in range(200))
    sizes = [len(piece.samples) for piece in chunks(blocks, features, segment)]
    assert len(sizes) > 500
    assert max(sizes) < 60
