"""The first clips after a fit into its model: the same healthy machine on another day.

As `adapt` does, the clips are taken as normal; in addition, thresholds are set anew by them. A
fault must not be learned: clips that stand out are left out, and where the others differ from what
was learned, or from each other, a person is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ssdpt.detection.adaptation import Frames, named, new_recordings, take_as_normal
from ssdpt.detection.storage import StoredModel
from ssdpt.errors import SsdptError
from ssdpt.scoring.calibrate import Calibration, Tail
from ssdpt.scoring.commissioning import LEAST_CLIPS, Assessment, assess, commissioned_tail
from ssdpt.systems.base import System
from ssdpt.types import Domain, Recording

Confirm = Callable[[str], bool]  # a question to a person, and whether the answer is yes


@dataclass(frozen=True, slots=True)
class CommissionedSection:
    """The thresholds of one section before and after."""

    section: str
    clips: int
    before: tuple[float, float]  # alert and alarm
    after: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Commissioning:
    """What commissioning has changed."""

    sections: tuple[CommissionedSection, ...]
    declined: tuple[
        str, ...
    ]  # questions that were not answered with yes: nothing was learned there
    warnings: tuple[str, ...]  # sentences: what a person should look at


def commission_model(
    system: System,
    stored: StoredModel,
    recordings: Sequence[Recording],
    frames: Frames,
    *,
    domain: Domain,
    date: str,
    confirm: Confirm,
) -> tuple[StoredModel, Commissioning]:
    """Let `system` take up clips of another day, and give what its model folder then holds.

    All clips are read and assessed before the system changes.
    """
    if not system.adapts:
        system.add_normals((), stored.sections[0], domain)  # says which systems can
    by_section, warnings = new_recordings(recordings, stored)
    declined: list[str] = []
    taken: dict[str, list[Recording]] = {}
    tails: dict[str, Tail] = {}
    for section, group in by_section.items():
        assessment = _assess(system, stored, section, group, frames, domain)
        question = f"{stored.machine}, ID {section}: {assessment.question}"
        if assessment.question and not confirm(question):
            declined.append(question)
            continue
        kept = [item for at, item in enumerate(group) if at not in assessment.left_out]
        if assessment.left_out:
            faults = named(group[at].path for at in assessment.left_out)
            warnings.append(f"left out, far above the other clips: {faults}; listen to them")
        tail, thresholds = stored.calibration.tail(section), stored.calibration.thresholds(section)
        among = _among(system, section, kept, frames, domain)
        taken[section] = kept
        tails[section] = commissioned_tail(among, tail, thresholds, date)
    calibration = _with_tails(stored.calibration, tails, stored.sections)
    changes = tuple(
        CommissionedSection(
            section,
            len(group),
            stored.calibration.thresholds(section),
            calibration.thresholds(section),
        )
        for section, group in taken.items()
    )
    if taken:
        stored, _ = take_as_normal(
            system, stored, taken, frames, domain, f"taken as normal by commissioning on {date}"
        )
        stored = replace(stored, calibration=calibration)
    return stored, Commissioning(changes, tuple(declined), tuple(warnings))


def _assess(
    system: System,
    stored: StoredModel,
    section: str,
    group: Sequence[Recording],
    frames: Frames,
    domain: Domain,
) -> Assessment:
    return assess(
        [system.score(frames(item), section).value for item in group],
        _among(system, section, group, frames, domain),
        stored.calibration.thresholds(section),
        stored.calibration.tail(section).known_recordings,
    )


def _among(
    system: System, section: str, group: Sequence[Recording], frames: Frames, domain: Domain
) -> list[float]:
    """How clips of 10 s score if the other recordings of the group were added as normal."""
    scores = system.scores_among_normals((frames(item) for item in group), section, domain)
    if len(scores) < LEAST_CLIPS:
        raise SsdptError(
            f"commissioning needs at least {LEAST_CLIPS} normal clips of about 10 s of ID "
            f"{section}, not {len(scores)}; ten are a good number"
        )
    return scores


def _with_tails(
    calibration: Calibration, tails: dict[str, Tail], sections: Sequence[str]
) -> Calibration:
    """The calibration with new tails of some sections; of a single one, for all clips."""
    pooled = (
        tails.get(sections[0], calibration.pooled) if len(sections) == 1 else calibration.pooled
    )
    return replace(calibration, pooled=pooled, sections={**calibration.sections, **tails})
