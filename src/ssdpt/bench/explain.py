"""How often anomaly maps have their peak in the fault, on a plant with known faults."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.layouts import Dataset, read_layout
from ssdpt.data.simulator import simulate
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.evaluation.clips import choose_clips, score_clips
from ssdpt.evaluation.localisation import (
    KnownFault,
    Localisation,
    known_faults,
    localise,
    summary,
)
from ssdpt.fleet.fleet import Fleet, fit_fleet, only_machines
from ssdpt.systems import system_class


def bench_explain(
    config: Config, plant: str, data: Path | None, machines: Sequence[str], reporter: Reporter
) -> dict[str, Any]:
    """Fit every machine of a simulated plant, then locate the peaks of the maps of its faults.

    `data` is a simulated plant on disk; without it, one of preset `plant` is simulated. `machines`
    limits the run to these machines. A faulty clip counts as detected above the alert threshold.
    """
    if not system_class(config.system).explains:
        raise SsdptError(f"system {config.system}: has no anomaly map to measure; choose another")
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        work = Path(folder)
        wanted = list(machines) or None
        root = data or simulate(
            work / "plant", plant, seed=config.seed, machines=wanted, reporter=reporter
        )
        dataset = read_layout(root)
        if machines:
            dataset = only_machines(dataset, machines)
        fleet = fit_fleet(dataset, config, work / "models", reporter=reporter)
        localisations, faulty = _localise(fleet, dataset, reporter)
    return {
        "plant": plant if data is None else str(data),
        "preset": config.preset,
        "system": config.system,
        "seed": config.seed,
        **summary(localisations, sum(faulty.values())),
        "machines": {
            machine: {
                **summary(of_machine, faulty[machine]),
                "faults": _by_fault(of_machine),
            }
            for machine in fleet.machines
            for of_machine in [[entry for entry in localisations if entry.machine == machine]]
        },
    }


def _by_fault(localisations: Sequence[Localisation]) -> dict[str, Any]:
    """Number of detected clips per fault, and number of map peaks inside the fault."""
    return {
        fault: {"detected": len(of_fault), "hits": sum(entry.hit for entry in of_fault)}
        for fault in sorted({entry.fault for entry in localisations})
        for of_fault in [[entry for entry in localisations if entry.fault == fault]]
    }


def _localise(
    fleet: Fleet, dataset: Dataset, reporter: Reporter
) -> tuple[list[Localisation], dict[str, int]]:
    """The localisation of every detected fault, and the number of faulty clips per machine."""
    recordings, _ = choose_clips(dataset, [fleet], reporter=reporter)
    recordings = [recording for recording in recordings if recording.label == "anomaly"]
    faults = {
        folder: known_faults(folder) for folder in {item.path.parents[1] for item in recordings}
    }
    clips, _ = score_clips(fleet, recordings, reporter=reporter)
    faulty = dict.fromkeys(fleet.machines, 0)
    localisations = []
    with reporter.task("Locating faults", total=len(clips)) as task:
        for clip in clips:
            recording = clip.recording
            faulty[recording.machine] += 1
            if clip.score.is_anomalous:
                detector = cast("Detector", fleet.detector_for(recording))
                of_machine = faults[recording.path.parents[1]]
                # A fault too weak to have regions counts as not located.
                fault = of_machine.get(recording.path.name, KnownFault("inaudible", ()))
                localisations.append(localise(recording, fault, detector))
            task.advance(note=recording.machine)
    return localisations, faulty
