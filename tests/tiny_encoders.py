"""Tiny encoders for tests: ONNX files of a few filters, good ones and bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import yaml
from onnx import TensorProto, helper, numpy_helper

RATE = 8000
FILTERS = 6
KERNEL = 64
SIDECAR = {"sample_rate": RATE, "window_seconds": 0.5, "licence": "none: random numbers"}


def write_encoder(
    file: Path,
    kind: str = "plain",
    *,
    shape: tuple[int | str, ...] = (1, "n"),
    scale: float = 1.0,
    seed: int = 0,
    sidecar: dict[str, object] | None = None,
) -> Path:
    """An encoder: the mean rectified output of random filters, in decibels over a floor.

    `shape` is that of its input. Other kinds than "plain" differ in one thing.
    """
    filters = np.random.default_rng(seed).standard_normal((FILTERS, 1, KERNEL)).astype(np.float32)
    weights = [
        numpy_helper.from_array(filters / 8, "filters"),
        numpy_helper.from_array(np.array([1], np.int64), "channel"),
        numpy_helper.from_array(np.array([1, 1, -1], np.int64), "shape"),
        numpy_helper.from_array(np.array([2], np.int64), "time"),
        numpy_helper.from_array(np.array(1e-6, np.float32), "floor"),
        numpy_helper.from_array(np.array(scale, np.float32), "scale"),
    ]
    nodes = [
        helper.make_node("Reshape", ["samples", "shape"], ["row"]),
        helper.make_node("Conv", ["row", "filters"], ["filtered"], strides=[KERNEL // 2]),
        helper.make_node("Abs", ["filtered"], ["loud"]),  # (1, filters, times)
    ]
    tail = {
        "plain": [
            helper.make_node("ReduceMean", ["loud", "time"], ["level"], keepdims=0),
            helper.make_node("Add", ["level", "floor"], ["above"]),
            helper.make_node("Log", ["above"], ["embedding"]),
        ],
        "times": [helper.make_node("Transpose", ["loud"], ["embedding"], perm=[0, 2, 1])],
        "scaled": [
            helper.make_node("ReduceMean", ["loud", "time"], ["level"], keepdims=0),
            helper.make_node("Mul", ["level", "scale"], ["embedding"]),
        ],
        "constant": [
            helper.make_node("ReduceMean", ["filters", "time"], ["mean"], keepdims=0),
            helper.make_node("Transpose", ["mean"], ["embedding"]),  # (1, filters)
        ],
        "length": [helper.make_node("ReduceMean", ["loud", "channel"], ["embedding"], keepdims=0)],
        "square": [helper.make_node("Unsqueeze", ["loud", "channel"], ["embedding"])],
        "silent": [
            helper.make_node("ReduceMean", ["loud", "time"], ["level"], keepdims=0),
            helper.make_node("Log", ["level"], ["embedding"]),
        ],
        "nan": [
            helper.make_node("ReduceMean", ["loud", "time"], ["level"], keepdims=0),
            helper.make_node("Neg", ["level"], ["negative"]),
            helper.make_node("Sqrt", ["negative"], ["embedding"]),
        ],
        "foreign": [helper.make_node("Custom", ["loud"], ["embedding"], domain="elsewhere")],
    }
    inputs = [helper.make_tensor_value_info("samples", TensorProto.FLOAT, shape)]
    nodes += tail.get(kind, tail["plain"])
    if kind == "two inputs":
        inputs.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1]))
        nodes[-1] = helper.make_node("Add", ["above", "mask"], ["embedding"])
    outputs = [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, None)]
    if kind == "two outputs":
        outputs.append(helper.make_tensor_value_info("level", TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "encoder", inputs, outputs, weights)
    operators = [helper.make_opsetid("", 18), helper.make_opsetid("elsewhere", 1)]
    model = helper.make_model(graph, opset_imports=operators, ir_version=9)
    onnx.save(
        model,
        file,
        save_as_external_data=kind == "weights elsewhere",
        location="weights.bin",
        size_threshold=0,
    )
    if sidecar is not None:
        file.with_suffix(".yaml").write_text(yaml.safe_dump(sidecar), "utf-8")
    return file
