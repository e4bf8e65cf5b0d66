"""Which labelled clips may judge a model, and their scores.

A clip counts when it has a label, is not of a training split, has a model for its machine, and no
model to be judged heard it in training or calibration (by content, whatever its name).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdpt.common.files import digest
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.evaluation.tables import Row
from ssdpt.types import Recording, Score

if TYPE_CHECKING:
    from ssdpt.data.layouts import Dataset
    from ssdpt.fleet.fleet import Fleet

HEARD = "heard in training or calibration"
_SPLITS = {"train": "of the training split", "supplemental": "supplemental"}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Clips that do not count, and why."""

    reason: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.names[:3]) + (", …" if len(self.names) > 3 else "")
        return f"{count(len(self.names), 'clip')} left out: {self.reason} ({shown})"


@dataclass(frozen=True, slots=True)
class ScoredClip:
    """A labelled recording and the verdict on it."""

    recording: Recording
    score: Score

    @property
    def is_faulty(self) -> bool:
        """The true label."""
        return self.recording.label == "anomaly"

    @property
    def row(self) -> Row:
        """The clip as the result tables want it."""
        return self.row_with(self.score.value, self.score.threshold)

    def row_with(self, value: float, threshold: float = math.nan) -> Row:
        """The same clip with the score of someone else."""
        known = self.recording
        return Row(known.machine, known.section, known.domain, self.is_faulty, value, threshold)


def count(number: int, noun: str) -> str:
    """`1 clip`, `2 clips`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def choose_clips(
    dataset: Dataset, fleets: Sequence[Fleet], *, reporter: Reporter = SILENT
) -> tuple[list[Recording], list[LeftOut]]:
    """Recordings of `dataset` that may judge all of `fleets`, and those left out."""
    chosen: list[Recording] = []
    dropped: dict[str, list[str]] = {}
    with reporter.task("Choosing clips", total=len(dataset.recordings)) as task:
        for recording in dataset.recordings:
            reason = _reason_against(recording, fleets)
            if reason:
                dropped.setdefault(reason, []).append(recording.path.name)
            else:
                chosen.append(recording)
            task.advance()
    chosen.sort(key=lambda r: (r.machine, r.section, r.domain, r.label != "normal", str(r.path)))
    return chosen, [LeftOut(reason, tuple(names)) for reason, names in dropped.items()]


def _reason_against(recording: Recording, fleets: Sequence[Fleet]) -> str:
    if recording.split in _SPLITS:
        return _SPLITS[recording.split]
    if not recording.label:
        return "without a label"
    detectors = [fleet.for_recording(recording) for fleet in fleets]
    if any(detector is None for detector in detectors):
        return f"no model for machine {recording.machine}"
    try:
        content = digest(recording.path)
    except OSError as error:
        return f"unreadable: {error.strerror or error}"
    if any(detector is not None and content in detector.fingerprint for detector in detectors):
        return HEARD
    return ""


def score_clips(
    fleet: Fleet, recordings: Iterable[Recording], *, reporter: Reporter = SILENT
) -> tuple[list[ScoredClip], list[LeftOut]]:
    """Score every recording; one that cannot be scored is left out by name and the rest go on."""
    recordings = list(recordings)
    scored: list[ScoredClip] = []
    failed: list[LeftOut] = []
    with reporter.task("Scoring clips", total=len(recordings)) as task:
        for recording, score in fleet.score_all(recordings):
            if isinstance(score, Score) and math.isfinite(score.value):
                scored.append(ScoredClip(recording, score))
            else:
                unusable = f"{recording.path}: the score is not a finite number"
                reason = unusable if isinstance(score, Score) else str(score)
                failed.append(LeftOut(reason, (recording.path.name,)))
                reporter.warn(f"Skipped {reason}")
            task.advance(note=recording.machine)
    return scored, failed
