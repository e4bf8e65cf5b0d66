"""Which seconds and which frequencies make a clip unusual."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ssdpt.types import Floats

_SMOOTHING = 3  # frames and bins; single points are noise, not a place


def overlap_mean(maps: Tensor, starts: Tensor, frames: int) -> Tensor:
    """Maps of overlapping segments (segments, P, bins) to one of the clip, (frames, bins).

    Where segments overlap their mean is taken; frames that no segment covers get 0.
    """
    length = maps.shape[1]
    position = (starts[:, None] + torch.arange(length)) % frames  # a short clip was repeated
    total = torch.zeros(frames, maps.shape[2])
    total.index_add_(0, position.flatten(), maps.flatten(0, 1))
    count = torch.zeros(frames)
    count.index_add_(0, position.flatten(), torch.ones(position.numel()))
    return total / count.clamp_min(1)[:, None]


def smooth(contributions: Tensor) -> Floats:
    """Contributions to the score (frames, bins) to a map ≥ 0 without single-point noise."""
    padded = contributions.clamp_min(0)[None, None]
    mean = functional.avg_pool2d(
        padded, _SMOOTHING, stride=1, padding=_SMOOTHING // 2, count_include_pad=False
    )
    return mean[0, 0].numpy()


def covering_starts(frames: int, length: int, hop: int) -> Tensor:
    """Starts of segments at `hop`, with a last one at the very end, so that all is covered."""
    last = max(frames - length, 0)
    return torch.from_numpy(np.unique(np.append(np.arange(0, last + 1, hop), last)))
