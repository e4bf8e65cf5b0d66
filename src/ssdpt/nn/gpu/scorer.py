"""A trained dual-path Transformer on the fused kernels, for scoring."""

from __future__ import annotations

import torch
from torch import Tensor

from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.nn.gpu.blocks import PackedBlocks
from ssdpt.nn.gpu.packing import packed
from ssdpt.nn.gpu.segment_kernels import pool_segments

# Segments per batch: enough to use the whole GPU, few enough for its memory.
_BATCH_SEGMENTS = 4096


class FusedScorer:
    """Holds a copy of the network's weights.

    Matrix products take float16 operands, which have the ten mantissa bits of TF32, and
    accumulate in float32.
    """

    def __init__(self, network: DualPathTransformer, kind: torch.dtype = torch.float16) -> None:
        self.network = network
        self.blocks = PackedBlocks(network, packed(network), kind)

    def __call__(
        self, frames: Tensor, starts: Tensor, *, standardised: bool
    ) -> tuple[Tensor, Tensor]:
        """Logits (segments, classes) and squared errors, summed over a segment, (segments,).

        Segment s is the P frames of `frames` (frames, F) in dB from starts[s] on; segments may
        overlap and are never copied. The error is relative to the frames, or with
        `standardised` to the output of the network's input normalisation.
        """
        with torch.cuda.device_of(frames):  # type: ignore[no-untyped-call] # nothing on a CPU
            return self._scores(frames, starts, standardised)

    def _scores(self, frames: Tensor, starts: Tensor, standardised: bool) -> tuple[Tensor, Tensor]:
        network = self.network
        normalised = network.input_norm(frames)
        target = normalised if standardised else frames
        narrow = normalised.to(self.blocks.coarse.dtype)
        parts = [
            self._part(narrow, target, batch) for batch in torch.split(starts, _BATCH_SEGMENTS)
        ]
        pooled, errors = (torch.cat(part) for part in zip(*parts, strict=True))
        return network.classifier(pooled), errors

    def _part(self, normalised: Tensor, target: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
        out = self.blocks.infer(normalised, starts)
        segments, frames, bins = out.shape
        pooled = target.new_empty(segments, bins)
        errors = target.new_empty(segments)
        pool_segments[(segments,)](
            out, target, starts, pooled, errors, P=frames, F=bins, num_warps=4
        )
        return pooled, errors
