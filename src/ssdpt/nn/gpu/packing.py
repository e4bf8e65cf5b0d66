"""All parameters of the blocks in one vector, encoder by encoder, in the kernels' layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ssdpt.nn.dpt import DptBlock, DualPathTransformer, Encoder

_LONGEST = 128  # positions or channels that fit on the chip


class Launch(NamedTuple):
    """How a kernel is divided into programs."""

    warps: int
    rows: int  # positions at a time
    heads: int = 1  # of one program


class Operands(NamedTuple):
    """The weights for the kernels: matrices in the operands' type, vectors in float32."""

    projections: Tensor  # (3 E, E)
    output: Tensor  # (E, E)
    expand: Tensor  # (W, E)
    contract: Tensor  # (E, W)
    vectors: Tensor  # (9 E + W,)


@dataclass(frozen=True, slots=True)
class EncoderLayout:
    """The shape of one encoder, and the position of its parameters in the packed vector."""

    length: int  # L positions
    embedding: int  # E channels
    hidden: int  # W
    heads: int
    first: int

    @property
    def vector_size(self) -> int:
        return 9 * self.embedding + self.hidden

    def weights(self) -> Iterator[tuple[int, int, int]]:
        """Offset, outputs and inputs of projections, output, expand and contract."""
        e, w = self.embedding, self.hidden
        place = self.first + self.vector_size
        for out, into in ((3 * e, e), (e, e), (w, e), (e, w)):
            yield place, out, into
            place += out * into

    @property
    def end(self) -> int:
        place, out, into = list(self.weights())[-1]
        return place + out * into

    def operands(self, values: Tensor, coarse: Tensor) -> Operands:
        """Views of the packed vector and of its copy in the operands' type."""
        matrices = [
            coarse[place : place + out * into].view(out, into)
            for place, out, into in self.weights()
        ]
        projections, output, expand, contract = matrices
        vectors = values[self.first : self.first + self.vector_size]
        return Operands(projections, output, expand, contract, vectors)

    def attention_shape(self, launch: Launch) -> dict[str, int]:
        """The constants of the attention kernels."""
        width = self.embedding // self.heads
        return {
            "L": self.length,
            "E": self.embedding,
            "H": self.heads,
            "D": width,
            "D_PAD": max(16, 1 << (width - 1).bit_length()),
            "ROWS": min(launch.rows, self.length),
            "HEADS": min(launch.heads, self.heads),
            "num_warps": launch.warps,
        }

    def feed_shape(self, launch: Launch) -> dict[str, int]:
        """The constants of the feed kernels."""
        rows = min(launch.rows, self.length)
        shape = {"L": self.length, "E": self.embedding, "W": self.hidden, "ROWS": rows}
        return {**shape, "num_warps": launch.warps}


def encoders(network: DualPathTransformer) -> Iterator[tuple[Encoder, int]]:
    """Every encoder in the order of the signal, with the length of its sequences."""
    bins = network.classifier.in_features
    for block in network.blocks:
        assert isinstance(block, DptBlock)
        yield block.time_encoder, network.frames
        yield block.frequency_encoder, bins


def layouts(network: DualPathTransformer) -> list[EncoderLayout]:
    """The layout of every encoder."""
    found: list[EncoderLayout] = []
    for encoder, length in encoders(network):
        found.append(
            EncoderLayout(
                length,
                encoder.contract.out_features,
                encoder.expand.out_features,
                encoder.attention.heads,
                found[-1].end if found else 0,
            )
        )
    return found


def fusable(network: DualPathTransformer) -> bool:
    """Whether the kernels support this shape: powers of two, small enough for the chip."""
    return all(
        layout.heads & (layout.heads - 1) == 0
        and all(
            16 <= size <= _LONGEST and size & (size - 1) == 0
            for size in (layout.length, layout.embedding, layout.hidden)
        )
        for layout in layouts(network)
    )


def packed_parameters(network: DualPathTransformer) -> list[Tensor]:
    """The parameters of the blocks in the order of the packed vector."""
    ordered: list[Tensor] = []
    for encoder, _ in encoders(network):
        attention = encoder.attention
        ordered += [
            attention.query_key_value.bias,
            attention.output.bias,
            encoder.middle_norm.weight,
            encoder.middle_norm.bias,
            encoder.expand.bias,
            encoder.contract.bias,
            encoder.output_norm.weight,
            encoder.output_norm.bias,
            attention.query_key_value.weight,
            attention.output.weight,
            encoder.expand.weight,
            encoder.contract.weight,
        ]
    return ordered


def packed(network: DualPathTransformer) -> Tensor:
    """A copy of the blocks' parameters as one vector."""
    return torch.cat([parameter.detach().flatten() for parameter in packed_parameters(network)])
