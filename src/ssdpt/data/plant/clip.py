"""One clip of the plant, from its name alone: the same name and seed give the same samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.plant.catalogue import MACHINES
from ssdpt.data.plant.machine import Fault, OperatingPoint
from ssdpt.data.plant.place import Place
from ssdpt.data.plant.preset import Preset, preset_named
from ssdpt.data.plant.region import Region
from ssdpt.data.plant.timebase import PADDED, SAMPLES, stream
from ssdpt.types import Domain, Floats, Label, Split

# Loudness says nothing: every clip, sound or faulty, is set to a level from this one draw.
_LEVEL_DB = -36.0  # RMS against full scale; leaves headroom for hard blows
_LEVEL_SPREAD_DB = 2.5


@dataclass(frozen=True, slots=True)
class ClipName:
    """Everything that tells one clip of the plant from another."""

    machine: str
    section: int
    domain: Domain
    split: Split
    label: Label
    index: int

    @property
    def folder(self) -> str:
        """The folder of the clip inside its machine's."""
        return "train" if self.split == "train" else f"{self.domain}_test"

    def file(self, point: OperatingPoint) -> str:
        """The file name, as DCASE 2021 writes it."""
        attributes = "_".join(f"{key}_{value}" for key, value in point.attributes)
        return (
            f"section_{self.section:02d}_{self.domain}_{self.split}_{self.label}"
            f"_{self.index:04d}_{attributes}.wav"
        )


@dataclass(frozen=True, slots=True)
class PlantClip:
    """Samples (160000,) within ±1 at 16 kHz, how the machine ran, and what is wrong and where."""

    samples: Floats
    point: OperatingPoint
    fault: Fault | None
    regions: tuple[Region, ...]

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """The operating point as written into the clip's name."""
        return self.point.attributes


def operating_point(name: ClipName, seed: int) -> OperatingPoint:
    """How the machine runs in that clip; known without making the sound."""
    rng = stream(seed, "point", *_key(name))
    machine = MACHINES[name.machine]
    return machine.operating_point(name.domain, rng)


def clip(name: ClipName, *, seed: int = 0, preset: str | Preset = "demo") -> PlantClip:
    """Make one clip. It depends on nothing but its name, the seed and the preset's difficulty."""
    plant = preset if isinstance(preset, Preset) else preset_named(preset)
    rng = stream(seed, "sound", *_key(name))
    kind = MACHINES[name.machine]
    machine = kind(name.section, stream(seed, "specimen", name.machine, name.section))
    point = operating_point(name, seed)
    fault = None
    if name.label == "anomaly":
        # In turn, so that every fault is there however few the clips.
        chosen = kind.faults[name.index % len(kind.faults)]
        fault = Fault(chosen, float(rng.uniform(*plant.severity)))
    take = machine.run(point, fault, rng)
    place = _place(name, seed, plant.shift)
    background = place.background(rng)
    snr = rng.uniform(*plant.snr_db)
    background *= _rms(take.healthy) * np.float32(10.0 ** (-snr / 20.0))
    spectrum = np.fft.rfft(take.healthy + take.faulty + background)
    wave = np.fft.irfft(spectrum * place.response(rng), PADDED)[:SAMPLES].astype(np.float32)
    level = 10.0 ** ((_LEVEL_DB + _LEVEL_SPREAD_DB * rng.standard_normal()) / 20.0)
    samples = np.clip(wave * (level / _rms(wave)), -1.0, 1.0).astype(np.float32)
    return PlantClip(samples, point, fault, tuple(take.regions))


def _place(name: ClipName, seed: int, shift: float) -> Place:
    """The target's place is the source's, moved."""
    amount = shift if name.domain == "target" else 0.0
    return Place(stream(seed, "place", name.machine, name.section, name.domain), amount)


def _key(name: ClipName) -> tuple[str | int, ...]:
    return (name.machine, name.section, name.domain, name.split, name.label, name.index)


def _rms(wave: NDArray[np.float32]) -> np.float32:
    return np.float32(np.sqrt(np.mean(np.square(wave, dtype=np.float64))) + 1e-9)
