"""Training and scoring as published, as the reference of the benchmarks.

It uses torch's encoder layers, float32, batches of 16 and no fused operations, and shares no code
with the implementation it is compared with.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

BATCH = 16


class PublishedNetwork(nn.Module):
    """The dual-path Transformer built from torch's layers."""

    def __init__(self, classes: int, blocks: int = 3, frames: int = 64, bins: int = 128) -> None:
        super().__init__()

        def layer(width: int) -> nn.TransformerEncoderLayer:
            return nn.TransformerEncoderLayer(width, 8, 32, dropout=0.0, batch_first=True)

        self.norm = nn.BatchNorm1d(bins)
        self.time = nn.ModuleList(layer(bins) for _ in range(blocks))
        self.frequency = nn.ModuleList(layer(frames) for _ in range(blocks))
        self.classifier = nn.Linear(bins, classes)

    def forward(self, segments: Tensor) -> tuple[Tensor, Tensor]:
        """(batch, P, F) in dB to logits and the last block's output."""
        x = self.norm(segments.transpose(1, 2)).transpose(1, 2)
        for over_time, over_frequency in zip(self.time, self.frequency, strict=True):
            x = over_frequency(over_time(x).transpose(1, 2)).transpose(1, 2)
        return self.classifier(x.amax(1)), x


class PublishedLoop:
    """The training loop, on segments that were all cut in advance."""

    def __init__(self, segments: Tensor, labels: Tensor, network: PublishedNetwork) -> None:
        self.segments, self.labels, self.network = segments, labels, network
        self.optimiser = torch.optim.AdamW(network.parameters(), 1e-4, weight_decay=0.01)

    def update(self) -> None:
        """Learn from one batch."""
        device = self.segments.device
        index = torch.randint(len(self.segments), (BATCH,), device=device)
        partner = torch.randperm(BATCH, device=device)
        share = float(torch.rand(()))
        batch = self.segments[index]
        mixed = share * batch + (1 - share) * batch[partner]
        logits, output = self.network(mixed)
        labels = self.labels[index]
        loss = share * functional.cross_entropy(logits, labels)
        loss = loss + (1 - share) * functional.cross_entropy(logits, labels[partner])
        loss = loss + 0.001 * functional.mse_loss(output, mixed)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
        self.optimiser.step()
