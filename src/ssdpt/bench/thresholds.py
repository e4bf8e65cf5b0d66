"""Whether thresholds keep their word: false alarms asked for and found on a simulated plant."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ssdpt.bench.machine import describe
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.clip import ClipName
from ssdpt.data.simulator.preset import preset_named
from ssdpt.data.simulator.simulation import SimulationJob, write_clips
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.evaluation.reliability import RATES, Reached, reached
from ssdpt.fleet.fleet import Fleet
from ssdpt.training.loop import choose_device
from ssdpt.types import Recording, Score, Split

BOUNDS = (0.5, 2.0)  # of the rate found over the rate asked for
_PLANT = "dcase2021"  # how hard it is; the number of clips is the caller's


def bench_thresholds(
    config: Config,
    *,
    train: int,
    clips: int,
    sections: int,
    machines: Sequence[str],
    keep: Path | None,
    reporter: Reporter,
) -> dict[str, Any]:
    """Fit every machine on `train` normal source clips and judge `clips` others, also normal.

    Both are spread evenly over `sections` specimens. `keep` is a folder in which the simulated
    clips stay for the next run; without one they are gone with each machine.
    """
    unknown = [name for name in machines if name not in MACHINES]
    if unknown:
        known = ", ".join(MACHINES)
        raise SsdptError(f"{unknown[0]}: no such machine type in the plant; choose from {known}")
    found = {}
    for machine in machines or MACHINES:
        place: AbstractContextManager[str | Path]
        place = nullcontext(keep) if keep else tempfile.TemporaryDirectory(prefix="ssdpt-")
        with place as folder:
            order = SimulationJob(Path(folder), preset_named(_PLANT), config.seed, (machine,))
            heard = _make(order, list(_names(machine, "train", train, sections)), reporter)
            unheard = _make(order, list(_names(machine, "test", clips, sections)), reporter)
            detector = Detector.fit(heard, config=config, reporter=reporter)
            found[machine] = _measure(detector, unheard, reporter)
    return {
        "machine": describe(choose_device(config.device)),
        "preset": config.preset,
        "plant": _PLANT,
        "seed": config.seed,
        "training_clips": train,
        "clips": clips,
        "sections": sections,
        "bounds": BOUNDS,
        "machines": found,
        "within": {
            str(rate): all(one["rates"][str(rate)]["within"] for one in found.values())
            for rate in RATES
        },
    }


def _names(machine: str, split: Split, count: int, sections: int) -> Iterator[ClipName]:
    for number in range(count):
        index, section = divmod(number, sections)
        yield ClipName(machine, section, "source", split, "normal", index)


def _make(order: SimulationJob, names: Sequence[ClipName], reporter: Reporter) -> list[Recording]:
    """The clips as files, those that are there already as they are."""
    with reporter.task("Simulating clips", total=len(names)) as task:
        for machine, _ in write_clips(order, names):
            task.advance(note=machine)
    return [
        Recording(
            order.path(name), name.machine, f"{name.section:02d}", "source", name.split, "normal"
        )
        for name in names
    ]


def _measure(
    detector: Detector, recordings: Sequence[Recording], reporter: Reporter
) -> dict[str, Any]:
    fleet = Fleet({detector.machine: detector}, {})
    p_values = []
    with reporter.task("Scoring clips", total=len(recordings)) as task:
        for _, score in fleet.score_all(recordings):
            if not isinstance(score, Score):
                raise score
            p_values.append(score.p_value)
            task.advance(note=detector.machine)
    pooled = detector.calibration.pooled
    return {
        "system": detector.system_name,
        "calibration_clips": pooled.clips,
        "cross_fitted": detector.calibration.cross_fitted,
        "tail": pooled.method,
        "rates": {str(found.requested): _row(found) for found in reached(p_values, RATES)},
    }


def _row(found: Reached) -> dict[str, Any]:
    ratio = found.rate / found.requested
    return {
        "rate": found.rate,
        "ratio": ratio,
        "ratio_low": found.low / found.requested,  # 95 % interval
        "ratio_high": found.high / found.requested,
        "within": BOUNDS[0] <= ratio <= BOUNDS[1],
    }
