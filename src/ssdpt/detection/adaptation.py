"""New normal clips of a machine into its model: nothing is trained again, the thresholds stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ssdpt.common.files import digest, printable
from ssdpt.data import audio
from ssdpt.detection.storage import StoredModel
from ssdpt.errors import SsdptError
from ssdpt.systems.base import System
from ssdpt.types import Domain, Floats, Recording

_NAMED = 3  # files named in a note
_SHORTEST_SECONDS = 1.0  # as for a fit; less says too little of a machine
_FAR = 3.0  # deviations of the other clips' scores
_LEAST_SPREAD = 0.2  # of clips far out, as a share of how far out they are

Frames = Callable[[Path], Iterable[Floats]]  # a recording as blocks of frames


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What came of new normal clips."""

    taken: tuple[Recording, ...]
    clips: int  # of about 10 s: a long recording holds several
    warnings: tuple[str, ...]  # what a person should look at, in words


def adapt_model(
    system: System,
    stored: StoredModel,
    recordings: Sequence[Recording],
    frames: Frames,
    domain: Domain,
) -> tuple[StoredModel, Adaptation]:
    """Let `system` take up normal recordings, and give what its model folder then holds.

    Every recording is read and judged before the system changes, so that one that cannot be used
    leaves everything as it was.
    """
    for recording in recordings:
        _refuse_section(recording, stored.sections)
        _refuse_short(recording.path)
    new, warnings = _unheard(recordings, stored)
    by_section: dict[str, list[Recording]] = {}
    for recording in new.values():
        by_section.setdefault(recording.section, []).append(recording)
    for section, group in by_section.items():
        scores = [system.score(frames(item.path), section).value for item in group]
        warnings += suspicions(group, scores, stored.calibration.thresholds(section))
    notes = list(stored.notes)
    clips = 0
    for section, group in by_section.items():
        clips += system.add_normals((frames(item.path) for item in group), section, domain)
        told = f"taken as normal after the fit (section {section}, {domain} domain)"
        notes.append(f"{told}: {_names(item.path for item in group)}")
    description = stored.description | system.description()
    if isinstance(known := description.get("clips"), int):
        description["clips"] = known + clips
    heard = {content: printable(item.path.name) for content, item in new.items()}
    changed = replace(
        stored,
        description=description,
        arrays=system.arrays(),
        heard={**stored.heard, **heard},
        notes=tuple(notes),
    )
    return changed, Adaptation(tuple(new.values()), clips, tuple(warnings))


def suspicions(
    recordings: Sequence[Recording], scores: Sequence[float], thresholds: tuple[float, float]
) -> list[str]:
    """Which clips may be faults, in words: above the alarm threshold, and far above the others.

    In a new condition all clips may score high; a fault is the one that stands out among them.
    `thresholds` are those of alert and alarm. Few clips tell badly how far their scores spread: it
    is at least what lies between the thresholds, and more where all clips lie far out.
    """
    alert, alarm = thresholds
    found = []
    for place, (recording, score) in enumerate(zip(recordings, scores, strict=True)):
        others = np.delete(np.asarray(scores, np.float64), place)
        if score <= alarm:
            continue
        told = f"{recording.path}: scores {score:.4g}, above the alarm threshold ({alarm:.4g})"
        if not len(others):
            found.append(
                f"{told}, and there is no other clip to compare it with: listen to it, and make "
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
            found.append(
                f"{told} and far above the other clips given ({usual:.4g}): listen to it; if it "
                "is a fault, adapt the model as it was before, without this clip"
            )
    return found


def _unheard(
    recordings: Sequence[Recording], stored: StoredModel
) -> tuple[dict[str, Recording], list[str]]:
    """Recordings by content digest that the model does not know, and words on the others."""
    new: dict[str, Recording] = {}
    known: list[Path] = []
    faulty: list[Path] = []
    for recording in recordings:
        content = digest(recording.path)
        if recording.label == "anomaly":
            faulty.append(recording.path)
        elif content in stored.heard or content in new:
            known.append(recording.path)
        else:
            new[content] = recording
    warnings = []
    if faulty:
        warnings.append(f"left out, anomalous by name: {_names(faulty)}")
    if known:
        warnings.append(f"left out, heard by this model already: {_names(known)}")
    if not new:
        reason = warnings[0] if warnings else "no recordings were given"
        raise SsdptError(f"nothing to take as normal: {reason}")
    return new, warnings


def _refuse_section(recording: Recording, sections: tuple[str, ...]) -> None:
    if recording.section in sections:
        return
    which = f"ID {recording.section} is not in the model" if recording.section else "ID not told"
    raise SsdptError(
        f"{recording.path}: {which}; the model knows {', '.join(sections)}: say with --section "
        "which of them was recorded"
    )


def _refuse_short(path: Path) -> None:
    seconds = audio.probe(path).seconds
    if seconds < _SHORTEST_SECONDS:
        raise SsdptError(
            f"{path}: {seconds:.2f} s are too short to learn from; record clips of about 10 s"
        )


def _names(paths: Iterable[Path]) -> str:
    """A few names, and how many more there are."""
    names = [printable(path.name) for path in paths]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
