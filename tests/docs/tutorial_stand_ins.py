"""Stand-ins for the recordings of the tutorials, under the names of the real ones."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TYPE_CHECKING

import numpy as np
import soundfile
from page_blocks import DOCS, ROOT

from sounds import RATE, hum
from ssdpt.config.registry import forget_systems

if TYPE_CHECKING:
    from stand_ins import Folder

DATA_SET = "UAV-Propeller-Anomaly-Audio-Dataset"
_SNAPSHOTS, _SAMPLES, _BEARING_RATE = 130, 2560, 25600


def flights(folder: Folder) -> None:
    """The flights that the page names, where a clone of the data set has them."""
    page = (DOCS / "tutorials/propeller.md").read_text("utf-8")
    (names,) = re.findall(r'flights = """(.*?)"""', page, re.DOTALL)
    for seed, flight in enumerate(names.split()):
        samples = hum(22.0, seed)
        if not flight.startswith("normal"):
            rattle = np.sign(np.sin(2 * np.pi * 13 * np.arange(len(samples)) / RATE))
            samples += 0.05 * (rattle * hum(22.0, seed + 100)).astype(np.float32)
        path = folder.path / DATA_SET / "Dataset" / flight / "ch1.wav"
        path.parent.mkdir(parents=True)
        soundfile.write(path, samples, RATE)


def pump_days(folder: Folder) -> None:
    """The simulated plant, and the clips of the first day, of which a tiny plant has too few."""
    shutil.copytree(folder.material.plant, folder.path / "plant")
    folder.replacements["simulate plant"] = "simulate plant --preset tiny"
    (folder.path / "spare").mkdir()
    for clip in folder.material.first_day.rglob("*.wav"):
        shutil.copy(clip, folder.path / "spare")
    folder.replacements["source_test/section_00_*_normal_*"] = "../../spare/*"


def bearing_life(folder: Folder) -> None:
    """A bearing as FEMTO-ST publishes it, which grows louder at the end, and a temperature file."""
    rng = np.random.default_rng(0)
    life = folder.path / "Learning_set" / "Bearing3_1"
    life.mkdir(parents=True)
    for number in range(_SNAPSHOTS):
        strength = 10.0 if number > 0.7 * _SNAPSHOTS else 0.5
        table = np.zeros((_SAMPLES, 6))
        table[:, :3] = 9 + number // 360, number // 6 % 60, number % 6 * 10
        table[:, 3] = 65664 + np.arange(_SAMPLES) * 1e6 / _BEARING_RATE
        table[:, 4:] = strength * rng.standard_normal((_SAMPLES, 2))
        np.savetxt(life / f"acc_{number + 1:05}.csv", table, "%.3f", ",")
    (life / "temp_00001.csv").write_text("9,39,39,0,68.1\n" * 10, "utf-8")


def package(folder: Folder) -> None:
    """The package of the page, known as if it were installed."""
    own = folder.path / "own_detector"
    info = own / "ssdpt_loudness-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ssdpt-loudness\nVersion: 0.1.0\n")
    entry = "[ssdpt.systems]\nloudness = ssdpt_loudness:SYSTEM\n"
    (info / "entry_points.txt").write_text(entry)
    # The module itself comes from the page; entry points are read before it is written.
    shutil.copy(ROOT / "examples/own_detector/ssdpt_loudness.py", own)
    folder.patch.syspath_prepend(own)
    # Which systems there are was found out for the pages before, and is for those after.
    forget_systems()
    folder.running.callback(forget_systems)
    folder.running.callback(sys.modules.pop, "ssdpt_loudness", None)


TUTORIALS = {
    "tutorials/propeller.md": (flights,),
    "tutorials/pump.md": (pump_days,),
    "tutorials/bearing.md": (bearing_life,),
}
