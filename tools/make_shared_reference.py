"""Make what ships with the package: how clips of one machine differ, and two small networks.

python tools/make_shared_reference.py [--device cuda] [--keep-networks]

From random machines of the simulated plant alone, so that no one's recordings are in it. Takes
about two minutes on a GPU and 16 cores, an hour or two on two cores; minutes with the networks that
are there already (`--keep-networks`). Writes
src/ssdpt/systems/assets/shared_reference.{safetensors,json}.
"""

from __future__ import annotations

import argparse
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from ssdpt.common.files import write_json
from ssdpt.config.settings import FeatureConfig
from ssdpt.config.tree import load_config
from ssdpt.data.simulator.clip import ClipName, clip
from ssdpt.data.simulator.preset import ALL_MACHINES, preset_named
from ssdpt.features.cache import FeatureSet
from ssdpt.features.texture import TextureFrames
from ssdpt.systems.base import FitContext
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.types import Recording

SEEDS = range(100, 110)  # of the plant; each has other specimens of every machine type
CLIPS = 20  # of every specimen
TRAINED_ON = 63  # specimens, for the networks
SNR_DB = (-5.5, 9.0)
PLACEMENT_SPREAD = (0.2, 1.0)
RATE = 16000


def make(name: ClipName, seed: int, placement_spread: float) -> tuple[np.ndarray, Recording]:
    """One clip as texture frames, and what it is."""
    preset = replace(preset_named("dcase2021"), snr_db=SNR_DB, placement_spread=placement_spread)
    made = clip(name, seed=seed, preset=preset)
    frames = TextureFrames(FeatureConfig(), RATE)(made.samples)
    recording = Recording(
        path=Path(f"{seed}-{name}"),
        machine=f"{name.machine} {seed}",
        section=f"{name.section:02d}",
        attributes=made.attributes,
    )
    return frames.astype(np.float16), recording


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--keep-networks", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("src/ssdpt/systems/assets"))
    options = parser.parse_args()
    random = np.random.default_rng(0)
    jobs = []
    for seed in SEEDS:
        for machine in ALL_MACHINES:
            for section in range(3):
                placement_spread = float(random.uniform(*PLACEMENT_SPREAD))
                jobs += [
                    (
                        ClipName(machine, section, "source", "train", "normal", index),
                        seed,
                        placement_spread,
                    )
                    for index in range(CLIPS)
                ]
    with ProcessPoolExecutor() as pool:
        made = list(pool.map(make, *zip(*jobs, strict=True), chunksize=16))
    frames = [part for part, _ in made]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in frames])])
    clips = FeatureSet(tuple(item for _, item in made), np.concatenate(frames), offsets)
    config = load_config(
        "best",
        {
            "device": options.device,
            "multiview.networks": 1,
            "multiview.network.classes": "section",
        },
    )
    with tempfile.TemporaryDirectory() as work:
        context = FitContext(Path(work), "shared reference")
        untrained = SharedReference.learn(
            [clips.all()], load_config("best", {"system": "texture"}), context
        )
        if options.keep_networks:
            trained = SharedReference.shipped(config, frozen=True)
        else:
            some = clips.subset(range(TRAINED_ON * CLIPS))
            trained = SharedReference.learn([some], config, context)
    assert trained.networks is not None
    arrays = {name: value.astype(np.float32) for name, value in untrained.arrays().items()}
    for name, value in trained.arrays().items():
        if name not in arrays:
            # Only the shape of a spread counts, and its large values most.
            value = value / np.trace(value) if name.startswith("spread/") else value
            coarse = name.startswith("spread/") or value.dtype == np.float32
            arrays[name] = value.astype(np.float16) if coarse else value
    options.out.mkdir(exist_ok=True)
    (options.out / "shared_reference.safetensors").write_bytes(save(arrays))
    about = {
        "sample_rate": RATE,
        "features": config.features.model_dump(),
        "classes": trained.networks.classes,
    }
    write_json(options.out / "shared_reference.json", about)
    print(f"{len(made)} clips, {trained.networks.classes} classes")


if __name__ == "__main__":
    main()
