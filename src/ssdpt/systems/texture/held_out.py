"""How the clips of a fit score by views that were made without them.

It is not enough to leave a clip out as a reference: the spread that scales distances contains it as
well, and depends strongly on each clip where clips are few. Networks are trained on all clips:
networks trained without some of them give thresholds that are too high for machines that do not
change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.common.progress import Reporter
from ssdpt.data.recording_groups import RecordingGroups
from ssdpt.data.split import divided
from ssdpt.scoring.calibrate import Scores
from ssdpt.scoring.section_model import ClipViews, View
from ssdpt.scoring.whitening import deviations
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.types import Domain, Recording

_FOLDS = 10  # in which clips are left out whatever recording they belong to

Clips = Sequence[tuple[Recording, ClipViews]]  # clips in all views
BySection = dict[str, dict[Domain, list[ClipViews]]]
Measure = Callable[..., dict[str, dict[str, View]]]  # `section_views` with all but the clips given


@dataclass(frozen=True, slots=True)
class HeldOutScores:
    """By section and domain, in the clips' order; a stratum of one clip has none."""

    new_recording: Scores  # by views made without the recording that a clip belongs to
    known_recording: Scores  # by views made without the clip, but with others of its recording


def held_out_scores(
    clips: Clips, measure: Measure, shared: SharedReference, seed: int, reporter: Reporter
) -> HeldOutScores:
    """Of all clips of a fit."""
    recordings = [recording for recording, _ in clips]
    groups = RecordingGroups.of(recordings)
    by_clip, by_recording = divided(recordings, _FOLDS, seed), groups.parts()
    known: dict[int, float] = {}
    new: dict[int, float] = {}
    with reporter.task("thresholds", total=len(by_clip) + len(by_recording)) as task:
        for parts, scores in ((by_clip, known), (by_recording, new)):
            for part in parts:
                scores |= _scores_without(part, clips, measure, shared)
                task.advance()
    return HeldOutScores(_by_stratum(new, recordings), _by_stratum(known, recordings))


def by_section(clips: Iterable[tuple[Recording, ClipViews]]) -> BySection:
    """The views of clips, by section and domain."""
    sections: BySection = {}
    for recording, views in clips:
        domains = sections.setdefault(recording.section, {})
        domains.setdefault(recording.domain, []).append(views)
    return sections


def _scores_without(
    part: Sequence[int], clips: Clips, measure: Measure, shared: SharedReference
) -> dict[int, float]:
    """Scores of the clips at the positions of `part`, by views that were made without them."""
    left_out = set(part)
    sections = {clips[at][0].section for at in part}
    groups = by_section(
        clip for at, clip in enumerate(clips) if at not in left_out and clip[0].section in sections
    )
    if not groups:
        return {}
    removed = _removed_scatter(part, clips, [view for view in shared.rows if view in clips[0][1]])
    section_views = measure(groups, spread=shared.without(removed))
    return {
        at: sum(
            view.weight * float(view.z_scores([views[name]])[0])
            for name, view in section_views[recording.section].items()
        )
        for at, (recording, views) in ((at, clips[at]) for at in part)
        if recording.domain in groups.get(recording.section, {})
    }


def _removed_scatter(
    part: Sequence[int], clips: Clips, views: Sequence[str]
) -> dict[str, tuple[np.ndarray, int]]:
    """By view: how much the scatter (d, d) within sections and domains shrinks, and their rows."""
    left_out = set(part)
    strata: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, (recording, _) in enumerate(clips):
        strata[recording.section, recording.domain].append(at)
    touched = [group for group in strata.values() if not left_out.isdisjoint(group)]
    removed: dict[str, tuple[np.ndarray, int]] = {}
    for view in views:
        size = clips[0][1][view].shape[1]
        scatter = np.zeros((size, size))
        for group in touched:
            scatter += _scatter([clips[at][1][view] for at in group])
            scatter -= _scatter([clips[at][1][view] for at in group if at not in left_out])
        removed[view] = scatter, sum(len(clips[at][1][view]) for at in part)
    return removed


def _scatter(clips: Sequence[np.ndarray]) -> np.ndarray | float:
    """Of the rows of clips, (rows, d) each, around their mean, (d, d); of a single row it is 0."""
    rows = np.concatenate(clips).astype(np.float64) if clips else np.zeros((0, 0))
    if len(rows) < 2:
        return 0.0
    rows = deviations(rows)
    scatter: np.ndarray = rows.T @ rows
    return scatter


def _by_stratum(score_of: Mapping[int, float], recordings: Sequence[Recording]) -> Scores:
    """Scores by position to scores by section and domain, in the clips' order."""
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for at, score in sorted(score_of.items()):
        scores[recordings[at].section, recordings[at].domain].append(score)
    return dict(scores)
