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
    from ssdpt.detection.detector import Detector
    from ssdpt.detection.scorer import Scorer
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.types import Clip

__all__ = ["Clip", "Detector", "Fleet", "__version__", "load"]

_LAZY = {
    "Clip": "ssdpt.types",
    "Detector": "ssdpt.detection.detector",
    "Fleet": "ssdpt.fleet.fleet",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'ssdpt' has no attribute '{name}'")


def load(path: str | PathLike[str], *, device: str = "auto") -> Scorer:
    """The detector in a model folder, or in an exported one, which needs no torch."""
    from ssdpt.fleet.fleet import load_model

    return load_model(path, device=device)
