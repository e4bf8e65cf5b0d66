"""What is learnt: a network, examples by number, and the loss of a batch of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from ssdpt.training.flat import FlatParameters

Batch = Mapping[str, Tensor]


class Objective(ABC):
    """The loop knows nothing else of what it trains."""

    network: nn.Module
    examples: int

    def draw(self, updates: int, batch: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The random choices of several updates, drawn at once: (updates, …) each.

        Always on the CPU, so that a seed means the same on every device.
        """
        return {}

    @abstractmethod
    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss to minimise, and further figures to show (means over the batch).

        `batch["index"]` (batch,) holds the examples' numbers; the rest is what `draw` gave for
        this update.
        """

    def add_gradients(self, batch: Batch) -> dict[str, Tensor]:
        """Add the loss's gradients to the parameters' own; the loss and the other figures."""
        loss, figures = self.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return {"loss": loss.detach(), **figures}

    def ordered_parameters(self) -> list[Tensor]:
        """The parameters in the order in which they shall lie in one vector."""
        return list(self.network.parameters())

    def bind(self, flat: FlatParameters) -> None:
        """Told where the parameters now lie, before the first update."""
        return
