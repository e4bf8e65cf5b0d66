"""What makes these tests quick: each model is traced once, and compared on few clips."""

from __future__ import annotations

import hashlib

import pytest

from ssdpt.runtime import export as export_module

_traced = {}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    trace = export_module.onnx_model

    def traced(system, arithmetic):
        content = b"".join(array.tobytes() for array in system.arrays().values())
        key = (hashlib.sha256(content).digest(), arithmetic)
        if key not in _traced:
            _traced[key] = trace(system, arithmetic)
        model, graph = _traced[key]
        own = type(model)()
        own.CopyFrom(model)
        return own, graph

    monkeypatch.setattr(export_module, "onnx_model", traced)
    monkeypatch.setattr(export_module, "CLIPS", 6)
