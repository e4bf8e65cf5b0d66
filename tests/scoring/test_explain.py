"""Anomaly maps of overlapping segments become one map of the clip."""

from __future__ import annotations

import numpy as np
import torch

from ssdpt.scoring.explain import covering_starts, overlap_mean, smooth


def test_every_frame_is_covered():
    for frames, length, hop in [(100, 16, 8), (101, 16, 8), (16, 16, 8), (5, 16, 8)]:
        starts = covering_starts(frames, length, hop)
        covered = {(s + k) % frames for s in starts.tolist() for k in range(length)}
        assert covered == set(range(frames))
        assert starts.max() <= max(frames - length, 0)


def test_overlaps_are_averaged():
    maps = torch.stack([torch.full((4, 1), 1.0), torch.full((4, 1), 3.0)])
    mean = overlap_mean(maps, torch.tensor([0, 2]), 7)
    assert mean[:, 0].tolist() == [1, 1, 2, 2, 3, 3, 0]  # the last frame is in no segment


def test_a_repeated_short_clip_is_folded_back():
    maps = torch.arange(6.0).view(1, 6, 1)
    mean = overlap_mean(maps, torch.tensor([0]), 3)
    assert mean[:, 0].tolist() == [1.5, 2.5, 3.5]


def test_smoothing_keeps_constants_and_drops_the_negative():
    np.testing.assert_allclose(smooth(torch.full((5, 6), 2.0)), 2.0)
    assert smooth(-torch.ones(5, 6)).max() == 0
