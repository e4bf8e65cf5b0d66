"""Which labelled clips are used to evaluate a model, and their scores.

A clip is used if it has a label, is not in a training split, its machine has a model, and none of
the evaluated models used it in training or calibration (compared by content, not by name).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import content_digest
from ssdpt.evaluation.tables import Row
from ssdpt.types import Recording, Score

if TYPE_CHECKING:
    from ssdpt.data.layouts import Dataset
    from ssdpt.fleet.fleet import Fleet

USED_BEFORE = "used in training or calibration"
_SPLITS = {"train": "in the training split", "supplemental": "in the supplemental split"}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Clips that are not used, and why."""

    reason: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.names[:3]) + (", …" if len(self.names) > 3 else "")
        return f"{count(len(self.names), 'clip')} left out: {self.reason} ({shown})"


@dataclass(frozen=True, slots=True)
class ScoredClip:
    """A labelled recording and its score."""

    recording: Recording
    score: Score

    @property
    def is_faulty(self) -> bool:
        """The true label."""
        return self.recording.label == "anomaly"

    @property
    def row(self) -> Row:
        """The clip as a row of the result tables."""
        return self.row_with(self.score.value, self.score.threshold)

    def row_with(self, value: float, threshold: float = math.nan) -> Row:
        """The same clip with the score of another detector."""
        recording = self.recording
        return Row(
            recording.machine,
            recording.section,
            recording.domain,
            self.is_faulty,
            value,
            threshold,
        )


def count(number: int, noun: str) -> str:
    """`1 clip`, `2 clips`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def choose_clips(
    dataset: Dataset, fleets: Sequence[Fleet], *, reporter: Reporter = SILENT
) -> tuple[list[Recording], list[LeftOut]]:
    """Recordings of `dataset` on which all of `fleets` can be evaluated, and those left out."""
    chosen: list[Recording] = []
    left_out: dict[str, list[str]] = {}
    with reporter.task("Choosing clips", total=len(dataset.recordings)) as task:
        for recording in dataset.recordings:
            reason = _reason_to_leave_out(recording, fleets)
            if reason:
                left_out.setdefault(reason, []).append(recording.path.name)
            else:
                chosen.append(recording)
            task.advance()
    chosen.sort(key=lambda r: (r.machine, r.section, r.domain, r.label != "normal", str(r.path)))
    return chosen, [LeftOut(reason, tuple(names)) for reason, names in left_out.items()]


def _reason_to_leave_out(recording: Recording, fleets: Sequence[Fleet]) -> str:
    if recording.split in _SPLITS:
        return _SPLITS[recording.split]
    if not recording.label:
        return "no label"
    detectors = [fleet.for_recording(recording) for fleet in fleets]
    if any(detector is None for detector in detectors):
        return f"no model for machine {recording.machine}"
    try:
        content = content_digest(recording)
    except OSError as error:
        return f"unreadable: {error.strerror or error}"
    if any(detector is not None and content in detector.fingerprint for detector in detectors):
        return USED_BEFORE
    return ""


def score_clips(
    fleet: Fleet, recordings: Iterable[Recording], *, reporter: Reporter = SILENT
) -> tuple[list[ScoredClip], list[LeftOut]]:
    """Score every recording; one that cannot be scored is left out, with a warning."""
    recordings = list(recordings)
    scored: list[ScoredClip] = []
    failed: list[LeftOut] = []
    with reporter.task("Scoring clips", total=len(recordings)) as task:
        for recording, score in fleet.score_all(recordings):
            if isinstance(score, Score) and math.isfinite(score.value):
                scored.append(ScoredClip(recording, score))
            else:
                not_finite = f"{recording.path}: the score is not a finite number"
                reason = not_finite if isinstance(score, Score) else str(score)
                failed.append(LeftOut(reason, (recording.path.name,)))
                reporter.warn(f"Skipped {reason}")
            task.advance(note=recording.machine)
    return scored, failed
