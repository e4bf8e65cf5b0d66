"""All parameters of a network in one vector: one kernel clips, steps or averages them all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_PIECE = 4096


class FlatParameters:
    """Moves a network's parameters and running statistics into one vector; they become its views.

    `state` holds everything, `values` the parameters in it, `gradients` their gradients.
    """

    def __init__(self, network: nn.Module, ordered: Sequence[Tensor]) -> None:
        statistics = [buffer for buffer in network.buffers() if buffer.is_floating_point()]
        members = [*ordered, *statistics]
        self.state = torch.cat([member.detach().flatten() for member in members])
        count = sum(parameter.numel() for parameter in ordered)
        self.values = self.state[:count]
        self.gradients = torch.zeros_like(self.values)
        place = 0
        for member in members:
            end = place + member.numel()
            member.data = self.state[place:end].view_as(member)
            if end <= count:
                member.grad = self.gradients[place:end].view_as(member)
            place = end

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
