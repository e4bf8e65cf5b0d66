"""Is the exported model the same model? Compared with torch on clips, score by score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import probe
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.features.texture import TextureFrames
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.runtime.graph import CLIP
from ssdpt.runtime.manifest import AccuracyLoss, Verification
from ssdpt.runtime.whole_clips import longest_samples
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.types import Recording, Score

BOUND = 1e-4  # on |Δscore| / max(1, |score|)
# The same for the graph of samples if it rounds levels that it has computed in float32: the
# rounding of a few turns out otherwise. ssdpt itself scores by the graph of frames.
_ROUNDED_BOUND = 5e-3
_TIMELINE_BOUND = 1e-3  # at every moment
_WHOLE_SECONDS = 60.0  # longer clips do not go through a graph of segments in one piece


def verify(
    detector: Detector,
    exported: ExportedDetector,
    clips: Sequence[Recording],
    source: str,
    *,
    lossy: bool,
    reporter: Reporter = SILENT,
) -> Verification:
    """Score `clips` with both. Unless `lossy`, a score too far off or another verdict raises.

    A verdict of a graph of samples that rounds is counted: its score was within the bound, so it
    was about at the threshold.
    """
    rounds = _rounds(exported)
    samples_bound = _ROUNDED_BOUND if rounds else BOUND
    largest, shares, samples_shares = 0.0, [0.0], []
    differ = samples_differ = 0
    with reporter.task(f"{detector.machine}: comparing with torch", total=len(clips)) as task:
        for clip in clips:
            ours = detector.score(clip)
            theirs = exported.score(clip)
            scores = [theirs, _by_frames(exported, clip, theirs)]
            for score in scores:
                largest = max(largest, abs(score.value - ours.value))
                shares.append(_share(clip, ours, score))
            differ += any(score.level != ours.level for score in scores)
            whole = _in_one_piece(exported, clip, theirs)
            if whole is not None:
                samples_shares.append(_share(clip, ours, whole))
                samples_differ += whole.level != ours.level
            if not lossy:
                for score in scores:
                    _require_near(clip, ours, score, BOUND)
                    _require_level(clip, ours, score)
                _require_same_course(clip, ours, theirs)
                if whole is not None:
                    _require_near(clip, ours, whole, samples_bound)
                    if not rounds:
                        _require_level(clip, ours, whole)
            task.advance()
    relative, of_samples = max(shares), max(samples_shares, default=None)
    return Verification(
        clips=len(clips),
        largest_difference=largest,
        largest_relative=relative,
        bound=_rounded_up(relative) if lossy else BOUND,
        decisions_differ=differ,
        source=source,
        of_samples=of_samples,
        samples_clips=len(samples_shares),
        samples_bound=_rounded_up(of_samples or 0.0) if lossy else samples_bound,
        samples_decisions_differ=samples_differ,
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


def _in_one_piece(exported: ExportedDetector, clip: Recording, score: Score) -> Score | None:
    """By the graph's own `clip` output, which is what other programs read; None: too long for it.

    A model of whole clips takes so many samples in one run and no more. Others take any number,
    but memory grows with it.
    """
    if exported.manifest.clip_frames is not None:
        fits = len(exported.audio(clip)) <= longest_samples(exported.manifest)
    else:
        fits = probe(clip).seconds <= _WHOLE_SECONDS
    if not fits:
        return None
    values = exported.outputs(clip)[CLIP]
    known = score.section in exported.sections
    value = values[exported.sections.index(score.section)] if known else values.min()
    return _with_value(exported, score, float(value))


def _by_frames(exported: ExportedDetector, clip: Recording, score: Score) -> Score:
    """By the graph of frames, which live scoring uses."""
    (score_as,) = exported.frame_scorer.score_frames([exported.frames(clip)])
    by_frames, _ = score_known_or_best_section(score_as, exported.sections, score.section)
    return _with_value(exported, score, by_frames.value)


def _with_value(exported: ExportedDetector, score: Score, value: float) -> Score:
    """The score with another value, and the verdict that belongs to it."""
    section = score.section if score.section in exported.sections else None
    return replace(score, value=value, level=exported.calibration.level(value, section))


def _rounds(exported: ExportedDetector) -> bool:
    """Whether its graph of samples rounds levels that it has computed in float32."""
    manifest = exported.manifest
    return manifest.runtime == "openvino" and manifest.front_end == TextureFrames.name


def _share(clip: Recording, ours: Score, theirs: Score) -> float:
    """|Δscore| / max(1, |score|)."""
    share = abs(theirs.value - ours.value) / max(1.0, abs(ours.value))
    if not math.isfinite(share):
        raise SsdptError(
            f"{clip.path}: the exported graph's score is not a finite number; export another "
            "precision"
        )
    return share


def _require_near(clip: Recording, ours: Score, theirs: Score, bound: float) -> None:
    share = _share(clip, ours, theirs)
    if share > bound:
        raise _is_another_model(
            clip,
            f"it scores {theirs.value:.6g} where torch scores {ours.value:.6g} "
            f"(|Δ| / max(1, |score|) = {share:.2g}, allowed {bound:g})",
        )


def _require_same_course(clip: Recording, ours: Score, theirs: Score) -> None:
    """The score over time, moment by moment."""
    one, other = ours.timeline.value, theirs.timeline.value
    if len(one) != len(other):
        raise _is_another_model(clip, f"{len(other)} scores over time where torch has {len(one)}")
    share = float(np.max(np.abs(one - other) / np.maximum(1.0, np.abs(one))))
    if not share <= _TIMELINE_BOUND:
        raise _is_another_model(
            clip,
            f"its score over time is off by {share:.2g} · max(1, |score|), allowed "
            f"{_TIMELINE_BOUND:g}",
        )


def _is_another_model(clip: Recording, why: str) -> SsdptError:
    return SsdptError(
        f"{clip.path.name}: the exported graph is not the same model: {why}; nothing was written"
    )


def _require_level(clip: Recording, ours: Score, theirs: Score) -> None:
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
