"""All parameters of a network in one vector, so that one kernel clips, steps or averages all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_PIECE = 4096
_ALIGNED = 4  # numbers: convolutions on a GPU read 16 aligned bytes at a time


class FlatParameters:
    """Moves a network's parameters and running statistics into one vector, as views of it.

    `state` holds everything, `values` the parameters in it, `gradients` their gradients.
    """

    def __init__(self, network: nn.Module, ordered: Sequence[Tensor]) -> None:
        names = {id(member): name for name, member in network.named_parameters()}
        names |= {id(member): name for name, member in network.named_buffers()}
        statistics = [buffer for buffer in network.buffers() if buffer.is_floating_point()]
        members = [*ordered, *statistics]
        count = sum(_padded_size(parameter) for parameter in ordered)
        self.state = ordered[0].new_zeros(count + sum(map(_padded_size, statistics)))
        self.values = self.state[:count]
        self.gradients = torch.zeros_like(self.values)
        start = 0
        self._ranges: dict[str, tuple[int, int]] = {}  # start and end, by name
        for member in members:
            end = start + member.numel()
            self._ranges[names[id(member)]] = (start, end)
            self.state[start:end].copy_(member.detach().flatten())
            member.data = self.state[start:end].view_as(member)
            if end <= count:
                member.grad = self.gradients[start:end].view_as(member)
            start += _padded_size(member)

    def by_name(self, vector: Tensor) -> dict[str, Tensor]:
        """Views by parameter name of a vector with the layout of `state` or `values`."""
        return {
            name: vector[start:end]
            for name, (start, end) in self._ranges.items()
            if end <= len(vector)
        }

    def pieces(self) -> list[nn.Parameter]:
        """The values in pieces for an optimiser, which runs them in parallel on a GPU."""
        pieces = []
        for values, gradients in zip(
            torch.split(self.values, _PIECE), torch.split(self.gradients, _PIECE), strict=True
        ):
            piece = nn.Parameter(values)
            piece.grad = gradients
            pieces.append(piece)
        return pieces


def _padded_size(member: Tensor) -> int:
    """The size of a tensor in the vector, with padding."""
    return -(-member.numel() // _ALIGNED) * _ALIGNED
