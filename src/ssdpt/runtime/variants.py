"""Smaller forms of an ONNX graph. Only the weights of networks lose digits, nothing else."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# What names of constants begin with that must stay exact: the front end's, and normal clips.
_EXACT = ("front_end.", "system.section_models.")
_LEAST_VALUES = 16  # a tensor worth storing in half


def half_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Weights stored in float16; a runtime widens them once when it loads, and computes as before.

    Arithmetic in float16 would overflow on squared decibels, and few CPUs have it.
    """
    graph = model.graph
    for tensor in graph.initializer:
        if not _is_weight(tensor):
            continue
        name, wide = tensor.name, numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(wide.astype(np.float16), f"{name}.half"))
        widened = helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT)
        graph.node.insert(0, widened)
    return model


def int8_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Matrix products with int8 weights, a scale for each column; activations as they come."""
    from onnxruntime.quantization import quantize_dynamic

    del model.graph.value_info[:]  # shapes of tensors that are turned over on the way
    kept = [node.name for node in model.graph.node if _is_exact(node)]
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)  # it recommends a preparation that this graph does not need
    try:
        with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
            path = Path(folder) / "int8.onnx"
            quantize_dynamic(
                model,
                path,
                op_types_to_quantize=["MatMul", "Gemm"],
                per_channel=True,
                nodes_to_exclude=kept,
            )
            return onnx.load(path)
    finally:
        root.setLevel(level)


def _is_weight(tensor: TensorProto) -> bool:
    return (
        tensor.data_type == TensorProto.FLOAT
        and not tensor.name.startswith(_EXACT)
        and int(np.prod(tensor.dims)) >= _LEAST_VALUES
    )


def _is_exact(node: onnx.NodeProto) -> bool:
    return any(name.startswith(_EXACT) for name in node.input)
