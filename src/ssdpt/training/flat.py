"""All parameters of a network in one vector: one kernel clips, steps or averages them all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_PIECE = 4096
_ALIGNED = 4  # numbers: a GPU's convolutions read 16 bytes at a time, and only from such places


class FlatParameters:
    """Moves a network's parameters and running statistics into one vector; they become its views.

    `state` holds everything, `values` the parameters in it, `gradients` their gradients.
    """

    def __init__(self, network: nn.Module, ordered: Sequence[Tensor]) -> None:
        names = {id(member): name for name, member in network.named_parameters()}
        names |= {id(member): name for name, member in network.named_buffers()}
        statistics = [buffer for buffer in network.buffers() if buffer.is_floating_point()]
        members = [*ordered, *statistics]
        count = sum(_room(parameter) for parameter in ordered)
        self.state = ordered[0].new_zeros(count + sum(map(_room, statistics)))
        self.values = self.state[:count]
        self.gradients = torch.zeros_like(self.values)
        place = 0
        self._places: dict[str, tuple[int, int]] = {}  # first and last + 1, by name
        for member in members:
            end = place + member.numel()
            self._places[names[id(member)]] = (place, end)
            self.state[place:end].copy_(member.detach().flatten())
            member.data = self.state[place:end].view_as(member)
            if end <= count:
                member.grad = self.gradients[place:end].view_as(member)
            place += _room(member)

    def by_name(self, vector: Tensor) -> dict[str, Tensor]:
        """Views of a vector with the layout of `state` or of `values`, whatever the order is."""
        return {
            name: vector[place:end]
            for name, (place, end) in self._places.items()
            if end <= len(vector)
        }

    def pieces(self) -> list[nn.Parameter]:
        """The values for an optimiser, in pieces: it gives a GPU one piece of work for each."""
        pieces = []
        for values, gradients in zip(
            torch.split(self.values, _PIECE), torch.split(self.gradients, _PIECE), strict=True
        ):
            piece = nn.Parameter(values)
            piece.grad = gradients
            pieces.append(piece)
        return pieces


def _room(member: Tensor) -> int:
    """Numbers that it takes in the vector, with what is left free behind it."""
    return -(-member.numel() // _ALIGNED) * _ALIGNED
