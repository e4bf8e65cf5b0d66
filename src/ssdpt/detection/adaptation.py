"""New normal clips of a machine into its model: nothing is trained again, the thresholds stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ssdpt.common.files import printable
from ssdpt.data.audio import content_digest, probe
from ssdpt.detection.storage import StoredModel
from ssdpt.errors import SsdptError
from ssdpt.scoring.commissioning import standing_out
from ssdpt.systems.base import System
from ssdpt.types import Domain, Floats, Recording

_NAMED = 3  # files named in a note
_SHORTEST_SECONDS = 1.0  # as for a fit; less says too little about a machine

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
    by_section, warnings = new_recordings(recordings, stored)
    for section, group in by_section.items():
        scores = [system.score(frames(item), section).value for item in group]
        warnings += possible_faults(group, scores, stored.calibration.thresholds(section))
    changed, clips = take_as_normal(
        system, stored, by_section, frames, domain, "taken as normal after the fit"
    )
    taken = tuple(item for group in by_section.values() for item in group)
    return changed, Adaptation(taken, clips, tuple(warnings))


def take_as_normal(
    system: System,
    stored: StoredModel,
    by_section: Mapping[str, Sequence[Recording]],
    frames: Frames,
    domain: Domain,
    reason: str,
) -> tuple[StoredModel, int]:
    """Add recordings to `system`: what its model folder then holds, and how many clips they are."""
    notes = list(stored.notes)
    clips = 0
    seen: dict[str, str] = {}
    for section, group in by_section.items():
        clips += system.add_normals((frames(item) for item in group), section, domain)
        names = named(item.path for item in group)
        notes.append(f"{reason} (section {section}, {domain} domain): {names}")
        seen |= {content_digest(item): printable(item.path.name) for item in group}
    description = stored.description | system.description()
    if isinstance(clips_before := description.get("clips"), int):
        description["clips"] = clips_before + clips
    changed = replace(
        stored,
        description=description,
        arrays=system.arrays(),
        recordings_seen={**stored.recordings_seen, **seen},
        notes=tuple(notes),
    )
    return changed, clips


def possible_faults(
    recordings: Sequence[Recording], scores: Sequence[float], thresholds: tuple[float, float]
) -> list[str]:
    """A sentence on each clip that may be a fault (`ssdpt.scoring.commissioning.standing_out`)."""
    _, alarm = thresholds
    warnings = []
    for position, usual in standing_out(scores, thresholds).items():
        path, score = recordings[position].path, scores[position]
        fact = f"{path}: scores {score:.4g}, above the alarm threshold ({alarm:.4g})"
        warnings.append(
            f"{fact}, and there is no other clip to compare it with: listen to it, and make sure "
            "that the machine was well"
            if usual is None
            else f"{fact} and far above the other clips given ({usual:.4g}): listen to it; if it "
            "is a fault, adapt the model as it was before, without this clip"
        )
    return warnings


def new_recordings(
    recordings: Sequence[Recording], stored: StoredModel
) -> tuple[dict[str, list[Recording]], list[str]]:
    """Recordings by section that are new to the model and usable, and a sentence on the others."""
    for recording in recordings:
        _refuse_section(recording, stored.sections)
        _refuse_short(recording)
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
        warnings.append(f"left out, anomalous by name: {named(faulty)}")
    if already:
        warnings.append(f"left out, learned by this model already: {named(already)}")
    if not new:
        reason = warnings[0] if warnings else "no recordings were given"
        raise SsdptError(f"nothing to take as normal: {reason}")
    by_section: dict[str, list[Recording]] = {}
    for recording in new.values():
        by_section.setdefault(recording.section, []).append(recording)
    return by_section, warnings


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


def named(paths: Iterable[Path]) -> str:
    """A few names, and how many more there are."""
    names = [printable(path.name) for path in paths]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
