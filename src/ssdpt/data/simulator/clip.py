"""One simulated clip, made from its name alone: the same name and seed give the same samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.machine import Fault, SpeedAndLoad
from ssdpt.data.simulator.preset import Preset, preset_named
from ssdpt.data.simulator.recording_site import RecordingSite
from ssdpt.data.simulator.region import Region
from ssdpt.data.simulator.timebase import PADDED, SAMPLES, stream
from ssdpt.types import Domain, Floats, Label, Split

_LEVEL_DB = (-40.0, -32.0)  # RMS against full scale; leaves headroom for hard impacts
_GOLDEN_RATIO = (5**0.5 - 1) / 2


@dataclass(frozen=True, slots=True)
class ClipName:
    """Everything that identifies one clip of the simulated plant."""

    machine: str
    section: int
    domain: Domain
    split: Split
    label: Label
    index: int

    @property
    def folder(self) -> str:
        """The folder of the clip inside the folder of its machine."""
        return "train" if self.split == "train" else f"{self.domain}_test"

    def file(self, point: SpeedAndLoad) -> str:
        """The file name in DCASE 2021 form."""
        attributes = "_".join(f"{key}_{value}" for key, value in point.attributes)
        return (
            f"section_{self.section:02d}_{self.domain}_{self.split}_{self.label}"
            f"_{self.index:04d}_{attributes}.wav"
        )


@dataclass(frozen=True, slots=True)
class SimulatedClip:
    """Samples (160000,) within ±1 at 16 kHz, the operating point, and the truth of the fault."""

    samples: Floats
    point: SpeedAndLoad
    fault: Fault | None
    regions: tuple[Region, ...]
    tones_hz: tuple[float, ...]
    rates: tuple[float, ...]  # per second, that the fault knocks or swells at; none if irregular

    @property
    def frequencies(self) -> tuple[float, ...]:
        """The frequencies of the fault in Hz: its tones, and the centre of each of its bands."""
        bands = {(region.low_hz, region.high_hz) for region in self.regions}
        return tuple(sorted({*self.tones_hz, *((low * high) ** 0.5 for low, high in bands)}))

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """The operating point as written into the clip's name."""
        return self.point.attributes


def operating_point(name: ClipName, seed: int) -> SpeedAndLoad:
    """The operating point of the clip; known without synthesising the sound."""
    rng = stream(seed, "point", *_key(name))
    machine = MACHINES[name.machine]
    return machine.operating_point(name.domain, rng)


def clip(name: ClipName, *, seed: int = 0, preset: str | Preset = "demo") -> SimulatedClip:
    """Synthesise one clip. It depends only on its name, the seed and the preset's difficulty."""
    plant = preset if isinstance(preset, Preset) else preset_named(preset)
    rng = stream(seed, "sound", *_key(name))
    kind = MACHINES[name.machine]
    machine = kind(name.section, stream(seed, "specimen", name.machine, name.section))
    point = operating_point(name, seed)
    fault = None
    if name.label == "anomaly":
        # Faults take turns, so that each one occurs even in a small data set.
        chosen = kind.faults[name.index % len(kind.faults)]
        fault = Fault(chosen, float(rng.uniform(*plant.severity)))
    take = machine.run(point, fault, rng)
    site = _site(name, seed, plant)
    background = site.background(rng)
    snr = rng.uniform(*plant.snr_db)
    background *= _rms(take.healthy) * np.float32(10.0 ** (-snr / 20.0))
    spectrum = np.fft.rfft(take.healthy + take.faulty + background)
    wave = np.fft.irfft(spectrum * site.response(rng), PADDED)[:SAMPLES].astype(np.float32)
    samples = np.clip(wave * (_level(name, seed) / _rms(wave)), -1.0, 1.0).astype(np.float32)
    truth = tuple(take.regions), tuple(take.tones_hz), tuple(take.rates)
    return SimulatedClip(samples, point, fault, *truth)


def _site(name: ClipName, seed: int, plant: Preset) -> RecordingSite:
    """The target domain's site is the source domain's, shifted."""
    shift = plant.shift if name.domain == "target" else 0.0
    rng = stream(seed, "place", name.machine, name.section, name.domain)
    return RecordingSite(rng, shift, plant.placement_spread)


def _level(name: ClipName, seed: int) -> np.float32:
    """The RMS a clip is set to. Its distribution does not depend on the label."""
    start = stream(seed, "level", *_key(name)[:-1]).uniform()
    low, high = _LEVEL_DB
    # Steps of the golden ratio fill the range evenly for any number of clips.
    share = (start + name.index * _GOLDEN_RATIO) % 1.0
    return np.float32(10.0 ** ((low + (high - low) * share) / 20.0))


def _key(name: ClipName) -> tuple[str | int, ...]:
    return (name.machine, name.section, name.domain, name.split, name.label, name.index)


def _rms(wave: NDArray[np.float32]) -> np.float32:
    return np.float32(np.sqrt(np.mean(np.square(wave, dtype=np.float64))) + 1e-9)
