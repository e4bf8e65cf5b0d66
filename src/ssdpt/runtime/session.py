"""The two runtimes of an exported graph: ONNX Runtime and OpenVINO, both on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.runtime.manifest import MANIFEST, Manifest
from ssdpt.runtime.openvino_core import openvino_core
from ssdpt.types import Floats


class Session(Protocol):
    """A graph that can be run, by several threads at a time."""

    def run(self, values: Floats, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        """The outputs asked for, by name, of the graph's one input."""


def open_session(folder: Path, name: str, manifest: Manifest, outputs: Sequence[str]) -> Session:
    """Load the graph in file `name` into its runtime; it must have these outputs."""
    path = folder / name
    kind: type[_OnnxSession] | type[_OpenVinoSession] = (
        _OnnxSession if manifest.runtime == "onnx" else _OpenVinoSession
    )
    try:
        return kind(path, manifest, outputs)
    except ModuleNotFoundError as error:
        extra = "edge" if manifest.runtime == "onnx" else "openvino"
        raise SsdptError(
            f"{folder}: scoring it needs {error.name}: pip install 'ssdpt[{extra}]'"
        ) from error


class _OnnxSession:
    def __init__(self, path: Path, manifest: Manifest, outputs: Sequence[str]) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # an error becomes one sentence below
        # Threads that spin while they wait take the cores from everything else on a small machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except Exception as error:  # its errors have no base class of their own
            raise _unloadable(
                path, f"onnxruntime {onnxruntime.__version__}", manifest, error
            ) from error
        _check_outputs(path, [item.name for item in self._session.get_outputs()], outputs)
        self._path = path
        self._input = next((item.name for item in self._session.get_inputs()), "")

    def run(self, values: Floats, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        try:
            results = self._session.run(list(outputs), {self._input: values})
        except Exception as error:  # its errors have no base class of their own
            raise _unusable(self._path, error) from error
        return dict(zip(outputs, results, strict=True))


class _OpenVinoSession:
    def __init__(self, path: Path, manifest: Manifest, outputs: Sequence[str]) -> None:
        import openvino

        try:
            # Some processors would otherwise compute in bfloat16.
            settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"}
            self._model = openvino_core().compile_model(str(path), "CPU", settings)
        except Exception as error:
            name = f"OpenVINO {openvino.__version__}"
            raise _unloadable(path, name, manifest, error) from error
        self._path = path
        self._here = threading.local()  # what runs the graph serves one thread
        # A tensor may carry the names of several steps that came to nothing.
        _check_outputs(path, [n for item in self._model.outputs for n in item.names], outputs)

    def run(self, values: Floats, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        if not hasattr(self._here, "request"):
            self._here.request = self._model.create_infer_request()
        try:
            result = self._here.request.infer(values)
            return {name: np.array(result[name]) for name in outputs}
        except Exception as error:
            raise _unusable(self._path, error) from error


def _unloadable(path: Path, runtime: str, manifest: Manifest, error: Exception) -> SsdptError:
    reason = " ".join(str(error).split())[:200]
    return SsdptError(
        f"{path}: {runtime} cannot load this graph (operator set {manifest.opset}): upgrade it, "
        f"or export the model again ({reason})"
    )


def _unusable(path: Path, error: Exception) -> SsdptError:
    reason = " ".join(str(error).split())[:200]
    return SsdptError(
        f"{path}: damaged: the graph does not take what {MANIFEST} says ({reason}); export it again"
    )


def _check_outputs(path: Path, names: Sequence[str], needed: Sequence[str]) -> None:
    if missing := [name for name in needed if name not in names]:
        raise SsdptError(f"{path}: damaged: the graph has no output {missing[0]}; export it again")
