"""Whether the faster arithmetic detects as well: the same training in float32 and by default."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdpt.bench.machine import describe
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.evaluation.tables import Row, harmonic, machine_draws
from ssdpt.features.cache import FeatureSet, features_of
from ssdpt.systems.base import FitContext
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.systems.ssdpt.system import Ssdpt
from ssdpt.training.loop import choose_device
from ssdpt.training.parallel import parallel_jobs, run_parallel

PRECISIONS = ("float32", "auto")
_SCORED_AT_ONCE = 16


def bench_precision(config: Config, data: Path, seeds: int, reporter: Reporter) -> dict[str, Any]:
    """h-AUC and h-pAUC of every seed with both precisions; everything else is the same.

    Trained on all normal training clips of one machine, none held out; evaluated on its labelled
    test clips.
    """
    clips = _features(config, data, reporter)
    training = [n for n, item in enumerate(clips.recordings) if item.split == "train"]
    test = [n for n, item in enumerate(clips.recordings) if item.split == "test" and item.label]
    if not training or not test:
        raise SsdptError(f"{data}: this needs training clips and labelled test clips of a machine")
    sections = {clips.recordings[place].section for place in training}
    if len(sections) < 2:
        raise SsdptError(f"{data}: classification needs at least two machine IDs (sections)")
    test = [place for place in test if clips.recordings[place].section in sections]

    def run(job: tuple[str, int], reporter: Reporter) -> tuple[float, float]:
        precision, seed = job
        ssdpt = config.part(SsdptConfig)
        training_settings = ssdpt.training.model_copy(update={"precision": precision})
        settings = ssdpt.model_copy(update={"training": training_settings})
        changed_config = config.with_parts(settings).model_copy(update={"seed": seed})
        context = FitContext(Path(folder) / f"{precision}-{seed}", "bench", reporter=reporter)
        return _evaluate(Ssdpt.fit(clips.subset(training), changed_config, context), clips, test)

    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        jobs = [(precision, seed) for precision in PRECISIONS for seed in range(seeds)]
        results = run_parallel(run, jobs, parallel_jobs(config.device), reporter)
    return {
        "machine": describe(choose_device(config.device)),
        "data": str(data),
        "preset": config.preset,
        "training_clips": len(training),
        "test_clips": len(test),
        **{
            precision: _summary(results[index * seeds : (index + 1) * seeds])
            for index, precision in enumerate(PRECISIONS)
        },
    }


def _summary(results: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {
        "h_auc": [h_auc for h_auc, _ in results],
        "h_pauc": [h_pauc for _, h_pauc in results],
        "mean_h_auc": statistics.mean(h_auc for h_auc, _ in results),
        "mean_h_pauc": statistics.mean(h_pauc for _, h_pauc in results),
    }


def _features(config: Config, data: Path, reporter: Reporter) -> FeatureSet:
    dataset = read_layout(data)
    if len(dataset.machines) > 1:
        raise SsdptError(f"{data}: holds several machines; give the folder of one machine")
    recordings = [
        replace(item, section=item.section or "00")
        for item in dataset.recordings
        if not (item.split == "train" and item.label == "anomaly")
    ]
    front_end = Ssdpt.front_end_of(config)
    features = features_of(recordings, config.audio, front_end, reporter=reporter)
    for _, reason in features.failures:
        reporter.warn(f"left out: {reason}")
    return features


def _evaluate(system: Ssdpt, clips: FeatureSet, test: Sequence[int]) -> tuple[float, float]:
    """h-AUC and h-pAUC over sections and domains, as computed by `ssdpt evaluate`."""
    rows = []
    for first in range(0, len(test), _SCORED_AT_ONCE):
        batch = test[first : first + _SCORED_AT_ONCE]
        recordings = [clips.recordings[index] for index in batch]
        scorers = system.score_many([clips.clip(index) for index in batch])
        for recording, score_as in zip(recordings, scorers, strict=True):
            value, anomalous = score_as(recording.section).value, recording.label == "anomaly"
            rows.append(
                Row(recording.machine, recording.section, recording.domain, anomalous, value)
            )
    draws = machine_draws(rows)
    return float(harmonic(draws.auc)[0]), float(harmonic(draws.pauc)[0])
