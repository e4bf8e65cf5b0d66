"""WaveNet on raw samples, pooled to an x-vector, to classify machine IDs.

A. van den Oord et al. 2016: "WaveNet: A Generative Model for Raw Audio": gated, dilated, causal
convolutions with residual and skip connections. J. A. Lopez et al. (DCASE 2021) use it as a
classifier: frame-level layers, mean and standard deviation over time, and one vector per segment.

Samples have a rate of 16 kHz, and the first convolution has a stride of 16, so that all later
layers run at 1000 steps per second: our choice, for speed on CPUs. The receptive field is the
number of samples one output depends on: the newest and those before it; segments follow zeros.

    layer          kernel  dilation  receptive field   of the default: 2 stacks of 8 layers
                          (samples)        (samples)
    input              32         1               32   stride 16
    stack 1.1           2        16               48
    stack 1.2           2        32               80
    stack 1.3           2        64              144
    stack 1.4           2       128              272
    stack 1.5           2       256              528
    stack 1.6           2       512             1040
    stack 1.7           2      1024             2064
    stack 1.8           2      2048             4112
    stack 2.1           2        16             4128
    stack 2.2           2        32             4160
    stack 2.3           2        64             4224
    stack 2.4           2       128             4352
    stack 2.5           2       256             4608
    stack 2.6           2       512             5120
    stack 2.7           2      1024             6144
    stack 2.8           2      2048             8192
    frame 1             1         1             8192
    frame 2             1         1             8192

Optional pre-emphasis is a layer of kernel 2 before these. `levelled` measures the level of a whole
segment and is therefore the only part that is not causal. In shape comments, a step is one output
in time.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ssdpt.nn.margins import AdditiveMargin
from ssdpt.nn.settings import WaveNetMember
from ssdpt.nn.shards import sharded

KERNEL, STRIDE = 32, 16  # samples, of the first convolution
_PRE_EMPHASIS = 0.97
_QUIETEST = 1e-5  # −100 dBFS: quieter sound counts as silence and is not amplified
_SMALLEST_VARIANCE = 1e-6  # lower bound, since the derivative of the root diverges at 0


class Layer(NamedTuple):
    """One line of the table above."""

    name: str
    kernel: int
    dilation: int  # samples
    receptive_field: int  # samples


def layer_table(member: WaveNetMember) -> list[Layer]:
    """The layers before pooling, in order."""
    table: list[Layer] = []

    def add(name: str, kernel: int, dilation: int) -> None:
        before = table[-1].receptive_field if table else 1
        table.append(Layer(name, kernel, dilation, before + (kernel - 1) * dilation))

    if member.preprocessing == "pre-emphasis":
        add("pre-emphasis", 2, 1)
    add("input", KERNEL, 1)
    for stack in range(1, member.stacks + 1):
        for place in range(member.layers):
            add(f"stack {stack}.{place + 1}", 2, STRIDE * 2**place)
    add("frame 1", 1, 1)
    add("frame 2", 1, 1)
    return table


class GatedLayer(nn.Module):
    """tanh × sigmoid of a causal convolution of kernel 2, with residual and skip connections."""

    def __init__(self, channels: int, dilation: int, *, last: bool) -> None:
        super().__init__()
        self.dilation = dilation  # steps
        # Of a step and the step `dilation` before.
        self.gates = nn.Linear(2 * channels, 2 * channels)
        self.skip = nn.Linear(channels, channels)
        self.residual = None if last else nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(batch, steps, channels) to the input of the next layer and the skip output."""
        before = functional.pad(x, (0, 0, self.dilation, 0))[:, : x.shape[1]]
        filtered, gate = self.gates(torch.cat([before, x], dim=2)).chunk(2, dim=2)
        z = filtered.tanh() * gate.sigmoid()  # (batch, steps, channels)
        return x if self.residual is None else x + self.residual(z), self.skip(z)


class FrameNetwork(nn.Module):
    """Preprocessed samples to frame-level values: everything before pooling."""

    def __init__(self, channels: int, stacks: int, layers: int) -> None:
        super().__init__()
        self.input = nn.Linear(KERNEL, channels)
        dilations = [2**place for _ in range(stacks) for place in range(layers)]
        self.layers = nn.ModuleList(
            GatedLayer(channels, dilation, last=number == len(dilations))
            for number, dilation in enumerate(dilations, start=1)
        )
        self.frame_1 = nn.Linear(channels, 2 * channels)
        self.frame_2 = nn.Linear(2 * channels, 4 * channels)
        self.outputs = 4 * channels

    def forward(self, samples: Tensor) -> Tensor:
        """(batch, samples) to (batch, steps, outputs); step t sees samples up to (t + 1) · 16."""
        windows = functional.pad(samples, (KERNEL - STRIDE, 0)).unfold(1, KERNEL, STRIDE)
        x = self.input(windows)  # (batch, steps, channels)
        total = torch.zeros_like(x)
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.frame_2(functional.relu(self.frame_1(functional.relu(total))))


class PooledNetwork(nn.Module):
    """Statistics pooling: mean and standard deviation over time of the frame-level values."""

    def __init__(self, frames: FrameNetwork) -> None:
        super().__init__()
        self.frames = frames

    def forward(self, samples: Tensor) -> Tensor:
        """(batch, samples) to (batch, 2 × outputs)."""
        values = functional.relu(self.frames(samples))
        spread = values.var(1, correction=0).clamp_min(_SMALLEST_VARIANCE).sqrt()
        return torch.cat([values.mean(1), spread], dim=1)


class WaveNet(nn.Module):
    """Preprocessing, WaveNet, statistics pooling, a linear layer to the x-vector, cosines."""

    level: Tensor  # RMS of normal recordings, by which samples are divided

    def __init__(
        self, classes: int, member: WaveNetMember, *, embedding: int, margin: float, scale: float
    ) -> None:
        super().__init__()
        self.preprocessing = member.preprocessing
        self.register_buffer("level", torch.ones(()))
        self.pooled = PooledNetwork(FrameNetwork(member.channels, member.stacks, member.layers))
        statistics = 2 * self.pooled.frames.outputs
        self.norm = nn.BatchNorm1d(statistics)
        self.embed = nn.Linear(statistics, embedding)
        self.head = AdditiveMargin(embedding, classes, margin=margin, scale=scale)

    def forward(self, segments: Tensor) -> Tensor:
        """Segments (batch, samples), full scale ±1, to x-vectors (batch, embedding)."""
        normalised = self.preprocessed(segments) / self.level
        return self.embed(self.norm(sharded(self.pooled, normalised)))

    def logits(self, embeddings: Tensor) -> Tensor:
        """Logits without the margin for scoring, (batch, classes)."""
        return self.head.scale * self.head.cosines(embeddings)

    def preprocessed(self, segments: Tensor) -> Tensor:
        """The samples after the member's preprocessing, (batch, samples)."""
        if self.preprocessing == "pre-emphasis":
            return segments - _PRE_EMPHASIS * functional.pad(segments, (1, -1))
        if self.preprocessing == "levelled":
            level = segments.square().mean(1, keepdim=True).sqrt()
            return segments / level.clamp_min(_QUIETEST)
        return segments

    @torch.no_grad()
    def set_level(self, squares: float) -> None:
        """Set the level from the mean square of preprocessed normal samples."""
        self.level.fill_(max(squares**0.5, _QUIETEST))
