"""The blocks of the dual-path Transformer on the fused kernels, forward."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.nn.gpu.encoder_kernels import attention_forward, feed_forward
from ssdpt.nn.gpu.packing import EncoderLayout, Launch, Operands, layouts

# Tuned on an H200 with batches of 128, which are too small to fill the GPU with one program per
# segment.
_ATTENTION = Launch(warps=4, rows=64, heads=4)
_FEED = Launch(warps=4, rows=64)


@dataclass(frozen=True, slots=True)
class Kept:
    """The activations of one encoder that its backward pass needs."""

    input: Tensor  # (batch, L, E)
    projected: Tensor  # (batch, L, 3 E)
    attended: Tensor  # (batch, L, E)
    level: Tensor  # (batch, H, L) float32
    middle_unit: Tensor  # (batch, L, E)
    hidden: Tensor  # (batch, L, W)
    out_unit: Tensor  # (batch, L, E)
    scale: Tensor  # (batch, L, 2) float32

    @classmethod
    def allocate(cls, layout: EncoderLayout, batch: int, like: Tensor) -> Kept:
        """Memory for a batch, of the type and on the device of `like`."""
        length, e = layout.length, layout.embedding

        def narrow(width: int) -> Tensor:
            return like.new_empty(batch, length, width)

        def exact(*shape: int) -> Tensor:
            return torch.empty(batch, *shape, device=like.device)

        return cls(
            input=narrow(e),
            projected=narrow(3 * e),
            attended=narrow(e),
            level=exact(layout.heads, length),
            middle_unit=narrow(e),
            hidden=narrow(layout.hidden),
            out_unit=narrow(e),
            scale=exact(length, 2),
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """The activations of one training batch."""

    kept: list[Kept]  # of every encoder
    out: Tensor  # (batch, P, F)

    @property
    def input(self) -> Tensor:
        """(batch, P, F): the input of the first encoder."""
        return self.kept[0].input


class PackedBlocks:
    """All blocks of a network. `values` is the packed vector of their parameters (float32).

    `coarse` is its copy in the operands' type, which `refresh` updates.
    """

    def __init__(self, network: DualPathTransformer, values: Tensor, kind: torch.dtype) -> None:
        self.layouts = layouts(network)
        self.size = self.layouts[-1].end
        self.values = values[: self.size]
        self.coarse = torch.empty(self.size, dtype=kind, device=values.device)
        self.refresh()

    def refresh(self) -> None:
        """Copy changed parameters."""
        self.coarse.copy_(self.values)

    def operands(self, layout: EncoderLayout) -> Operands:
        """The weights of one encoder."""
        return layout.operands(self.values, self.coarse)

    def allocate(self, batch: int) -> Trace:
        """Memory for one training batch; write its segments to `Trace.input`."""
        kept = [Kept.allocate(layout, batch, self.coarse) for layout in self.layouts]
        return Trace(kept, torch.empty_like(kept[0].input))

    def forward(self, trace: Trace) -> None:
        """From `trace.input` to `trace.out`, keeping the activations for the backward pass."""
        outs = [*(kept.input for kept in trace.kept[1:]), trace.out]
        for layout, kept, out in zip(self.layouts, trace.kept, outs, strict=True):
            _encode(layout, self.operands(layout), kept.input, None, kept.attended, out, kept)

    def infer(self, frames: Tensor, starts: Tensor) -> Tensor:
        """The last block's output (segments, P, F) for the segments of `frames` (frames, F).

        Segment s begins at frame starts[s]; segments may overlap and are never copied.
        """
        x = frames
        places: Tensor | None = starts
        for layout in self.layouts:
            shape = (len(starts), layout.length, layout.embedding)
            attended = frames.new_empty(shape)
            out = frames.new_empty(shape[0], shape[2], shape[1])
            _encode(layout, self.operands(layout), x, places, attended, out, None)
            x, places = out, None
        return x


def _encode(
    layout: EncoderLayout,
    operands: Operands,
    x: Tensor,  # (batch, L, E), or frames (all frames, E) with `starts`
    starts: Tensor | None,
    attended: Tensor,  # (batch, L, E)
    out: Tensor,  # (batch, E, L)
    kept: Kept | None,
) -> None:
    batch = len(attended)
    places = x if starts is None else starts
    flags = {"GATHERED": starts is not None, "KEEP": kept is not None}
    unused = attended  # placeholder for activations that are not kept
    # In scoring there are enough segments that one program can compute all heads of one.
    launch = _ATTENTION if kept else _ATTENTION._replace(heads=layout.heads)
    shape = layout.attention_shape(launch)
    attention_forward[(batch, layout.heads // shape["HEADS"])](
        x,
        places,
        attended,
        kept.projected if kept else unused,
        kept.level if kept else unused,
        operands.projections,
        operands.vectors,
        **shape,
        **flags,
    )
    shape = layout.feed_shape(_FEED)
    feed_forward[(batch, layout.length // shape["ROWS"])](
        x,
        places,
        attended,
        out,
        kept.middle_unit if kept else unused,
        kept.hidden if kept else unused,
        kept.out_unit if kept else unused,
        kept.scale if kept else unused,
        operands.output,
        operands.expand,
        operands.contract,
        operands.vectors,
        **shape,
        **flags,
    )
