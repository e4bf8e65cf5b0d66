"""Detection quality and scoring time against the hop, on labelled clips."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.bench.machine import describe
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config, with_hop
from ssdpt.data.layouts import Dataset, read_layout
from ssdpt.data.simulator import simulate
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.evaluation.clips import choose_clips
from ssdpt.evaluation.metrics import Doubles
from ssdpt.evaluation.tables import Draws, Row, estimate, harmonic, machine_draws
from ssdpt.fleet.fleet import Fleet, fit_fleet, only_machines
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.training.loop import choose_device
from ssdpt.types import Floats, Recording

TOLERANCE = 0.005  # largest loss of h-AUC against hop 1
_CLIP_SECONDS = 10


@dataclass(frozen=True, slots=True)
class _ScoredClips:
    """One machine's labelled clips at one hop."""

    rows: list[Row]
    seconds: list[float]  # of the network per ten seconds of each clip

    def add(self, recording: Recording, frames: Floats, detector: Detector) -> None:
        """Score one more clip, from its log-mel (frames, bins) in dB."""
        system = detector.system
        begun = time.perf_counter()
        score, _ = score_known_or_best_section(
            partial(system.score, [frames]), system.sections, recording.section
        )
        spent = time.perf_counter() - begun
        clip_seconds = len(frames) * detector.frame_seconds
        self.seconds.append(spent * _CLIP_SECONDS / clip_seconds)
        anomalous = recording.label == "anomaly"
        self.rows.append(
            Row(recording.machine, recording.section, recording.domain, anomalous, score.value)
        )


def bench_hop(
    config: Config, data: Path | None, machines: Sequence[str], reporter: Reporter
) -> dict[str, Any]:
    """Fit every machine once, then score its labelled clips at every hop up to a segment.

    `data` holds the recordings; without it, the demo's plant is simulated. `machines` limits the
    run to these machines.
    """
    with_hop(config, 1)  # fails for a system without a hop, before anything is fitted
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        work = Path(folder)
        plant = data or simulate(work / "plant", "demo", seed=config.seed, reporter=reporter)
        dataset = read_layout(plant)
        if machines:
            dataset = only_machines(dataset, machines)
        fleet = fit_fleet(dataset, config, work / "models", reporter=reporter)
        scored = _score(fleet, dataset, config, reporter)
    draws = {hop: _draws(machine_clips) for hop, machine_clips in scored.items()}
    curve = {hop: _point(draws[hop], draws[1], scored[hop]) for hop in draws}
    return {
        "machine": describe(choose_device(config.device)),
        "preset": config.preset,
        "data": "the demo's plant" if data is None else str(data),
        "seed": config.seed,
        "epochs": config.part(SsdptConfig).training.epochs,
        "segment_frames": config.part(SsdptConfig).frames,
        "machines": list(fleet.machines),
        "clips": sum(len(clips.rows) for clips in scored[1].values()),
        "tolerance": TOLERANCE,
        "hops": {str(hop): point for hop, point in curve.items()},
        "auto": largest_hop({hop: point["h_auc"] for hop, point in curve.items()}),
    }


def largest_hop(h_auc: Mapping[int, float], tolerance: float = TOLERANCE) -> int:
    """The largest hop such that it and all smaller hops lose at most `tolerance` against hop 1.

    A hop that is better by chance does not stop the search; a hop that is worse does.
    """
    chosen = 1
    for hop in sorted(h_auc):
        if h_auc[1] - h_auc[hop] > tolerance:
            break
        chosen = hop
    return chosen


def _hops(config: Config) -> list[int]:
    """Powers of two up to the length of a segment; larger hops would skip sound."""
    return [1 << power for power in range(config.part(SsdptConfig).frames.bit_length())]


def _score(
    fleet: Fleet, dataset: Dataset, config: Config, reporter: Reporter
) -> dict[int, dict[str, _ScoredClips]]:
    """By hop and machine; every log-mel is computed once."""
    recordings, _ = choose_clips(dataset, [fleet], reporter=reporter)
    hops = _hops(config)
    scored: dict[int, dict[str, _ScoredClips]] = {hop: {} for hop in hops}
    with reporter.task("Scoring clips", total=len(recordings) * len(hops)) as task:
        for machine, folder in fleet.folders.items():
            of_machine = [item for item in recordings if item.machine == machine]
            front_end = Detector.load(folder, device="cpu")
            frames = [front_end.frames(recording.path) for recording in of_machine]
            for hop in hops:
                detector = Detector.load(folder, device=config.device, hop=hop)
                scored[hop][machine] = _ScoredClips([], [])
                for recording, clip in zip(of_machine, frames, strict=True):
                    scored[hop][machine].add(recording, clip, detector)
                    task.advance(note=f"{machine}, hop {hop}")
    return scored


def _draws(machines: Mapping[str, _ScoredClips]) -> Draws:
    """The AUC and pAUC of all machines' cells and their resamples, the same for every hop."""
    parts = [machine_draws(clips.rows) for clips in machines.values() if clips.rows]
    if not any(part.auc.shape[1] for part in parts):
        raise SsdptError("a curve of AUC needs normal and faulty clips not used in training")
    return Draws(
        auc=np.hstack([part.auc for part in parts]),
        pauc=np.hstack([part.pauc for part in parts]),
        official_2022=np.hstack([part.official_2022 for part in parts]),
    )


def _point(draws: Draws, reference: Draws, machines: Mapping[str, _ScoredClips]) -> dict[str, Any]:
    h_auc: Doubles = harmonic(draws.auc)
    lost = estimate(harmonic(reference.auc) - h_auc)
    return {
        "h_auc": float(h_auc[0]),
        "h_pauc": float(harmonic(draws.pauc)[0]),
        "lost": lost.value,
        "lost_low": lost.low,  # 95 % interval, from the same resamples of the clips
        "lost_high": lost.high,
        "seconds": statistics.median(
            spent for clips in machines.values() for spent in clips.seconds
        ),
    }
