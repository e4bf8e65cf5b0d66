"""Is the exported model the same model? Compared with torch on clips, score by score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import probe
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.features.texture import TextureFrames
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.runtime.graph import CLIP
from ssdpt.runtime.manifest import AccuracyLoss, Verification
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.types import Recording, Score

BOUND = 1e-4  # on |Δscore| / max(1, |score|)
# The same for the graph of samples if it rounds levels that it has computed in float32: the
# rounding of a few turns out otherwise. ssdpt itself takes frames to the graph of frames.
_ROUNDED_BOUND = 5e-3
_TIMELINE_BOUND = 1e-3  # at every moment
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
    largest = relative = rounded = 0.0
    differ = 0
    with reporter.task(f"{detector.machine}: comparing with torch", total=len(clips)) as task:
        for clip in clips:
            ours = detector.score(clip)
            theirs = exported.score(clip)
            ways = [theirs.value, _by_frames(exported, clip, theirs)]
            in_one_piece = _in_one_piece(exported, clip, theirs)
            if _rounds(exported):
                apart = abs(in_one_piece - ours.value) / max(1.0, abs(ours.value))
                rounded = max(rounded, apart)
            else:
                ways.append(in_one_piece)
            off = float(np.max(np.abs(np.array(ways) - ours.value)))
            if not math.isfinite(off + rounded):
                raise SsdptError(
                    f"{clip.path}: the exported graph's score is not a finite number; export "
                    "another precision"
                )
            share = off / max(1.0, abs(ours.value))
            if not lossy:
                _require_same(clip, ours, theirs, share, BOUND)
                _require_same(clip, ours, theirs, rounded, _ROUNDED_BOUND)
                _require_same(clip, ours, theirs, _along(ours, theirs), _TIMELINE_BOUND)
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
        of_samples=rounded if _rounds(exported) else None,
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
    whole = exported.manifest.clip_frames is not None  # a longer recording is several clips
    longest = exported.manifest.audio.clip_seconds if whole else _WHOLE_SECONDS
    if probe(clip).seconds > longest:
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


def _rounds(exported: ExportedDetector) -> bool:
    """Whether its graph of samples rounds levels that it has computed in float32."""
    manifest = exported.manifest
    return manifest.runtime == "openvino" and manifest.front_end == TextureFrames.name


def _along(ours: Score, theirs: Score) -> float:
    """The largest |Δ| / max(1, |score|) along a clip."""
    one, other = ours.timeline.value, theirs.timeline.value
    if len(one) != len(other):
        return math.inf
    return float(np.max(np.abs(one - other) / np.maximum(1.0, np.abs(one))))


def _require_same(clip: Recording, ours: Score, theirs: Score, share: float, bound: float) -> None:
    if not (math.isfinite(share) and share <= bound):
        raise SsdptError(
            f"{clip.path.name}: the exported graph is not the same model: it scores "
            f"{theirs.value:.6g} where torch scores {ours.value:.6g} (|Δ| / max(1, |score|) = "
            f"{share:.2g}, allowed {bound:g}); nothing was written"
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
