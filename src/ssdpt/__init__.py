"""ssdpt detects anomalous sounds of machines.

    from ssdpt import Detector
    detector = Detector.fit("recordings/")
    print(detector.score("today.wav").level)

Importing it loads nothing heavy; torch comes in when a detector is fitted or loaded.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from ssdpt.version import __version__

if TYPE_CHECKING:
    from ssdpt.config.tree import load_config
    from ssdpt.data.layouts import read_layout
    from ssdpt.data.simulator.simulation import simulate
    from ssdpt.detection.datasets import ClipDataset, SegmentDataset
    from ssdpt.detection.detector import Detector
    from ssdpt.detection.scorer import Scorer
    from ssdpt.evaluation.compare import compare
    from ssdpt.evaluation.dcase import write_submission
    from ssdpt.evaluation.evaluate import evaluate
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.systems import register_system
    from ssdpt.types import Clip, Recording

__all__ = [
    "Clip",
    "ClipDataset",
    "Detector",
    "Fleet",
    "Recording",
    "SegmentDataset",
    "__version__",
    "compare",
    "evaluate",
    "load",
    "load_config",
    "read_layout",
    "register_system",
    "simulate",
    "write_submission",
]

_LAZY = {
    "Clip": "ssdpt.types",
    "ClipDataset": "ssdpt.detection.datasets",
    "Detector": "ssdpt.detection.detector",
    "Fleet": "ssdpt.fleet.fleet",
    "Recording": "ssdpt.types",
    "SegmentDataset": "ssdpt.detection.datasets",
    "compare": "ssdpt.evaluation.compare",
    "evaluate": "ssdpt.evaluation.evaluate",
    "load_config": "ssdpt.config.tree",
    "read_layout": "ssdpt.data.layouts",
    "register_system": "ssdpt.systems",
    "simulate": "ssdpt.data.simulator.simulation",
    "write_submission": "ssdpt.evaluation.dcase",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'ssdpt' has no attribute '{name}'")


def load(path: str | PathLike[str], *, device: str = "auto") -> Scorer:
    """The detector in a model folder, or in an exported one, which needs no torch."""
    from ssdpt.fleet.fleet import load_model

    return load_model(path, device=device)
