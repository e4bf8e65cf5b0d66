"""MobileNetV2: inverted residuals with linear bottlenecks.

M. Sandler, A. Howard, M. Zhu, A. Zhmoginov, L.-C. Chen: "MobileNetV2: Inverted Residuals and
Linear Bottlenecks". The image is a segment: frames × bins, with one channel.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import fuse_conv_bn_eval

from ssdpt.nn.margins import AdditiveAngularMargin

# Table 2 of the paper: expansion t, channels c, repetitions n, stride s of the first.
_TABLE = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
_STEM, _LAST = 32, 1280
_DIVISOR = 8  # channels come in multiples of it

Network = TypeVar("Network", bound=nn.Module)


class MobileNetTrunk(nn.Module):
    """The network without its classifier: segments to `outputs` pooled values."""

    def __init__(self, width: float, channels: int) -> None:
        super().__init__()
        fan_in = _rounded(_STEM * width)
        layers: list[nn.Module] = [_convolution(channels, fan_in, 3, stride=2)]
        for expansion, channels_out, repetitions, stride in _TABLE:
            fan_out = _rounded(channels_out * width)
            for repetition in range(repetitions):
                layers.append(
                    InvertedResidual(fan_in, fan_out, stride if repetition == 0 else 1, expansion)
                )
                fan_in = fan_out
        outputs = _rounded(_LAST * max(width, 1.0))  # a narrow network keeps its last layer
        self.layers = nn.Sequential(*layers, _convolution(fan_in, outputs, 1))
        self.channels, self.outputs = channels, outputs
        for _, _, layer, norm in _normalised(self):
            nn.init.xavier_uniform_(layer.weight)
            # The variance for white noise, as a start that few updates can correct.
            norm.running_var = layer.weight.detach().square().sum((1, 2, 3))

    def forward(self, segments: Tensor) -> Tensor:
        """(batch, frames, bins) to (batch, outputs); each channel of the input is the segment."""
        image = segments[:, None].expand(-1, self.channels, -1, -1)
        image = image.contiguous(memory_format=torch.channels_last)
        return self.layers(image).mean((2, 3))  # from (batch, outputs, height, width)


class InvertedResidual(nn.Module):
    """Expand, filter each channel separately, project; the input is added if shapes allow it."""

    def __init__(self, fan_in: int, fan_out: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = fan_in * expansion
        expand = [_convolution(fan_in, hidden, 1)] if expansion > 1 else []
        self.layers = nn.Sequential(
            *expand,
            _convolution(hidden, hidden, 3, stride=stride, groups=hidden),
            nn.Conv2d(hidden, fan_out, 1, bias=False),
            nn.BatchNorm2d(fan_out),
        )
        self.residual = stride == 1 and fan_in == fan_out

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Module):
    """The classifier of the DCASE 2021 baseline; the segment is repeated in three channels."""

    def __init__(self, classes: int, *, width: float = 1.0, channels: int = 3) -> None:
        super().__init__()
        self.trunk = MobileNetTrunk(width, channels)
        self.classifier = nn.Linear(self.trunk.outputs, classes)
        nn.init.xavier_uniform_(self.classifier.weight)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, segments: Tensor) -> Tensor:
        """(batch, frames, bins) to logits, (batch, classes)."""
        return self.classifier(self.trunk(segments))


class AngularMobileNet(nn.Module):
    """Segments to unit embeddings, trained with an angular margin between classes.

    Each frequency is standardised separately, since levels differ by 100 dB and more between them.
    The image has one channel: repeating it would add no information.
    """

    def __init__(
        self, classes: int, *, bins: int, width: float, embedding: int, margin: float, scale: float
    ) -> None:
        super().__init__()
        self.input_norm = nn.BatchNorm1d(bins)
        self.trunk = MobileNetTrunk(width, channels=1)
        self.projection = nn.Linear(self.trunk.outputs, embedding)
        self.head = AdditiveAngularMargin(embedding, classes, margin=margin, scale=scale)

    def forward(self, segments: Tensor) -> Tensor:
        """(batch, frames, bins) to embeddings of length 1, (batch, embedding)."""
        normalised = self.input_norm(segments.transpose(1, 2)).transpose(1, 2)
        return functional.normalize(self.projection(self.trunk(normalised)), dim=1)


def for_scoring(network: Network) -> Network:
    """A copy with every BatchNorm merged into its convolution, which saves a third of the time."""
    network = copy.deepcopy(network).eval()
    for layers, index, layer, norm in _normalised(network):
        layers[index] = fuse_conv_bn_eval(layer, norm)
        layers[index + 1] = nn.Identity()
    return network.requires_grad_(False)


def _normalised(
    network: nn.Module,
) -> Iterator[tuple[nn.Sequential, int, nn.Conv2d, nn.BatchNorm2d]]:
    """Every convolution followed by a BatchNorm: its sequence, its index there, and both layers."""
    for layers in list(network.modules()):
        if isinstance(layers, nn.Sequential):
            for index, (layer, norm) in enumerate(itertools.pairwise(list(layers))):
                if isinstance(layer, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                    yield layers, index, layer, norm


def _convolution(
    fan_in: int, fan_out: int, size: int, *, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Convolution, BatchNorm and ReLU6."""
    return nn.Sequential(
        nn.Conv2d(fan_in, fan_out, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(fan_out),
        nn.ReLU6(inplace=True),
    )


def _rounded(channels: float) -> int:
    """The nearest multiple of 8, but at least 90 % of `channels`."""
    nearest = max(_DIVISOR, math.floor(channels / _DIVISOR + 0.5) * _DIVISOR)
    return nearest if nearest >= 0.9 * channels else nearest + _DIVISOR
