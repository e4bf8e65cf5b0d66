"""The backward pass of the blocks of the dual-path Transformer on the fused kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import triton
from torch import Tensor

from ssdpt.nn.gpu.blocks import Kept, PackedBlocks, Trace
from ssdpt.nn.gpu.encoder_kernels import (
    add_columns,
    attention_backward,
    feed_backward,
    weight_gradient,
)
from ssdpt.nn.gpu.packing import EncoderLayout, Launch
from ssdpt.nn.streams import side_stream

# Tuned on an H200 with batches of 128.
_ATTENTION = Launch(warps=4, rows=64, heads=4)
_FEED = Launch(warps=4, rows=64)
_PARTS = 32  # partial sums of a weight's gradient
_TILE = 64  # size of the part of a weight that one program handles
_CHUNK = 128  # rows of the batch that it multiplies at a time
_COLUMNS = 32  # columns summed by one program


class BackwardPass:
    """Adds the gradients of the blocks' parameters to `gradients`, which is packed like them."""

    def __init__(self, blocks: PackedBlocks, gradients: Tensor) -> None:
        self.blocks, self.gradients = blocks, gradients[: blocks.size]
        self._side = _SideStream(gradients.device)
        # Zeros, since the entries of the normalisations are never written.
        self._parts = torch.zeros(_PARTS, blocks.size, device=gradients.device)

    def __call__(self, trace: Trace, gradient: Tensor, scale: float) -> Tensor:
        """From the gradient of the blocks' output to that of their input, (batch, P, F) each.

        Both are `scale` times as large as they should be; what is added to `gradients` is not.
        """
        encoders = list(zip(self.blocks.layouts, trace.kept, strict=True))
        # Keeps the memory that the side stream reads until it is done.
        memory = []
        for layout, kept in reversed(encoders):
            encoder = _EncoderBackward(layout, kept)
            gradient = encoder.run(gradient, self.blocks)
            memory.append(encoder)
            with self._side():
                encoder.weights(self._parts)
                encoder.norms(self.gradients, 1 / scale)
        with self._side():
            _add_columns(self._parts, self.gradients, 1 / scale)
        self._side.join()
        return gradient


class _EncoderBackward:
    """One encoder: gradients of its activations, then of its parameters."""

    def __init__(self, layout: EncoderLayout, kept: Kept) -> None:
        self.layout, self.kept = layout, kept
        self.feed_shape = layout.feed_shape(_FEED)
        self.projected = torch.empty_like(kept.projected)
        self.added = torch.empty_like(kept.input)
        self.middle = torch.empty_like(kept.input)
        self.hidden = torch.empty_like(kept.hidden)
        self.fed = torch.empty_like(kept.input)
        self.programs = layout.length // self.feed_shape["ROWS"]
        rows = len(kept.input) * self.programs
        self.sums = torch.empty(rows, 4 * layout.embedding, device=kept.input.device)

    def run(self, out_gradient: Tensor, blocks: PackedBlocks) -> Tensor:
        """The gradient of the encoder's input, (batch, L, E)."""
        layout, kept = self.layout, self.kept
        operands = blocks.operands(layout)
        gradient = torch.empty_like(kept.input)
        attended = torch.empty_like(kept.input)
        batch = len(gradient)
        feed_backward[(batch, self.programs)](
            kept.middle_unit,
            kept.hidden,
            kept.out_unit,
            kept.scale,
            out_gradient,
            self.added,
            gradient,
            attended,
            self.middle,
            self.hidden,
            self.fed,
            self.sums,
            operands.output,
            operands.expand,
            operands.contract,
            operands.vectors,
            **self.feed_shape,
        )
        shape = layout.attention_shape(_ATTENTION)
        attention_backward[(batch, layout.heads // shape["HEADS"])](
            kept.projected, kept.attended, kept.level, attended, self.projected, **shape
        )
        gradient.flatten(0, 1).addmm_(self.projected.flatten(0, 1), operands.projections)
        return gradient

    def weights(self, parts: Tensor) -> None:
        """Gradients of weights and biases, into `parts` (parts, packed)."""
        layout, kept = self.layout, self.kept
        e, w = layout.embedding, layout.hidden
        layers = [
            (self.projected, kept.input, 0),
            (self.added, kept.attended, 3 * e),
            (self.hidden, self.middle, 6 * e),
            (self.fed, kept.hidden, 6 * e + w),
        ]
        for (after, before, bias), (place, out, into) in zip(layers, layout.weights(), strict=True):
            tile_out, tile_in = min(_TILE, out & -out), min(_TILE, into)  # powers of two
            weight_gradient[((out // tile_out) * (into // tile_in), len(parts))](
                after,
                before,
                parts,
                parts.shape[1],
                place,
                layout.first + bias,
                after.shape[0] * after.shape[1],
                OUT=out,
                IN=into,
                TILE_OUT=tile_out,
                TILE_IN=tile_in,
                CHUNK=_CHUNK,
                num_warps=4,
            )

    def norms(self, gradients: Tensor, factor: float) -> None:
        """Gradients of both normalisations, added to `gradients`."""
        e, w, first = self.layout.embedding, self.layout.hidden, self.layout.first
        middle, last = first + 4 * e, first + 7 * e + w
        _add_columns(self.sums[:, : 2 * e], gradients[middle : middle + 2 * e], factor)
        _add_columns(self.sums[:, 2 * e :], gradients[last : last + 2 * e], factor)


class _SideStream:
    """A second CUDA stream for independent work, since one stream does not use the whole GPU."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.side = side_stream(device, "parallel") if device.type == "cuda" else None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Launch work that waits for the work launched so far on the main stream."""
        if self.side is None:
            yield
            return
        self.side.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(self.side):
            yield

    def join(self) -> None:
        """Let the main stream wait for the side stream."""
        if self.side is not None:
            torch.cuda.current_stream(self.device).wait_stream(self.side)


def _add_columns(matrix: Tensor, target: Tensor, factor: float) -> None:
    """Add `factor` times the sums over the rows of (rows, columns) to a vector (columns,)."""
    rows, columns = matrix.shape
    add_columns[(triton.cdiv(columns, _COLUMNS),)](
        matrix,
        target,
        rows,
        matrix.stride(0),
        columns,
        factor,
        ROWS=min(128, triton.next_power_of_2(rows)),
        COLUMNS=_COLUMNS,
        num_warps=4,
    )
