"""Masks and mixup: the augmentation of training segments.

A mask is a few boxes in time and frequency; in them the feature is zero after the network's input
normalisation, where zero is the mean. Random choices are drawn for many updates at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ssdpt.nn.settings import MaskConfig


def draw_boxes(
    config: MaskConfig, updates: int, batch: int, frames: int, bins: int, generator: torch.Generator
) -> Tensor:
    """Random boxes for every segment, (updates, batch, boxes, 4).

    A box is first frame, last frame + 1, first bin, last bin + 1.
    """

    def drawn(count: int, height: int, width: int) -> Tensor:
        shape = (updates, batch, count)
        return torch.stack(
            [
                *_interval(shape, frames, height, generator),
                *_interval(shape, bins, width, generator),
            ],
            dim=-1,
        )

    kind, stripes, width = config.kind, config.stripes, config.stripe_width
    boxes = [torch.zeros(updates, batch, 0, 4, dtype=torch.long)]
    if kind == "patch":
        boxes.append(drawn(config.patches, config.patch_size, config.patch_size))
    if kind in {"time", "specaugment"}:
        boxes.append(drawn(stripes, width, bins))
    if kind in {"frequency", "specaugment"}:
        boxes.append(drawn(stripes, frames, width))
    return torch.cat(boxes, dim=2).to(torch.int32)


def _interval(
    shape: tuple[int, ...], size: int, width: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """First and last + 1 of `width` adjacent positions, at random within `size`."""
    first = torch.randint(max(size - width, 0) + 1, shape, generator=generator)
    return first, (first + width).clamp(max=size)


def visible(boxes: Tensor, frames: int, bins: int) -> Tensor | None:
    """(batch, frames, bins): 0 inside the boxes (batch, boxes, 4), else 1; None without boxes."""
    if boxes.shape[1] == 0:
        return None
    frame = torch.arange(frames, device=boxes.device)
    mel = torch.arange(bins, device=boxes.device)
    first_frame, last_frame, first_bin, last_bin = boxes[..., None].unbind(2)  # (batch, boxes, 1)
    in_time = (frame >= first_frame) & (frame < last_frame)  # (batch, boxes, frames)
    in_frequency = (mel >= first_bin) & (mel < last_bin)  # (batch, boxes, bins)
    hidden = (in_time[:, :, :, None] & in_frequency[:, :, None, :]).any(1)
    return (~hidden).float()


def draw_mixup(
    concentration: float, updates: int, batch: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """λ ~ Beta(c, c), one per batch, (updates,), and every segment's partner, (updates, batch).

    With c = 0 segments are not mixed: λ = 1.
    """
    if concentration == 0:
        return torch.ones(updates), torch.arange(batch).expand(updates, -1)
    share = torch.rand(updates, generator=generator)
    if concentration != 1:
        # torch's Beta uses only the global generator, so our seed would have no effect.
        from scipy.stats import beta

        quantile = beta.ppf(share.double().numpy(), concentration, concentration)
        share = torch.from_numpy(quantile).float()
    return share, torch.rand(updates, batch, generator=generator).argsort(1)


def mix(features: Tensor, share: Tensor, partner: Tensor) -> Tensor:
    """λ·X_i + (1 − λ)·X_j, in dB, (batch, frames, bins)."""
    return torch.lerp(features[partner], features, share)
