"""Size and difficulty of the simulated plant."""

from __future__ import annotations

from dataclasses import dataclass

from ssdpt.errors import SsdptError

ALL_MACHINES = ("ToyCar", "ToyTrain", "fan", "gearbox", "pump", "slider", "valve")


@dataclass(frozen=True, slots=True)
class Preset:
    """Counts are clips: training clips per section, test clips per section, domain and label."""

    name: str
    machines: tuple[str, ...]
    source_train: int
    target_train: int
    test: int
    snr_db: tuple[float, float]  # machine against factory noise, drawn uniformly for each clip
    severity: tuple[float, float]  # of faults, drawn uniformly
    shift: float  # distance of the target's site from the source's; 0: the same
    placement_spread: float  # variation of the microphone position; 0: none, 1: much
    sections: int = 3


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("demo", ALL_MACHINES, 40, 3, 15, (3.0, 9.0), (0.1, 1.0), 0.5, 0.4),
        Preset("dcase2021", ALL_MACHINES, 1000, 3, 100, (-5.5, 3.5), (0.0, 0.75), 2.0, 0.9),
        # As many clips as the subsets of DCASE 2022 and 2023 used to measure the default system.
        Preset("quality", ALL_MACHINES, 99, 10, 25, (-5.5, 3.5), (0.0, 0.75), 2.0, 0.9),
        Preset("smoke", ALL_MACHINES, 6, 2, 2, (3.0, 9.0), (0.3, 1.0), 0.5, 0.4),
        Preset("tiny", ("fan", "valve"), 6, 2, 2, (3.0, 9.0), (0.5, 1.0), 0.5, 0.4),
    )
}


def preset_named(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise SsdptError(f"{name}: no such plant preset; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
