"""A simulated plant: seven machine types from physical models, healthy and faulty."""

from ssdpt.data.simulator.clip import ClipName, SimulatedClip, clip
from ssdpt.data.simulator.preset import PRESETS, Preset
from ssdpt.data.simulator.region import Region, coverage
from ssdpt.data.simulator.simulation import simulate

__all__ = [
    "PRESETS",
    "ClipName",
    "Preset",
    "Region",
    "SimulatedClip",
    "clip",
    "coverage",
    "simulate",
]
