"""The dual-path Transformer (DPT) of SSDPT.

J. Bai, J. Chen, M. Wang, M. S. Ayub, Q. Yan: "SSDPT: Self-Supervised Dual-Path Transformer for
Anomalous Sound Detection in Machine Condition Monitoring". A segment of P frames × F mel bins
passes M blocks. In each block the frames attend to each other (E_s: sequence = frames, embedding =
bins), the segment is transposed, and the bins attend to each other (E_f: sequence = bins, embedding
= frames). The result is the reconstruction of the segment; the maximum over frames and one linear
layer give the machine ID.

In shape comments, batch, P and F are the segments of a batch, frames and mel bins.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn
from torch.nn import functional

from ssdpt.features.segments import segments_of_clip
from ssdpt.nn.native import EncoderWeights, being_traced, native_encoder
from ssdpt.nn.shards import sharded

_VECTOR = 16  # numbers: with narrower heads torch's attention on a CPU is a third slower


class DptOutput(NamedTuple):
    """The output of the network for a batch of segments."""

    logits: Tensor  # (batch, classes)
    reconstruction: Tensor  # (batch, P, F): the output of the last block
    normalised: Tensor  # (batch, P, F): the input after BatchNorm, before the mask


class Attention(nn.Module):
    """Multi-head self-attention (MHSA)."""

    def __init__(self, embedding: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(embedding, 3 * embedding)
        self.output = nn.Linear(embedding, embedding)
        nn.init.xavier_uniform_(self.query_key_value.weight)
        nn.init.zeros_(self.query_key_value.bias)
        nn.init.zeros_(self.output.bias)

    def forward(self, x: Tensor, projected: Tensor | None = None) -> Tensor:
        batch, length, embedding = x.shape
        if projected is None:
            projected = self.query_key_value(x)  # (batch, length, 3 × embedding)
        width = embedding // self.heads
        projected = projected.unflatten(2, (3, self.heads, width))
        if width < _VECTOR and x.device.type == "cpu" and not being_traced():
            projected = functional.pad(projected, (0, _VECTOR - width))  # zeros change nothing
        query, key, value = projected.permute(2, 0, 3, 1, 4)  # (batch, heads, length, head) each
        attended = functional.scaled_dot_product_attention(query, key, value, scale=width**-0.5)
        attended = attended[..., :width].transpose(1, 2).reshape(batch, length, embedding)
        return self.output(attended)


class Encoder(nn.Module):
    """One Transformer encoder layer with normalisation after each part (post-LN), no dropout."""

    def __init__(self, embedding: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.attention = Attention(embedding, heads)
        self.middle_norm = nn.LayerNorm(embedding)
        self.expand = nn.Linear(embedding, feed_forward)
        self.contract = nn.Linear(feed_forward, embedding)
        self.output_norm = nn.LayerNorm(embedding)

    def forward(self, x: Tensor, projected: Tensor | None = None) -> Tensor:
        """`projected`: the attention's projection of x, if it is already computed."""
        heads, epsilon = self.attention.heads, self.middle_norm.eps
        if (native := native_encoder(x, self._weights(), heads, epsilon, projected)) is not None:
            return native
        middle = self.middle_norm(self.attention(x, projected) + x)  # X_Mid = LN(X_MHSA + X_t)
        feed_forward = self.contract(functional.relu(self.expand(middle)))  # X_FFN = FFN(X_Mid)
        return self.output_norm(feed_forward + middle)  # X_O = LN(X_FFN + X_Mid)

    def _weights(self) -> EncoderWeights:
        parts = (
            self.attention.query_key_value,
            self.attention.output,
            self.middle_norm,
            self.expand,
            self.contract,
            self.output_norm,
        )
        return EncoderWeights(*(weight for part in parts for weight in (part.weight, part.bias)))


class DptBlock(nn.Module):
    """Attention over frames, then over bins."""

    def __init__(self, frames: int, bins: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.time_encoder = Encoder(bins, heads, feed_forward)  # E_s
        self.frequency_encoder = Encoder(frames, heads, feed_forward)  # E_f

    def forward(self, x: Tensor, projected: Tensor | None = None) -> Tensor:
        x = self.time_encoder(x, projected)  # (batch, P, F)
        x = self.frequency_encoder(x.transpose(1, 2))  # (batch, F, P)
        return x.transpose(1, 2)  # (batch, P, F)


class DualPathTransformer(nn.Module):
    """BatchNorm over the mel bins, M DPT blocks, maximum over frames, one linear layer."""

    def __init__(
        self,
        classes: int,
        *,
        blocks: int = 3,
        frames: int = 64,
        bins: int = 128,
        heads: int = 8,
        feed_forward: int = 32,
    ) -> None:
        super().__init__()
        self.frames = frames
        self.input_norm = nn.BatchNorm1d(bins)
        self.blocks = nn.Sequential(
            *(DptBlock(frames, bins, heads, feed_forward) for _ in range(blocks))
        )
        self.classifier = nn.Linear(bins, classes)

    def forward(self, segments: Tensor, mask: Tensor | None = None) -> DptOutput:
        """`segments` (batch, P, F) in dB; `mask` (batch, P, F) is 0 where the feature is hidden."""
        normalised = self.input_norm(segments.transpose(1, 2)).transpose(1, 2)
        x = normalised if mask is None else normalised * mask
        x = sharded(self.blocks, x)
        return self._output(x, normalised)

    def over_frames(self, frames: Tensor, hop: int) -> DptOutput:
        """The output for all segments of `frames` (frames, F) in dB, in evaluation mode.

        Normalisation and first projection are computed once per frame, not once per segment.
        """
        if hop >= self.frames or frames.device.type != "cpu":
            return self(segments_of_clip(frames, self.frames, hop))
        first, *others = self.blocks
        assert isinstance(first, DptBlock)
        normalised = self.input_norm(frames)  # (frames, F)
        projected = first.time_encoder.attention.query_key_value(normalised)  # (frames, 3 × F)
        segments = segments_of_clip(normalised, self.frames, hop)  # (batch, P, F): views
        x = first(segments, segments_of_clip(projected, self.frames, hop))
        for block in others:
            x = block(x)
        return self._output(x, segments)

    def _output(self, x: Tensor, normalised: Tensor) -> DptOutput:
        pooled = x.amax(dim=1)  # (batch, F)
        return DptOutput(self.classifier(pooled), x, normalised)

    def flops(self) -> int:
        """Floating-point operations of the matrix products of one segment, forward pass."""
        bins = self.classifier.in_features
        total = 0
        for block in self.blocks:
            assert isinstance(block, DptBlock)
            pair = (block.time_encoder, self.frames), (block.frequency_encoder, bins)
            for encoder, length in pair:
                e, w = encoder.contract.out_features, encoder.expand.out_features
                projections, attention, hidden = 4 * e * e, 2 * length * e, 2 * e * w
                total += 2 * length * (projections + attention + hidden)
        return total

    def parameter_counts(self) -> tuple[int, int]:
        """The number of all parameters, and the paper's count without attention projections."""
        total = sum(parameter.numel() for parameter in self.parameters())
        attention = sum(
            parameter.numel()
            for module in self.modules()
            if isinstance(module, Attention)
            for parameter in module.parameters()
        )
        return total, total - attention
