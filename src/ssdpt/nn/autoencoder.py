"""The autoencoder of the DCASE Task 2 baseline, which reconstructs five frames.

Y. Kawaguchi et al.: "Description and Discussion on DCASE 2021 Challenge Task 2". Dense layers
640-128-128-128-128-8-128-128-128-128-640, all except the last with BatchNorm and ReLU.
"""

from __future__ import annotations

import itertools

from torch import Tensor, nn


class Autoencoder(nn.Module):
    """`inputs` values through a bottleneck and back."""

    def __init__(self, inputs: int, hidden: int = 128, bottleneck: int = 8) -> None:
        super().__init__()
        widths = [inputs, *[hidden] * 4, bottleneck, *[hidden] * 4]
        layers: list[nn.Module] = []
        for fan_in, fan_out in itertools.pairwise(widths):
            layers += [nn.Linear(fan_in, fan_out), nn.BatchNorm1d(fan_out), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(hidden, inputs))
        self._half = len(layers) // 9 * 5  # the layers up to and including the bottleneck

    def forward(self, x: Tensor) -> Tensor:
        """(batch, inputs) to (batch, inputs)."""
        return self.decode(self.encode(x))

    def encode(self, x: Tensor) -> Tensor:
        """(batch, inputs) to (batch, bottleneck)."""
        return self.layers[: self._half](x)

    def decode(self, code: Tensor) -> Tensor:
        """(batch, bottleneck) to (batch, inputs)."""
        return self.layers[self._half :](code)
