"""Loss and gradients of one batch of SSDPT's training, entirely on fused kernels.

The arithmetic is that of `DualPathTransformer` with its losses and autograd (a test compares them),
with matrix products of float16 operands and everything else in float32. bfloat16 has three bits
less, which costs AUC. float16 has a small range, so gradients are scaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ssdpt.features.segments import Segments
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.nn.gpu.backward import BackwardPass
from ssdpt.nn.gpu.blocks import PackedBlocks
from ssdpt.nn.gpu.segment_kernels import (
    batch_statistics,
    input_norm_backward,
    mix_segments,
    normalise_segments,
    segment_losses,
)

# Gradients of a single segment range from about 1e-5 to 1.
_GRADIENT_SCALE = 64.0
_LARGEST_ERROR = 100.0  # dB, of a reconstruction
_CLASSES_AT_ONCE = 256  # classes whose weights fit into one program


@dataclass(frozen=True, slots=True)
class LossSettings:
    """L = L_c + α·L_r, the loss of `FusedStep`."""

    alpha: float
    error: Literal["mean", "sum"]
    target: Literal["raw", "standardised"]


class FusedStep:
    """One training step: the training data, the packed parameters, and the kernels.

    `values` and `gradients` are the packed vectors: the blocks' parameters first, then those of
    `network.input_norm` and `network.classifier`, which are views of them as well.
    """

    def __init__(
        self,
        network: DualPathTransformer,
        values: Tensor,
        gradients: Tensor,
        kind: torch.dtype,
        features: Tensor,
        segments: Segments,
        labels: Tensor,
        loss: LossSettings,
    ) -> None:
        self.network, self.loss = network, loss
        self.blocks = PackedBlocks(network, values, kind)
        self.backward = BackwardPass(self.blocks, gradients)
        self.features, self.segments, self.labels = features, segments, labels
        self.bins = features.shape[1]

    def add_gradients(
        self, index: Tensor, share: Tensor, partner: Tensor, boxes: Tensor
    ) -> dict[str, Tensor]:
        """Add to the gradients; return the loss and its parts, as means over the batch."""
        batch, frames, bins = len(index), self.segments.length, self.bins
        network, loss = self.network, self.loss
        norm, classifier = network.input_norm, network.classifier
        device = index.device
        shape = {"P": frames, "F": bins}
        grid = (batch,)

        mixed = torch.empty(batch, frames, bins, device=device)
        sums = torch.empty(batch, 2, bins, device=device)
        places = (self.segments.offset, self.segments.start, self.segments.frames)
        mix_segments[grid](
            self.features, *places, index, partner, share, mixed, sums, **shape, num_warps=8
        )
        mean, scale = torch.empty(2, bins, device=device).unbind()
        running = (norm.running_mean, norm.running_var)
        batch_statistics[(1,)](
            self.features,
            self.segments.offset,
            self.segments.start,
            index,
            sums,
            mean,
            scale,
            *running,
            batch,
            norm.momentum,
            **shape,
            ROWS=128,
            num_warps=8,
        )
        norm.num_batches_tracked.add_(1)  # type: ignore[union-attr]
        gain_and_bias = (norm.weight.detach(), norm.bias.detach())
        trace = self.blocks.allocate(batch)
        masks = boxes.shape[1]
        normalise_segments[grid](
            mixed,
            mean,
            scale,
            *gain_and_bias,
            boxes,
            trace.input,
            **shape,
            BOXES=masks,
            num_warps=8,
        )

        self.blocks.refresh()
        self.blocks.forward(trace)

        error_scale = 1.0 / (frames * bins) if loss.error == "mean" else 1.0
        # The loss is a mean over the batch; a heavy reconstruction term has larger gradients.
        scale_up = _GRADIENT_SCALE * batch / max(1.0, _LARGEST_ERROR * loss.alpha * error_scale)
        out_gradient = torch.empty_like(trace.out)
        pooled = torch.empty(batch, bins, device=device)
        classes = classifier.out_features
        logit_gradient = torch.empty(batch, classes, device=device)
        metrics = torch.empty(3, batch, device=device)
        segment_losses[grid](
            trace.out,
            mixed,
            mean,
            scale,
            *gain_and_bias,
            classifier.weight.detach(),
            classifier.bias.detach(),
            self.labels,
            index,
            partner,
            share,
            out_gradient,
            pooled,
            logit_gradient,
            metrics,
            batch,
            classes,
            loss.alpha,
            error_scale,
            scale_up,
            **shape,
            BLOCK=min(_CLASSES_AT_ONCE, max(2, 1 << (classes - 1).bit_length())),
            STANDARDISED=loss.target == "standardised",
            num_warps=8,
        )

        x_gradient = self.backward(trace, out_gradient, scale_up)
        norm_gradient = torch.empty(batch, 2, bins, device=device)
        input_norm_backward[grid](
            x_gradient, mixed, mean, scale, boxes, norm_gradient, **shape, BOXES=masks, num_warps=8
        )
        weight_gradient, bias_gradient = (norm_gradient.sum(0) / scale_up).unbind()
        for parameter, gradient in (
            (norm.weight, weight_gradient),
            (norm.bias, bias_gradient),
            (classifier.weight, logit_gradient.T @ pooled),
            (classifier.bias, logit_gradient.sum(0)),
        ):
            assert parameter.grad is not None
            parameter.grad.add_(gradient)
        classification, reconstruction, accuracy = metrics.mean(1).unbind()
        return {
            "loss": classification + loss.alpha * reconstruction,
            "classification": classification,
            "reconstruction": reconstruction,
            "accuracy": accuracy,
        }
