"""Which points of a clip a network's score hangs on, from the score's gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from ssdpt.scoring.explain import covering_starts, overlap_mean, smooth
from ssdpt.types import Floats

_STEPS = 8  # from the usual sound to the clip
_OVERLAP = 4  # segments that cover a frame


def saliency(
    frames: Floats,
    score: Callable[[Tensor], Tensor],
    length: int,
    device: torch.device,
    at_once: int,
) -> Floats:
    """How far every point of a clip (frames, bins) moves the score, same shape, ≥ 0.

    `score` takes (segments, length, bins) to (segments,). A point counts by its distance from what
    is usual at its frequency in this clip (the median over time) times the score's slope there,
    averaged on the way from the usual sound to the clip: at its end, where a strange sound has
    saturated the network, there is no slope left.
    """
    features = torch.from_numpy(np.array(frames)).to(device)
    usual = features.median(0).values  # (bins,)
    starts = covering_starts(len(features), length, max(1, length // _OVERLAP))
    position = (starts[:, None] + torch.arange(length)) % len(features)
    maps = []
    for places in torch.split(position, at_once):
        deviation = features[places.to(device)] - usual  # (segments, length, bins)
        slope = torch.zeros_like(deviation)
        for step in range(_STEPS):
            share = (step + 0.5) / _STEPS
            segments = (usual + share * deviation).requires_grad_()
            (gradient,) = torch.autograd.grad(score(segments).sum(), segments)
            slope += gradient.abs() / _STEPS
        maps.append((slope * deviation.abs()).cpu())
    return smooth(overlap_mean(torch.cat(maps), starts, len(features)))
