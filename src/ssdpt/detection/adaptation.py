"""New normal clips of a machine into its model: nothing is trained again, the thresholds stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ssdpt.common.files import printable
from ssdpt.data.audio import content_digest, probe
from ssdpt.detection.storage import StoredModel
from ssdpt.errors import SsdptError
from ssdpt.systems.base import System
from ssdpt.types import Domain, Floats, Recording

_NAMED = 3  # files named in a note
_SHORTEST_SECONDS = 1.0  # as for a fit; less says too little about a machine
_FAR = 3.0  # deviations of the other clips' scores
_LEAST_SPREAD = 0.2  # of clips far out, as a share of how far out they are

Frames = Callable[[Recording], Iterable[Floats]]  # a recording as blocks of frames


@dataclass(frozen=True, slots=True)
class Adaptation:
    """Which new normal clips a model has taken."""

    taken: tuple[Recording, ...]
    clips: int  # of about 10 s: a long recording holds several
    warnings: tuple[str, ...]  # sentences: what a person should look at


def adapt_model(
    system: System,
    stored: StoredModel,
    recordings: Sequence[Recording],
    frames: Frames,
    domain: Domain,
) -> tuple[StoredModel, Adaptation]:
    """Let `system` take up normal recordings, and give what its model folder then holds.

    Every recording is read and scored before the system changes, so that one that cannot be used
    leaves everything as it was.
    """
    for recording in recordings:
        _refuse_section(recording, stored.sections)
        _refuse_short(recording)
    new, warnings = _new_recordings(recordings, stored)
    by_section: dict[str, list[Recording]] = {}
    for recording in new.values():
        by_section.setdefault(recording.section, []).append(recording)
    for section, group in by_section.items():
        scores = [system.score(frames(item), section).value for item in group]
        warnings += possible_faults(group, scores, stored.calibration.thresholds(section))
    notes = list(stored.notes)
    clips = 0
    for section, group in by_section.items():
        clips += system.add_normals((frames(item) for item in group), section, domain)
        names = _names(item.path for item in group)
        notes.append(f"taken as normal after the fit (section {section}, {domain} domain): {names}")
    description = stored.description | system.description()
    if isinstance(clips_before := description.get("clips"), int):
        description["clips"] = clips_before + clips
    seen = {content: printable(item.path.name) for content, item in new.items()}
    changed = replace(
        stored,
        description=description,
        arrays=system.arrays(),
        recordings_seen={**stored.recordings_seen, **seen},
        notes=tuple(notes),
    )
    return changed, Adaptation(tuple(new.values()), clips, tuple(warnings))


def possible_faults(
    recordings: Sequence[Recording], scores: Sequence[float], thresholds: tuple[float, float]
) -> list[str]:
    """A sentence on each clip that may be a fault: above the alarm threshold and all other clips.

    In a new condition all clips may score high; a fault is the one that stands out among them.
    `thresholds` are those of alert and alarm. Few clips say little about how far their scores
    spread: it is at least what lies between the thresholds, and more where all clips score high.
    """
    alert, alarm = thresholds
    warnings = []
    for position, (recording, score) in enumerate(zip(recordings, scores, strict=True)):
        others = np.delete(np.asarray(scores, np.float64), position)
        if score <= alarm:
            continue
        fact = f"{recording.path}: scores {score:.4g}, above the alarm threshold ({alarm:.4g})"
        if not len(others):
            warnings.append(
                f"{fact}, and there is no other clip to compare it with: listen to it, and make "
                "sure that the machine was well"
            )
            continue
        usual = float(np.median(others))
        # 1.4826: of a normal distribution, the standard deviation over the median deviation.
        spread = max(
            1.4826 * float(np.median(np.abs(others - usual))),
            alarm - alert,
            _LEAST_SPREAD * (usual - alert),
        )
        if score - usual > _FAR * spread:
            warnings.append(
                f"{fact} and far above the other clips given ({usual:.4g}): listen to it; if it "
                "is a fault, adapt the model as it was before, without this clip"
            )
    return warnings


def _new_recordings(
    recordings: Sequence[Recording], stored: StoredModel
) -> tuple[dict[str, Recording], list[str]]:
    """Recordings by content digest that are new to the model, and a sentence on the others."""
    new: dict[str, Recording] = {}
    already: list[Path] = []
    faulty: list[Path] = []
    for recording in recordings:
        content = content_digest(recording)
        if recording.label == "anomaly":
            faulty.append(recording.path)
        elif content in stored.recordings_seen or content in new:
            already.append(recording.path)
        else:
            new[content] = recording
    warnings = []
    if faulty:
        warnings.append(f"left out, anomalous by name: {_names(faulty)}")
    if already:
        warnings.append(f"left out, learned by this model already: {_names(already)}")
    if not new:
        reason = warnings[0] if warnings else "no recordings were given"
        raise SsdptError(f"nothing to take as normal: {reason}")
    return new, warnings


def _refuse_section(recording: Recording, sections: tuple[str, ...]) -> None:
    if recording.section in sections:
        return
    reason = (
        f"ID {recording.section} is not in the model"
        if recording.section
        else "its ID is not known"
    )
    raise SsdptError(
        f"{recording.path}: {reason}; the model knows {', '.join(sections)}: name one of them "
        "with --section"
    )


def _refuse_short(recording: Recording) -> None:
    seconds = probe(recording).seconds
    if seconds < _SHORTEST_SECONDS:
        raise SsdptError(
            f"{recording.path}: {seconds:.2f} s are too short to learn from; record clips of about "
            "10 s"
        )


def _names(paths: Iterable[Path]) -> str:
    """A few names, and how many more there are."""
    names = [printable(path.name) for path in paths]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
