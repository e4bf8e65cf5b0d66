"""Whether a faster arithmetic detects as well: the same training in float32 and in the default."""

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
from ssdpt.training.together import at_once, together

PRECISIONS = ("float32", "auto")
_SCORED_AT_ONCE = 16


def bench_precision(config: Config, data: Path, seeds: int, reporter: Reporter) -> dict[str, Any]:
    """h-AUC and h-pAUC of every seed under both precisions; nothing else differs.

    Trained on all normal training clips of one machine, none held out; judged by its labelled
    test clips.
    """
    clips = _features(config, data, reporter)
    training = [n for n, item in enumerate(clips.recordings) if item.split == "train"]
    test = [n for n, item in enumerate(clips.recordings) if item.split == "test" and item.label]
    if not training or not test:
        raise SsdptError(f"{data}: this needs training clips and labelled test clips of a machine")
    known = {clips.recordings[place].section for place in training}
    if len(known) < 2:
        raise SsdptError(f"{data}: classification needs at least two machine IDs (sections)")
    test = [place for place in test if clips.recordings[place].section in known]

    def run(job: tuple[str, int], reporter: Reporter) -> tuple[float, float]:
        precision, seed = job
        changed = config.part(SsdptConfig).training.model_copy(update={"precision": precision})
        settings = config.part(SsdptConfig).model_copy(update={"training": changed})
        own = config.with_parts(settings).model_copy(update={"seed": seed})
        context = FitContext(Path(folder) / f"{precision}-{seed}", "bench", reporter=reporter)
        return _judge(Ssdpt.fit(clips.subset(training), own, context), clips, test)

    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        jobs = [(precision, seed) for precision in PRECISIONS for seed in range(seeds)]
        found = together(run, jobs, at_once(config.device), reporter)
    return {
        "machine": describe(choose_device(config.device)),
        "data": str(data),
        "preset": config.preset,
        "training_clips": len(training),
        "test_clips": len(test),
        **{
            precision: _summary(found[place * seeds : (place + 1) * seeds])
            for place, precision in enumerate(PRECISIONS)
        },
    }


def _summary(found: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {
        "h_auc": [h_auc for h_auc, _ in found],
        "h_pauc": [h_pauc for _, h_pauc in found],
        "mean_h_auc": statistics.mean(h_auc for h_auc, _ in found),
        "mean_h_pauc": statistics.mean(h_pauc for _, h_pauc in found),
    }


def _features(config: Config, data: Path, reporter: Reporter) -> FeatureSet:
    dataset = read_layout(data)
    if len(dataset.machines) > 1:
        raise SsdptError(f"{data}: holds several machines; name the folder of one")
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


def _judge(system: Ssdpt, clips: FeatureSet, test: Sequence[int]) -> tuple[float, float]:
    """h-AUC and h-pAUC over sections and domains, as `ssdpt evaluate` has them."""
    rows = []
    for first in range(0, len(test), _SCORED_AT_ONCE):
        some = test[first : first + _SCORED_AT_ONCE]
        owners = [clips.recordings[place] for place in some]
        heard = system.score_many([clips.clip(place) for place in some])
        for owner, score_as in zip(owners, heard, strict=True):
            value, anomalous = score_as(owner.section).value, owner.label == "anomaly"
            rows.append(Row(owner.machine, owner.section, owner.domain, anomalous, value))
    draws = machine_draws(rows)
    return float(harmonic(draws.auc)[0]), float(harmonic(draws.pauc)[0])
