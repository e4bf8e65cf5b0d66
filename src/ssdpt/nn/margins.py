"""Classification heads with margins: each class has a direction, to which its examples must be
closer than to other directions by a margin.

θ is the angle between an embedding and the direction of a class.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

_SMALLEST_SQUARED_SINE = 1e-6  # lower bound: the derivative of the sine diverges at 0


class CosineHead(nn.Module):
    """Cosines between embeddings and learned directions, one per class."""

    def __init__(self, embedding: int, classes: int) -> None:
        super().__init__()
        self.directions = nn.Parameter(torch.empty(classes, embedding))
        nn.init.xavier_uniform_(self.directions)

    def cosines(self, embeddings: Tensor) -> Tensor:
        """(batch, embedding) to cos θ, (batch, classes)."""
        return functional.linear(
            functional.normalize(embeddings, dim=1), functional.normalize(self.directions, dim=1)
        )


class AdditiveAngularMargin(CosineHead):
    """ArcFace (J. Deng et al. 2019): scale · cos(θ + margin), for other classes scale · cos θ.

    Beyond θ = π − margin the cosine would rise again; there it continues to fall linearly.
    """

    def __init__(self, embedding: int, classes: int, *, margin: float, scale: float) -> None:
        super().__init__(embedding, classes)
        self.margin, self.scale = margin, scale

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """(batch, embedding) and true classes (batch,) to logits (batch, classes)."""
        cosine = self.cosines(embeddings)
        sine = (1 - cosine.square()).clamp_min(_SMALLEST_SQUARED_SINE).sqrt()
        with_margin = cosine * math.cos(self.margin) - sine * math.sin(self.margin)
        line = cosine + math.cos(self.margin) - 1  # meets the curve where it ends, at −1
        within = cosine > -math.cos(self.margin)  # θ + margin < π
        is_true_class = functional.one_hot(labels, cosine.shape[1]).bool()
        return self.scale * torch.where(
            is_true_class, torch.where(within, with_margin, line), cosine
        )


class AdditiveMargin(CosineHead):
    """AM-softmax (F. Wang et al. 2018): scale · (cos θ − margin) for the true class."""

    def __init__(self, embedding: int, classes: int, *, margin: float, scale: float) -> None:
        super().__init__(embedding, classes)
        self.margin, self.scale = margin, scale

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """(batch, embedding) and true classes (batch,) to logits (batch, classes)."""
        cosine = self.cosines(embeddings)
        is_true_class = functional.one_hot(labels, cosine.shape[1])
        return self.scale * (cosine - self.margin * is_true_class)
