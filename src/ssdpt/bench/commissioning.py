"""False alarms and detections on real clips, before and after commissioning."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.layouts import read_layout
from ssdpt.detection.detector import Detector
from ssdpt.detection.fitting import learn_shared_reference
from ssdpt.evaluation.commissioning import measure_commissioning
from ssdpt.types import Recording

RATES = (0.1, 0.01)


def bench_commissioning(
    config: Config,
    data: Sequence[Path],
    *,
    seeds: int,
    clips: int,
    faulty: int = 0,
    drawn: bool = False,
    together: bool = False,
    reporter: Reporter,
) -> dict[str, Any]:
    """Fit every machine of `data` on its training clips; commission with `clips` test clips each.

    These are the first by name or, with `drawn`, drawn by the seed; `faulty` of them are faults.
    `together`: all machines learn from each other first, as those of one fleet.
    """
    machines = {
        f"{path.parent.name}/{machine}": [r for r in dataset.recordings if r.machine == machine]
        for path in data
        for dataset in [read_layout(path)]
        for machine in dataset.machines
    }
    rows: list[dict[str, Any]] = []
    questions: list[str] = []
    for seed in range(config.seed, config.seed + seeds):
        settings = config.model_copy(update={"seed": seed})
        for name, detector in _fit(machines, settings, together, reporter).items():
            reporter.say(f"{name}, seed {seed}: commissioning")
            results, asked = measure_commissioning(
                detector,
                machines[name],
                RATES,
                clips=clips,
                faulty=faulty,
                draw=seed if drawn else None,
            )
            rows += [{"machine": name, "seed": seed, **asdict(result)} for result in results]
            questions += asked
    return {
        "system": config.system,
        "preset": config.preset,
        "seeds": seeds,
        "commissioning_clips": clips,
        "faulty": faulty,
        "drawn": drawn,
        "together": together,
        "questions": questions,
        "rows": rows,
        "totals": {str(rate): _total(rows, rate, seeds) for rate in RATES},
    }


def _fit(
    machines: dict[str, list[Recording]], config: Config, together: bool, reporter: Reporter
) -> dict[str, Detector]:
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        shared = (
            learn_shared_reference(
                list(machines.values()), [], config, Path(folder), reporter=reporter
            )
            if together
            else None
        )
        return {
            name: Detector.fit(
                recordings, config=config, reporter=reporter, shared_reference=shared
            )
            for name, recordings in machines.items()
        }


def _total(rows: Sequence[dict[str, Any]], rate: float, seeds: int) -> dict[str, Any]:
    """Sums over the sections, mean over the seeds."""
    chosen = [row for row in rows if row["rate"] == rate]
    total: dict[str, Any] = {
        name: sum(row[name] for row in chosen) / seeds for name in ("normals", "anomalies")
    }
    for when in ("before", "after"):
        total[when] = {
            name: sum(row[when][name] for row in chosen) / seeds
            for name in ("normals", "anomalies")
        }
    return total
