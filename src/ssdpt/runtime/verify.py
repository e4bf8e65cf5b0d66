"""Is the exported model the same model? Compared with torch on clips, score by score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import probe
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.runtime.graph import CLIP
from ssdpt.runtime.manifest import AccuracyLoss, Verification
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.types import Recording, Score

BOUND = 1e-4  # on |Δscore| / max(1, |score|)
_WHOLE_SECONDS = 60.0  # the longest clip that also goes through the graph in one piece


def verify(
    detector: Detector,
    exported: ExportedDetector,
    clips: Sequence[Recording],
    source: str,
    *,
    lossy: bool,
    reporter: Reporter = SILENT,
) -> Verification:
    """Score `clips` with both. Unless `lossy`, a score too far off or another verdict raises."""
    largest = relative = 0.0
    differ = 0
    with reporter.task(f"{detector.machine}: comparing with torch", total=len(clips)) as task:
        for clip in clips:
            ours = detector.score(clip)
            theirs = exported.score(clip)
            ways = (
                theirs.value,
                _in_one_piece(exported, clip, theirs),
                _by_frames(exported, clip, theirs),
            )
            off = float(np.max(np.abs(np.array(ways) - ours.value)))
            if not math.isfinite(off):
                raise SsdptError(
                    f"{clip.path}: the exported graph's score is not a finite number; export "
                    "another precision"
                )
            share = off / max(1.0, abs(ours.value))
            if not lossy:
                _require_same(clip, ours, theirs, share)
            largest, relative = max(largest, off), max(relative, share)
            differ += theirs.level != ours.level
            task.advance()
    return Verification(
        clips=len(clips),
        largest_difference=largest,
        largest_relative=relative,
        bound=_rounded_up(relative) if lossy else BOUND,
        decisions_differ=differ,
        source=source,
    )


def measure_loss(
    detector: Detector,
    exported: ExportedDetector,
    clips: Sequence[Recording],
    source: str,
    reporter: Reporter = SILENT,
) -> AccuracyLoss:
    """The AUC of both on labelled clips."""
    from sklearn.metrics import roc_auc_score

    faulty = np.array([clip.label == "anomaly" for clip in clips])
    if faulty.all() or not faulty.any():
        raise SsdptError(
            f"{detector.machine}: the loss of AUC needs normal and faulty clips; "
            "give both with --data, or leave it out"
        )
    values: dict[str, list[float]] = {"torch": [], "exported": []}
    with reporter.task(f"{detector.machine}: measuring the loss", total=len(clips)) as task:
        for clip in clips:
            for name, scorer in (("torch", detector), ("exported", exported)):
                values[name].append(scorer.score(clip).value)
            task.advance()
    return AccuracyLoss(
        auc=float(roc_auc_score(faulty, values["exported"])),
        auc_torch=float(roc_auc_score(faulty, values["torch"])),
        normal_clips=int((~faulty).sum()),
        faulty_clips=int(faulty.sum()),
        clips=source,
    )


def _in_one_piece(exported: ExportedDetector, clip: Recording, score: Score) -> float:
    """The graph's own `clip` output, which is what other programs read."""
    if probe(clip).seconds > _WHOLE_SECONDS:
        return score.value
    values = exported.outputs(clip)[CLIP]
    if score.section in exported.sections:
        return float(values[exported.sections.index(score.section)])
    return float(values.min())


def _by_frames(exported: ExportedDetector, clip: Recording, score: Score) -> float:
    """The score by the graph of frames, which live scoring uses."""
    (score_as,) = exported.frame_scorer.score_frames([exported.frames(clip)])
    by_frames, _ = score_known_or_best_section(score_as, exported.sections, score.section)
    return by_frames.value


def _require_same(clip: Recording, ours: Score, theirs: Score, share: float) -> None:
    if not (math.isfinite(share) and share <= BOUND):
        raise SsdptError(
            f"{clip.path.name}: the exported graph is not the same model: it scores "
            f"{theirs.value:.6g} where torch scores {ours.value:.6g} (|Δ| / max(1, |score|) = "
            f"{share:.2g}, allowed {BOUND:g}); nothing was written"
        )
    if theirs.level != ours.level:
        raise SsdptError(
            f"{clip.path.name}: the exported graph says {theirs.level} where torch says "
            f"{ours.level}; nothing was written"
        )


def _rounded_up(value: float) -> float:
    """To two digits, never down: a bound that held on all clips."""
    if not math.isfinite(value) or value <= 0:
        return value
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step) * step:.3g}")
