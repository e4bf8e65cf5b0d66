"""Requested and measured false-alarm rates on a simulated plant."""

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
from ssdpt.evaluation.reliability import RATES, MeasuredRate, measured_rates
from ssdpt.fleet.fleet import Fleet
from ssdpt.training.loop import choose_device
from ssdpt.types import Recording, Score, Split

BOUNDS = (0.5, 2.0)  # of the measured over the requested rate
_PLANT = "dcase2021"  # sets the difficulty; the caller sets the number of clips


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
    """Fit every machine on `train` normal source clips and score `clips` other normal clips.

    Both are spread evenly over `sections` specimens. `keep` is a folder for the simulated clips, to
    be reused in the next run; without it they are deleted after each machine.
    """
    unknown = [name for name in machines if name not in MACHINES]
    if unknown:
        choices = ", ".join(MACHINES)
        raise SsdptError(f"{unknown[0]}: no such machine type in the plant; choose from {choices}")
    results = {}
    for machine in machines or MACHINES:
        temporary: AbstractContextManager[str | Path]
        temporary = nullcontext(keep) if keep else tempfile.TemporaryDirectory(prefix="ssdpt-")
        with temporary as folder:
            job = SimulationJob(Path(folder), preset_named(_PLANT), config.seed, (machine,))
            training = _simulate(job, list(_names(machine, "train", train, sections)), reporter)
            test = _simulate(job, list(_names(machine, "test", clips, sections)), reporter)
            detector = Detector.fit(training, config=config, reporter=reporter)
            results[machine] = _measure(detector, test, reporter)
    return {
        "machine": describe(choose_device(config.device)),
        "preset": config.preset,
        "plant": _PLANT,
        "seed": config.seed,
        "training_clips": train,
        "clips": clips,
        "sections": sections,
        "bounds": BOUNDS,
        "machines": results,
        "within": {
            str(rate): all(result["rates"][str(rate)]["within"] for result in results.values())
            for rate in RATES
        },
    }


def _names(machine: str, split: Split, count: int, sections: int) -> Iterator[ClipName]:
    for number in range(count):
        index, section = divmod(number, sections)
        yield ClipName(machine, section, "source", split, "normal", index)


def _simulate(job: SimulationJob, names: Sequence[ClipName], reporter: Reporter) -> list[Recording]:
    """The clips as files; existing files are reused."""
    with reporter.task("Simulating clips", total=len(names)) as task:
        for machine, _ in write_clips(job, names):
            task.advance(note=machine)
    # Every simulated clip is a recording of its own: microphone and noise are drawn anew for each.
    return [
        Recording(
            job.path(name),
            name.machine,
            f"{name.section:02d}",
            "source",
            name.split,
            "normal",
            (("recording", str(name.index)),),
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
        "rates": {str(rate.requested): _row(rate) for rate in measured_rates(p_values, RATES)},
    }


def _row(rate: MeasuredRate) -> dict[str, Any]:
    ratio = rate.rate / rate.requested
    return {
        "rate": rate.rate,
        "ratio": ratio,
        "ratio_low": rate.low / rate.requested,  # 95 % interval
        "ratio_high": rate.high / rate.requested,
        "within": BOUNDS[0] <= ratio <= BOUNDS[1],
    }
