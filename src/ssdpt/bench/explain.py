"""Whether a system's anomaly maps point at the fault, on a plant with known faults."""

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
from ssdpt.evaluation.localisation import KnownFault, Pointing, known_faults, point, summary
from ssdpt.fleet.fleet import Fleet, fit_fleet, only_machines
from ssdpt.systems import system_class


def bench_explain(
    config: Config, plant: str, data: Path | None, machines: Sequence[str], reporter: Reporter
) -> dict[str, Any]:
    """Fit every machine of a simulated plant, then see where the maps of detected faults peak.

    `data` is a plant on disk, of whose `machines` only those named are taken; without it one of
    preset `plant` is simulated. Detected is a faulty clip above the alert threshold.
    """
    if not system_class(config.system).explains:
        raise SsdptError(f"system {config.system}: has no anomaly map to measure; choose another")
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        place = Path(folder)
        chosen = list(machines) or None
        root = data or simulate(
            place / "plant", plant, seed=config.seed, machines=chosen, reporter=reporter
        )
        dataset = read_layout(root)
        if machines:
            dataset = only_machines(dataset, machines)
        fleet = fit_fleet(dataset, config, place / "models", reporter=reporter)
        found, faulty = _point(fleet, dataset, reporter)
    return {
        "plant": plant if data is None else str(data),
        "preset": config.preset,
        "system": config.system,
        "seed": config.seed,
        **summary(found, sum(faulty.values())),
        "machines": {
            machine: {
                **summary(own, faulty[machine]),
                "faults": _by_fault(own),
            }
            for machine in fleet.machines
            for own in [[one for one in found if one.machine == machine]]
        },
    }


def _by_fault(found: Sequence[Pointing]) -> dict[str, Any]:
    """How many clips of each fault were detected, and how many of their peaks are hits."""
    return {
        fault: {"detected": len(own), "hits": sum(one.hit for one in own)}
        for fault in sorted({one.fault for one in found})
        for own in [[one for one in found if one.fault == fault]]
    }


def _point(
    fleet: Fleet, dataset: Dataset, reporter: Reporter
) -> tuple[list[Pointing], dict[str, int]]:
    """Where every detected fault's map points, and how many faulty clips each machine has."""
    recordings, _ = choose_clips(dataset, [fleet], reporter=reporter)
    recordings = [recording for recording in recordings if recording.label == "anomaly"]
    faults = {
        folder: known_faults(folder) for folder in {item.path.parents[1] for item in recordings}
    }
    clips, _ = score_clips(fleet, recordings, reporter=reporter)
    faulty = dict.fromkeys(fleet.machines, 0)
    found = []
    with reporter.task("Looking where maps point", total=len(clips)) as task:
        for clip in clips:
            recording = clip.recording
            faulty[recording.machine] += 1
            if clip.score.is_anomalous:
                detector = cast("Detector", fleet.judge_for(recording))
                known = faults[recording.path.parents[1]]
                # A fault too weak to be written down counts as one that is not found.
                fault = known.get(recording.path.name, KnownFault("too weak to be heard", ()))
                found.append(point(recording, fault, detector))
            task.advance(note=recording.machine)
    return found, faulty
