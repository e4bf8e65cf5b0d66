"""`ssdpt demo`: simulate a plant, fit detectors, score new clips and write a report, in minutes.

Two simple reference detectors are evaluated as well: the loudness of a clip, and one Gaussian of
its mean spectrum. Faults that they detect do not need a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import load_config
from ssdpt.data import audio
from ssdpt.data.layouts import read_layout
from ssdpt.data.simulator import simulate
from ssdpt.evaluation.evaluate import Reference, evaluate
from ssdpt.fleet.fleet import Fleet, fit_fleet
from ssdpt.types import Recording


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The result of the demo."""

    rows: list[dict[str, str]]  # one per machine and one for all; keys are headings
    verdict: str
    report: Path


def run_demo(
    out: Path,
    *,
    plant_preset: str = "demo",
    fit_preset: str = "fast",
    seed: int = 0,
    reporter: Reporter = SILENT,
) -> DemoResult:
    """Write everything to `out`: plant/ (recordings), models/, report.html and the tables."""
    reporter.say("1. simulating a plant")
    plant = simulate(out / "plant", plant_preset, seed=seed, reporter=reporter)
    dataset = read_layout(plant)
    reporter.say("2. learning the normal sound of every machine")
    config = load_config(fit_preset, {"seed": seed})
    fleet = fit_fleet(dataset, config, out / "models", reporter=reporter)
    reporter.say("3. fitting one Gaussian for each machine, as a reference")
    simple = config.model_copy(update={"system": "gmm"})
    gaussians = fit_fleet(dataset, simple, out / "references", reporter=reporter)
    reporter.say("4. scoring clips not used in training")
    result = evaluate(
        fleet,
        dataset,
        out,
        seed=seed,
        reporter=reporter,
        references={"loudness": loudness, "Gaussian": gaussian(gaussians)},
        command="ssdpt demo",
    )
    columns = ("machine", "clips", "AUC", "loudness AUC", "Gaussian AUC", "pAUC", "threshold")
    rows = [
        {name: row[name] for name in (*columns, "false alarms", "misses")}
        for row in result.summary_rows()
    ]
    return DemoResult(rows=rows, verdict=result.headline, report=result.report)


def loudness(recording: Recording) -> float:
    """The level of a clip in dB: the score of a sound level meter."""
    samples = audio.read(recording.path)
    return float(10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-20))


def gaussian(fleet: Fleet) -> Reference:
    """The scores of the machines' Gaussians."""
    return lambda recording: (
        fleet[recording.machine].score(recording.path, section=recording.section).value
    )
