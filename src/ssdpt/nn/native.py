"""A Transformer encoder on a CPU, compiled for the CPU it runs on.

`encoder.c` computes `ssdpt.nn.dpt.Encoder` several times faster than torch's operations. It is
checked against them before its first use. torch is used without a C compiler, with
`SSDPT_NATIVE=0`, for sizes that do not fill vectors, for other number types, on other devices and
in exported graphs.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ssdpt.common.threads import BUILDING
from ssdpt.nn.compiled import compiled

_FOLDER = Path(__file__).parent
_WHOLE_VECTORS = 32  # numbers: encoder.c needs matrix sizes that are multiples of this
_WIDEST_ROW = 128
_HEAD_WIDTHS = (8, 16)
_loading = threading.Lock()


class EncoderWeights(NamedTuple):
    """The weights of an encoder, in the order of encoder.c; matrices are (outputs, inputs)."""

    projection: Tensor
    projection_bias: Tensor
    output: Tensor
    output_bias: Tensor
    middle_scale: Tensor
    middle_shift: Tensor
    expand: Tensor
    expand_bias: Tensor
    contract: Tensor
    contract_bias: Tensor
    output_scale: Tensor
    output_shift: Tensor


def being_traced() -> bool:
    """Whether a compiler or an exporter (e.g. to ONNX) is tracing the network."""
    return torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]


def is_native() -> bool:
    """Whether the compiled code is used for suitable sizes."""
    return os.environ.get("SSDPT_NATIVE") != "0" and _library() is not None


def native_encoder(
    x: Tensor, weights: EncoderWeights, heads: int, epsilon: float, projected: Tensor | None = None
) -> Tensor | None:
    """The encoder's output (batch, length, E) for its input `x`; None if torch must compute it.

    `projected` (batch, length, 3 × E) is the attention's projection of x, if already computed;
    segments of both may be overlapping views. The output is transposed in memory, (batch, E,
    length), which is the layout for the next encoder.
    """
    if not _suits(x, weights, heads) or (library := _library()) is None:
        return None
    layer = _Layer(library, weights, heads, epsilon)
    if not torch.is_grad_enabled():
        return layer.forward(x, layer.buffer(x, 1), 0, projected)
    if projected is not None:
        return None
    output: Tensor = _Encoder.apply(layer, x, *weights)  # type: ignore[no-untyped-call]
    return output


def _suits(x: Tensor, weights: EncoderWeights, heads: int) -> bool:
    hidden, embedding = weights.expand.shape
    return (
        not being_traced()
        and type(x) is Tensor  # not a fake tensor of a tracer
        and x.device.type == "cpu"
        and all(tensor.dtype == torch.float32 for tensor in (x, *weights))
        and all(weight.is_contiguous() for weight in weights)
        and not torch.is_autocast_enabled("cpu")
        and hidden % _WHOLE_VECTORS == embedding % _WHOLE_VECTORS == 0
        and embedding <= _WIDEST_ROW
        and embedding // heads in _HEAD_WIDTHS
        and os.environ.get("SSDPT_NATIVE") != "0"
    )


class _Encoder(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, layer: _Layer, x: Tensor, *weights: Tensor) -> Tensor:
        kept = layer.buffer(x, len(x))
        ctx.save_for_backward(x, kept, *weights)
        ctx.layer = layer
        return layer.forward(x, kept, kept.stride(0))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, kept, *_ = ctx.saved_tensors
        return None, *ctx.layer.backward(x, kept, gradient)


@dataclass(frozen=True, slots=True)
class _Layer:
    library: ctypes.CDLL
    weights: EncoderWeights
    heads: int
    epsilon: float

    def buffer(self, x: Tensor, segments: int) -> Tensor:
        """Memory for the activations that the backward pass needs, for this many segments."""
        _, length, embedding = x.shape
        return x.new_empty(segments, length * (7 * embedding + len(self.weights.expand)))

    def forward(
        self, x: Tensor, kept: Tensor, kept_stride: int, projected: Tensor | None = None
    ) -> Tensor:
        batch, length, embedding = x.shape
        x = _with_contiguous_rows(x)
        output = x.new_empty(batch, embedding, length)
        projection = None if projected is None else _with_contiguous_rows(projected)
        self._call(
            self.library.encoder_forward,
            self._shape(x, 0 if projection is None else projection.stride(0), kept_stride),
            _pointer(x),
            None if projection is None else _pointer(projection),
            _pointer(kept),
            _pointer(output),
        )
        return output.transpose(1, 2)

    def backward(self, x: Tensor, kept: Tensor, gradient: Tensor) -> tuple[Tensor, ...]:
        """The gradients of x and the weights."""
        x = _with_contiguous_rows(x)
        output_gradient = gradient.transpose(1, 2).contiguous()
        result = x.new_empty(x.shape)
        results = [torch.zeros_like(weight) for weight in self.weights]
        self._call(
            self.library.encoder_backward,
            self._shape(x, 0, kept.stride(0)),
            _pointer(x),
            _pointer(kept),
            _pointer(output_gradient),
            _pointer(result),
            _pointers(results),
        )
        return result, *results

    def _shape(self, x: Tensor, projected_stride: int, kept_stride: int) -> Any:
        hidden = len(self.weights.expand)
        sizes = (*x.shape, hidden, self.heads, x.stride(0), projected_stride, kept_stride)
        return (ctypes.c_ssize_t * len(sizes))(*sizes)

    def _call(self, function: Any, shape: Any, *others: Any) -> None:
        weights = _pointers(self.weights)
        if not function(shape, weights, ctypes.c_float(self.epsilon), *others):
            raise MemoryError


def _with_contiguous_rows(x: Tensor) -> Tensor:
    """The same tensor with contiguous rows in each segment; segments may be anywhere."""
    return x if x.stride(2) == 1 and x.stride(1) == x.shape[2] else x.contiguous()


def _pointer(tensor: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _pointers(tensors: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(tensors))(*(tensor.data_ptr() for tensor in tensors))


def _library() -> ctypes.CDLL | None:
    """The compiled code; None if there is none or it gives wrong results."""
    with _loading:
        return _loaded()


@functools.cache
def _loaded() -> ctypes.CDLL | None:
    library = compiled(_FOLDER / "encoder.c", [_FOLDER / "attention.c"])
    # Not in inference mode, which the caller may have set: the check needs gradients.
    with torch.inference_mode(False), torch.enable_grad():
        return library if library is not None and _agrees_with_torch(library) else None


def _agrees_with_torch(library: ctypes.CDLL) -> bool:
    """Whether outputs and gradients equal those of torch's layer, for both head widths."""
    heads, generator = 4, torch.Generator().manual_seed(0)
    for embedding in (heads * width for width in _HEAD_WIDTHS):
        with BUILDING, torch.random.fork_rng(devices=[]):
            reference = nn.TransformerEncoderLayer(
                embedding, heads, _WHOLE_VECTORS, dropout=0.0, batch_first=True, dtype=torch.float64
            )
        exact = EncoderWeights(
            reference.self_attn.in_proj_weight,
            reference.self_attn.in_proj_bias,
            reference.self_attn.out_proj.weight,
            reference.self_attn.out_proj.bias,
            reference.norm1.weight,
            reference.norm1.bias,
            reference.linear1.weight,
            reference.linear1.bias,
            reference.linear2.weight,
            reference.linear2.bias,
            reference.norm2.weight,
            reference.norm2.bias,
        )
        for weight in exact:
            weight.data += 0.1 * torch.randn(weight.shape, generator=generator, dtype=weight.dtype)
        x, gradient = torch.randn(2, 2, 19, embedding, generator=generator, dtype=torch.float64)
        output = reference(x.requires_grad_())
        expected = output, *torch.autograd.grad(output, (x, *exact), gradient)
        weights = EncoderWeights(*(weight.detach().float() for weight in exact))
        layer, inputs = _Layer(library, weights, heads, reference.norm1.eps), x.detach().float()
        kept = layer.buffer(inputs, len(inputs))
        results = (
            layer.forward(inputs, kept, kept.stride(0)),
            *layer.backward(inputs, kept, gradient.float()),
        )
        for result, right in zip(results, expected, strict=True):
            if not torch.allclose(
                result.double(), right, rtol=0, atol=1e-4 * right.abs().max().item()
            ):
                return False
    return True
