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
from ssdpt.scoring.section_model import View, ViewVectors
from ssdpt.scoring.whitening import deviations
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.types import Domain, Recording

_FOLDS = 20  # in which clips are left out whatever recording they belong to

ClipViews = Sequence[tuple[Recording, ViewVectors]]  # clips in all views
BySection = dict[str, dict[Domain, list[ViewVectors]]]
Measure = Callable[..., dict[str, dict[str, View]]]  # `weighted_views` with all but the clips given


@dataclass(frozen=True, slots=True)
class HeldOutScores:
    """By section and domain, in the clips' order; a stratum of one clip has none."""

    new_recording: Scores  # by views made without the recording that a clip belongs to
    known_recording: Scores  # by views made without the clip, but with others of its recording


def held_out_scores(
    rows: ClipViews, measure: Measure, shared: SharedReference, seed: int, reporter: Reporter
) -> HeldOutScores:
    """Of all clips of a fit.

    Where recordings differ in their condition, leaving one out takes away a condition that the
    model does know, which asks for more than another day does; leaving out single clips asks for
    less. There the mean of the two counts as the score in a new recording.
    """
    recordings = [recording for recording, _ in rows]
    groups = RecordingGroups.of(recordings)
    by_clip, by_recording = divided(recordings, _FOLDS, seed), groups.parts()
    known: dict[int, float] = {}
    new: dict[int, float] = {}
    with reporter.task("thresholds", total=len(by_clip) + len(by_recording)) as task:
        for parts, scores in ((by_clip, known), (by_recording, new)):
            for part in parts:
                scores |= _scores_without(part, rows, measure, shared)
                task.advance()
    if groups.basis == "condition":
        new = {at: (score + known.get(at, score)) / 2 for at, score in new.items()}
    return HeldOutScores(_by_stratum(new, recordings), _by_stratum(known, recordings))


def by_section(rows: Iterable[tuple[Recording, ViewVectors]]) -> BySection:
    """The views of clips, by section and domain."""
    sections: BySection = {}
    for recording, vectors in rows:
        domains = sections.setdefault(recording.section, {})
        domains.setdefault(recording.domain, []).append(vectors)
    return sections


def _scores_without(
    part: Sequence[int], rows: ClipViews, measure: Measure, shared: SharedReference
) -> dict[int, float]:
    """Scores of the clips at the positions of `part`, by views that were made without them."""
    left_out = set(part)
    remaining = [row for at, row in enumerate(rows) if at not in left_out]
    if not part or not remaining:
        return {}
    groups = by_section(remaining)
    removed = _removed_scatter(part, rows, [view for view in shared.clips if view in rows[0][1]])
    views = measure(groups, spread=shared.without(removed, len(part)))
    return {
        at: sum(
            view.weight * float(view.z_scores(vectors[name][None])[0])
            for name, view in views[recording.section].items()
        )
        for at, (recording, vectors) in ((at, rows[at]) for at in part)
        if recording.domain in groups.get(recording.section, {})
    }


def _removed_scatter(
    part: Sequence[int], rows: ClipViews, views: Sequence[str]
) -> dict[str, np.ndarray]:
    """By view, (d, d): by how much the scatter within sections and domains shrinks without them."""
    left_out = set(part)
    strata: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, (recording, _) in enumerate(rows):
        strata[recording.section, recording.domain].append(at)
    touched = [group for group in strata.values() if not left_out.isdisjoint(group)]
    removed: dict[str, np.ndarray] = {}
    for view in views:
        size = len(rows[0][1][view])
        removed[view] = np.zeros((size, size))
        for group in touched:
            vectors = np.array([rows[at][1][view] for at in group], np.float64)
            remaining = np.array([at not in left_out for at in group])
            removed[view] += _scatter(vectors) - _scatter(vectors[remaining])
    return removed


def _scatter(vectors: np.ndarray) -> np.ndarray:
    """Of clips (clips, d) around their mean, (d, d); of a single clip it is 0."""
    rows = deviations(vectors) if len(vectors) > 1 else np.zeros_like(vectors)
    scatter: np.ndarray = rows.T @ rows
    return scatter


def _by_stratum(score_of: Mapping[int, float], recordings: Sequence[Recording]) -> Scores:
    """Scores by position to scores by section and domain, in the clips' order."""
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for at, score in sorted(score_of.items()):
        scores[recordings[at].section, recordings[at].domain].append(score)
    return dict(scores)
