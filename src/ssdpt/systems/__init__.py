"""The detectors, by name. Each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.systems.base import System

_SYSTEMS = {
    "multiview": ("ssdpt.systems.multiview", "MultiView"),
    "texture": ("ssdpt.systems.texture", "Texture"),
    "ssdpt": ("ssdpt.systems.ssdpt", "Ssdpt"),
    "ssdpt-noaux": ("ssdpt.systems.ssdpt_noaux", "SsdptWithoutAuxiliary"),
    "ssdpt-ensemble": ("ssdpt.systems.ssdpt_ensemble", "SsdptEnsemble"),
    "ae": ("ssdpt.systems.autoencoder", "AutoencoderSystem"),
    "mnv2": ("ssdpt.systems.mobilenet", "MobileNetSystem"),
    "mnv2-lof": ("ssdpt.systems.mobilenet_lof", "MobileNetLof"),
    "wavenet-ensemble": ("ssdpt.systems.wavenet", "WaveNetEnsemble"),
    "gmm": ("ssdpt.systems.gmm", "GaussianMixture"),
}


def system_names() -> list[str]:
    """Every system that can be fitted."""
    return list(_SYSTEMS)


def system_class(name: str) -> type[System]:
    """The class of the system `name`."""
    if name not in _SYSTEMS:
        raise SsdptError(f"no system is called '{name}'; there are {', '.join(_SYSTEMS)}")
    module, attribute = _SYSTEMS[name]
    system: type[System] = getattr(import_module(module), attribute)
    return system
