"""The map shows the points that a score depends on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ssdpt.scoring.saliency import saliency

CPU = torch.device("cpu")


def clip(frames=50, bins=12):
    quiet = np.random.default_rng(0).normal(-60, 1, (frames, bins)).astype(np.float32)
    quiet[20:30, 4:7] += 40
    return quiet


def test_it_is_the_slope_times_the_distance_from_the_usual_sound():
    frames = clip()
    values = saliency(frames, lambda x: 0.5 * x.sum((1, 2)), 16, CPU, 2)
    expected = 0.5 * np.abs(frames - np.sort(frames, axis=0)[(len(frames) - 1) // 2])
    assert values[22:28, 5].mean() == pytest.approx(expected[22:28, 4:7].mean(), rel=0.01)
    assert values[:, 10:].max() < 1.5


def test_what_the_score_does_not_hear_is_not_shown():
    values = saliency(clip(), lambda x: x[:, :, :2].sum((1, 2)), 16, CPU, 64)
    assert values[:, 3:].max() == 0
    assert values[:, :2].mean() > 0


def test_a_strange_sound_that_saturates_the_score_is_still_found():
    frames = clip()
    at_the_end = torch.from_numpy(frames[None, 16:32]).requires_grad_()

    def score(x):
        return (x + 60).clamp(0, 6).sum((1, 2))

    score(at_the_end).sum().backward()
    assert at_the_end.grad[0, 6:12, 5].abs().max() == 0
    values = saliency(frames, score, 16, CPU, 64)
    assert values[22:28, 5].mean() > 4 * values.mean()


@pytest.mark.parametrize("frames", [1, 5, 16, 17])
def test_clips_of_any_length(frames):
    values = saliency(clip(50)[:frames], lambda x: x.square().sum((1, 2)), 16, CPU, 3)
    assert values.shape == (frames, 12)
    assert np.isfinite(values).all()
