"""A simulated plant: seven machine types from a physical picture, sound and faulty."""

from ssdpt.data.simulator.clip import ClipName, PlantClip, clip
from ssdpt.data.simulator.preset import PRESETS, Preset
from ssdpt.data.simulator.region import Region, coverage
from ssdpt.data.simulator.simulation import simulate

__all__ = ["PRESETS", "ClipName", "PlantClip", "Preset", "Region", "clip", "coverage", "simulate"]
