"""A model as one graph: from samples to segment scores and embedding, the front end inside.

The same graph without its front end takes frames, for sound that comes as a stream.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np
import onnx
import onnx.utils
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.features.logmel import LogMel
from ssdpt.features.texture import TextureFrames
from ssdpt.runtime.fourier import decibels
from ssdpt.runtime.texture_graph import TextureFramesGraph
from ssdpt.systems.base import System
from ssdpt.systems.parts.graph import SystemGraph

INPUT = "samples"
FRAMES, EMBEDDING, SCORE, CLIP = "frames", "embedding", "score", "clip"
OPSET = 18  # the oldest that has all operators of the graph, so that old runtimes can read it

Arithmetic = Literal["float64", "float32"]


class LogMelGraph(nn.Module):
    """The log-mel of ssdpt.features.logmel for a whole clip of any length.

    `float64` is that computation itself. `float32` is for runtimes without double arithmetic; it
    writes the Fourier transform as a matrix product, since not all of them have one in the graph.
    """

    window: Tensor
    cosine: Tensor
    sine: Tensor
    filters: Tensor

    def __init__(self, config: Config, arithmetic: Arithmetic) -> None:
        super().__init__()
        front_end = LogMel(config.features, config.audio.sample_rate)
        self.n_fft, self.hop = config.features.n_fft, config.features.hop_length
        self.floor = config.features.floor
        self.arithmetic = arithmetic
        window = torch.from_numpy(front_end.window)
        filters = torch.from_numpy(front_end.filters)
        if arithmetic == "float64":
            self.register_buffer("window", window)
            self.register_buffer("filters", filters)
            return
        turns = torch.outer(torch.arange(self.n_fft), torch.arange(self.n_fft // 2 + 1))
        angle = 2 * torch.pi * (turns % self.n_fft).double() / self.n_fft
        self.register_buffer("cosine", (window[:, None] * angle.cos()).float())
        self.register_buffer("sine", (window[:, None] * angle.sin()).float())
        self.register_buffer("filters", filters.float())

    def forward(self, samples: Tensor) -> Tensor:
        """(samples,) to (frames, bins) in dB; frames = 1 + samples // hop_length."""
        margin = self.n_fft // 2
        padded = functional.pad(samples, (margin, margin))
        first = torch.arange(samples.shape[0] // self.hop + 1) * self.hop
        frames = padded[first[:, None] + torch.arange(self.n_fft)]  # (frames, n_fft)
        if self.arithmetic == "float64":
            spectrum = torch.view_as_real(torch.fft.rfft(frames.double() * self.window))
            power = spectrum.square().sum(2)
        else:
            power = (frames @ self.cosine).square() + (frames @ self.sine).square()
        mel = power @ self.filters  # (frames, bins)
        return decibels(mel, self.floor).float()


class ModelGraph(nn.Module):
    """Samples (n,) at the model's rate to all outputs, in the order of `outputs`."""

    def __init__(self, system: System, arithmetic: Arithmetic) -> None:
        super().__init__()
        self.front_end = _front_end(system, arithmetic)
        self.system = system.graph()
        self.outputs = [*self.system.weights, SCORE, CLIP, EMBEDDING, FRAMES]

    def forward(self, samples: Tensor) -> tuple[Tensor, ...]:
        frames = self.front_end(samples)
        output = self.system(frames)
        weights = [torch.tensor(weight) for weight in self.system.weights.values()]
        weighted = zip(weights, output.parts, strict=True)
        score = torch.stack([weight * part for weight, part in weighted]).sum(0)
        clip = output.clip if output.clip is not None else score.double().mean(0).float()
        return (*output.parts, score, clip, output.embedding, frames)


def _front_end(system: System, arithmetic: Arithmetic) -> nn.Module:
    log_mel, front_end = LogMelGraph(system.config, arithmetic), system.front_end
    if isinstance(front_end, LogMel):
        return log_mel
    if isinstance(front_end, TextureFrames):
        dtype = torch.float64 if arithmetic == "float64" else torch.float32
        return TextureFramesGraph(front_end, log_mel, dtype)
    raise SsdptError(
        f"system {system.name} cannot be exported: its front end {front_end.name} has no graph"
    )


def onnx_model(system: System, arithmetic: Arithmetic) -> tuple[onnx.ModelProto, SystemGraph]:
    """The model in ONNX, and its system's part of it; the system must be on the CPU."""
    graph = ModelGraph(system, arithmetic).eval()
    features = system.config.features
    # Long enough for several segments: the tracer takes an axis of length 1 for a constant.
    frames = system.segment_frames + 3 * graph.system.segment_hop
    example = torch.zeros((frames + 1) * features.hop_length + features.n_fft)
    with _quiet(), torch.no_grad():
        program = torch.onnx.export(
            graph,
            (example,),
            input_names=[INPUT],
            output_names=graph.outputs,
            dynamic_shapes=({0: torch.export.Dim("count", min=1)},),
            opset_version=OPSET,
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    assert program is not None  # only the old exporter gives none
    model = program.model_proto
    # The exporter notes at every node where in the source, and on which machine, it was made.
    for node in model.graph.node:
        del node.metadata_props[:]
    for value in (*model.graph.value_info, *model.graph.input, *model.graph.output):
        del value.metadata_props[:]
    del model.graph.metadata_props[:]
    del model.metadata_props[:]
    return model, graph.system


def without_front_end(model: onnx.ModelProto, hop_length: int) -> onnx.ModelProto:
    """The part of a graph after its front end: `frames` (frames, bins) in dB to the rest."""
    outputs = [item.name for item in model.graph.output if item.name != FRAMES]
    part = onnx.utils.Extractor(model).extract_model([FRAMES], outputs)
    # The exporter derives the number of frames from the number of samples, which is computed back
    # here: samples = (frames - 1) · hop.
    names = (f"{INPUT}_hop", f"{INPUT}_one")
    for name, value in zip(names, (hop_length, 1), strict=True):
        part.graph.initializer.append(numpy_helper.from_array(np.array([value], np.int64), name))
    shapes = [
        node for node in part.graph.node if node.op_type == "Shape" and INPUT in list(node.input)
    ]
    for number, shape in enumerate(shapes):
        frames, before = f"{INPUT}_frames_{number}", f"{INPUT}_before_{number}"
        position = list(part.graph.node).index(shape)
        part.graph.node.remove(shape)
        for node in (
            helper.make_node("Mul", [before, names[0]], list(shape.output)),
            helper.make_node("Sub", [frames, names[1]], [before]),
            helper.make_node("Shape", [FRAMES], [frames], start=0, end=1),
        ):
            part.graph.node.insert(position, node)
    onnx.checker.check_model(part)
    return part


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's warnings of its own deprecations and of packages not needed here."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
