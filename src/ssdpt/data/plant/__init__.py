"""A simulated plant: seven machine types from a physical picture, sound and faulty."""

from ssdpt.data.plant.clip import ClipName, PlantClip, clip
from ssdpt.data.plant.preset import PRESETS, Preset
from ssdpt.data.plant.region import Region, coverage
from ssdpt.data.plant.simulation import simulate

__all__ = ["PRESETS", "ClipName", "PlantClip", "Preset", "Region", "clip", "coverage", "simulate"]
