"""Scores of normal clips by models that were fitted without them, for systems that are trained.

Where it is known when recordings were made, clips of one recording are held out together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.recording_groups import RecordingGroups
from ssdpt.data.split import divided, held_out
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.scoring.calibrate import RecordingNumbers, Scores, aligned
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.systems import system_class
from ssdpt.systems.base import System

Fit = Callable[[FeatureView, str], System]


def fit_and_hold_out(
    clips: FeatureView, groups: RecordingGroups, config: Config, fit: Fit, reporter: Reporter
) -> tuple[System, Scores, RecordingNumbers]:
    """Train on nine tenths of the recordings; the others give the scores of new normal sound."""
    decision = config.decision
    distinct = list(dict.fromkeys(clips.recordings))
    parts = max(2, round(1 / decision.held_out))
    if together := _together(groups, parts):
        held = together[-1]
    elif len(distinct) >= 2 * decision.min_held_out:
        _, chosen = held_out(distinct, decision.held_out, decision.min_held_out, config.seed)
        held = [at for at, item in enumerate(clips.recordings) if item in set(chosen)]
    else:
        held = divided(clips.recordings, parts, config.seed)[-1]
    system = fit(clips.without(held), "training")
    return system, _scores(system, clips.only(held), reporter), groups.numbers(held)


def cross_fit_machine(
    clips: FeatureView, groups: RecordingGroups, config: Config, fit: Fit, reporter: Reporter
) -> tuple[System, Scores, RecordingNumbers]:
    """Train on all parts but one, each in turn: all models give scores of sound new to them.

    One of them is kept: a model trained on everything would score new sound lower than those that
    set its thresholds, which learned from less, and would raise far fewer alarms than asked for.
    Only where each of them misses a section or a domain altogether is everything trained on.
    """
    count = config.decision.folds
    parts = _together(groups, count) or divided(clips.recordings, count, config.seed)
    parts = [part for part in parts if part]
    kept: tuple[int, System] | None = None
    scores: list[Scores] = []
    scored: list[int] = []
    for number, part in enumerate(parts, start=1):
        rest = clips.without(part)
        if not len(rest) or system_class(config.system).refusal(rest.recordings, config):
            continue  # the rest is too little to learn from: these clips set no threshold
        whole = kept is None and _groups(rest) == _groups(clips)
        system = fit(rest, "training" if whole else f"fold {number} of {len(parts)}")
        if whole:
            kept = len(scores), system
        scores.append(_scores(system, clips.only(part), reporter))
        scored += part
    if not scores:
        raise SsdptError(
            f"too few clips of each machine ID to set a threshold for system {config.system}; "
            f"record more of them{_or_use(system_class(config.system).fallback)}"
        )
    place, system = kept or (None, fit(clips, "training"))
    return system, aligned(scores, place), groups.numbers(scored)


def _together(groups: RecordingGroups, count: int) -> list[list[int]]:
    """Positions of clips in `count` parts that share no recording.

    None where it is not known when recordings were made, or where they are fewer: a model that
    lacks a large part of them would be worse than one with a threshold that is too low.
    """
    parts = groups.parts()
    if not groups.at_other_times or len(parts) < count:
        return []
    return [sorted(at for part in parts[start::count] for at in part) for start in range(count)]


def matching(numbers: RecordingNumbers, scores: Scores) -> RecordingNumbers | None:
    """The recordings of the clips that have scores; None where a system left some of them out."""
    same = all(len(numbers.get(key, ())) == len(group) for key, group in scores.items())
    return {key: numbers[key] for key in scores} if same else None


def _or_use(fallback: str | None) -> str:
    return f", or use system {fallback}" if fallback else ""


def _groups(clips: FeatureView) -> set[tuple[str, str]]:
    """The sections and domains that are there."""
    return {(recording.section, recording.domain) for recording in clips.recordings}


def _scores(system: System, clips: FeatureView, reporter: Reporter) -> Scores:
    """Scores of held-out normal clips by section and domain."""
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    with reporter.task("thresholds", total=len(clips)) as task:
        for recording, frames in clips.clips():
            score, _ = score_known_or_best_section(
                partial(system.score, [frames]), system.sections, recording.section
            )
            scores[recording.section, recording.domain].append(score.value)
            task.advance()
    return dict(scores)
