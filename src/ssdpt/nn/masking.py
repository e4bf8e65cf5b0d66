"""Masks and mixup: what a training segment goes through before the network sees it.

A mask is a tensor of ones with zeros where the feature is hidden; it multiplies the feature
after the network's input normalisation, where zero is the mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ssdpt.config import MaskConfig


def draw_mask(
    config: MaskConfig, shape: Sequence[int], generator: torch.Generator
) -> Tensor | None:
    """A fresh mask for every segment of a batch, `shape` = (batch, frames, bins); None for NM."""
    if config.kind == "none":
        return None
    _, frames, bins = shape
    if config.kind == "patch":
        size = config.patch_size
        return _rectangles(shape, config.patches, size, size, generator)
    visible = torch.ones(*shape, device=generator.device)
    if config.kind in {"time", "specaugment"}:
        visible *= _rectangles(shape, config.stripes, config.stripe_width, bins, generator)
    if config.kind in {"frequency", "specaugment"}:
        visible *= _rectangles(shape, config.stripes, frames, config.stripe_width, generator)
    return visible


def _rectangles(
    shape: Sequence[int], count: int, height: int, width: int, generator: torch.Generator
) -> Tensor:
    """Ones with `count` zero rectangles of `height` frames × `width` bins, anywhere inside."""
    batch, frames, bins = shape
    visible = torch.ones(*shape, dtype=torch.bool, device=generator.device)
    for _ in range(count):
        hidden_frames = _interval(batch, frames, height, generator)  # (batch, frames)
        hidden_bins = _interval(batch, bins, width, generator)  # (batch, bins)
        visible &= ~(hidden_frames[:, :, None] & hidden_bins[:, None, :])
    return visible.float()


def _interval(batch: int, size: int, width: int, generator: torch.Generator) -> Tensor:
    """True on `width` neighbouring positions out of `size`, at a random place for each row."""
    places = max(size - width, 0) + 1
    first = torch.randint(places, (batch, 1), generator=generator, device=generator.device)
    position = torch.arange(size, device=generator.device)
    return (position >= first) & (position < first + width)


def draw_mixup(
    concentration: float, batch: int, generator: torch.Generator
) -> tuple[Tensor, Tensor] | None:
    """λ ~ Beta(c, c), a scalar tensor, and the partner of every segment (batch,); None if c = 0."""
    if concentration == 0:
        return None
    share = torch.rand((), generator=generator, device=generator.device)
    if concentration != 1:
        # torch's own Beta draws from the global generator only: a seed of ours could not fix it.
        from scipy.stats import beta

        quantile = beta.ppf(share.item(), concentration, concentration)
        share = torch.tensor(quantile, dtype=torch.float32, device=generator.device)
    partner = torch.randperm(batch, generator=generator, device=generator.device)
    return share, partner


def mix(features: Tensor, mixup: tuple[Tensor, Tensor] | None) -> Tensor:
    """λ·X_i + (1 − λ)·X_j, in dB, (batch, frames, bins)."""
    if mixup is None:
        return features
    share, partner = mixup
    return torch.lerp(features[partner], features, share)
