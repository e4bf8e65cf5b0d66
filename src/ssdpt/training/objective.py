"""What is learned: a network, numbered examples, and the loss of a batch of them."""

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
    """Everything that the training loop knows about what it trains."""

    network: nn.Module
    examples: int

    def draw(self, updates: int, batch: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The random choices of several updates, drawn at once: (updates, …) each.

        Always on the CPU, so that a seed gives the same choices on every device.
        """
        return {}

    @abstractmethod
    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss to minimise, and further metrics to show (means over the batch).

        `batch["index"]` (batch,) holds the numbers of the examples; the rest are the choices of
        `draw` for this update.
        """

    def add_gradients(self, batch: Batch) -> dict[str, Tensor]:
        """Add the gradients of the loss to the parameters' gradients; return loss and metrics."""
        loss, metrics = self.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return {"loss": loss.detach(), **metrics}

    def ordered_parameters(self) -> list[Tensor]:
        """The parameters in their order in the flat vector."""
        return list(self.network.parameters())

    def bind(self, flat: FlatParameters) -> None:
        """Called before the first update with the vectors that now hold the parameters."""
        return
