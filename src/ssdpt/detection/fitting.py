"""Normal recordings of one machine to a fitted, calibrated system."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from ssdpt.common.files import printable
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config
from ssdpt.data.audio import content_digest
from ssdpt.data.split import divided, held_out, training_split
from ssdpt.detection.storage import StoredModel
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet, FeatureView, features_of
from ssdpt.features.copies import near_copies
from ssdpt.scoring.calibrate import Scores, aligned, calibrate
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.systems import system_class
from ssdpt.systems.base import FitContext, System, shows_log_mels
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.training.log import LOG_FILE
from ssdpt.types import Recording
from ssdpt.version import __version__

_NAMED = 3  # files named in a warning
_FEW_CLIPS = 10
_SHORTEST_SECONDS = 1.0  # a training clip; less says too little about a machine

Fit = Callable[[FeatureView, str], System]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A system and everything else a model folder holds."""

    system: System
    stored: StoredModel
    log: str  # the training's JSON lines; empty for a system without a network


def fit_machine(
    recordings: Sequence[Recording],
    config: Config,
    work: Path,
    *,
    resume: bool = False,
    strict: bool = False,
    reporter: Reporter = SILENT,
    shared_reference: SharedReference | None = None,
) -> Fitted:
    """Fit and calibrate on the normal training recordings among `recordings` of one machine.

    `work` holds checkpoints while it runs. With `strict`, a recording at another sample rate than
    the model's is refused. `shared_reference` is what has been learned of other machines.
    """
    notes = _Notes(reporter)
    chosen = _normal_training_recordings(recordings, config.seed, notes)
    config = _with_able_system(config, chosen, notes)
    clips = _readable_clips(chosen, config, strict, notes, reporter)
    readable = _with_able_system(config, clips.recordings, notes)
    if readable.system != config.system:
        # The other system may take other frames; what was left out is in the notes already.
        config = readable
        clips = _readable_clips(chosen, config, strict, _Notes(SILENT), reporter)
    clips, recordings_seen = _without_copies(clips, notes)
    used = list(dict.fromkeys(clips.recordings))
    system_kind = system_class(config.system)
    cross_fit = len(clips) < config.decision.cross_fit_below and not system_kind.has_held_out_scores
    models = config.decision.folds if cross_fit else 1
    identity = _identity(config, used, list(recordings_seen))

    def fit(part: FeatureView, name: str) -> System:
        place = work / name.replace(" ", "-")
        context = FitContext(
            place, identity, resume, reporter, name, models, shared_reference=shared_reference
        )
        return system_kind.fit(part, config, context)

    if system_kind.has_held_out_scores:
        system = fit(clips, "training")
        scores = system.held_out_scores()
        cross_fit = True
        if not scores:
            raise SsdptError(
                f"{_place(used)}: one normal clip of each machine ID is not enough: record at "
                "least two of each"
            )
    elif cross_fit:
        system, scores = _cross_fit(clips, config, fit, reporter)
    else:
        system, scores = _fit_and_hold_out(clips, config, fit, reporter)
    if system.shared_reference is not None:
        notes.append(f"other machines are known from {system.shared_reference.origin}")
    for warning in system.fit_warnings():
        notes.add(warning)
    log = work / "training" / LOG_FILE
    return Fitted(
        system=system,
        stored=StoredModel(
            machine=used[0].machine,
            sections=system.sections,
            config=config,
            description={
                "name": system.name,
                "clips": len(clips),
                "front_end": f"{system.front_end.name}, {system.front_end.bins} values per frame",
                "mean_spectra": _mean_spectra(clips, config) if shows_log_mels(system) else {},
                **system.description(),
            },
            arrays=system.arrays(),
            calibration=calibrate(
                scores, config.decision, cross_fitted=cross_fit, seed=config.seed
            ),
            recordings_seen=recordings_seen,
            notes=tuple(notes),
        ),
        log=log.read_text("utf-8") if log.is_file() else system.training_log(),
    )


def learn_shared_reference(
    machines: Sequence[Sequence[Recording]],
    others: Sequence[Sequence[Recording]],
    config: Config,
    work: Path,
    *,
    resume: bool = False,
    strict: bool = False,
    reporter: Reporter = SILENT,
) -> SharedReference:
    """What the machines to be fitted learn from each other, and from `others`.

    Of the others, recordings that are the machines' own, or nearly, are named and left out: they
    would teach the networks to call the machine's own sound another's.
    """
    notes = _Notes(reporter)
    silent = _Notes(SILENT)  # a machine's own recordings are commented on when it is fitted
    clips = [
        _readable_clips(
            _normal_training_recordings(group, config.seed, silent),
            config,
            strict,
            silent,
            reporter,
        )
        for group in machines
    ]
    kept = []
    for group in others:
        chosen = _normal_training_recordings(group, config.seed, notes)
        of_group = _readable_clips(chosen, config, strict, notes, reporter, least=1)
        copies = near_copies(of_group, clips, config.features.n_mels)
        names = dict.fromkeys(of_group.recordings[position].path for position in copies)
        notes.add_files("left out of the other machines, nearly the machine's own", list(names))
        if len(copies) < len(of_group):
            kept.append(of_group.without(copies))
    used = [recording for part in (*clips, *kept) for recording in dict.fromkeys(part.recordings)]
    identity = _identity(config, used, [content_digest(recording) for recording in used])
    context = FitContext(work, identity, resume, reporter, "shared reference")
    return SharedReference.learn(clips, config, context, kept)


def _with_able_system(config: Config, recordings: Sequence[Recording], notes: _Notes) -> Config:
    """The same settings, with a system that can learn from these recordings."""
    system = system_class(config.system)
    reason = system.refusal(recordings, config)
    if reason is None:
        return config
    if system.fallback is None:
        raise SsdptError(f"system {config.system} cannot be fitted: {reason}")
    notes.add(f"{reason}: using system {system.fallback} instead")
    return config.model_copy(update={"system": system.fallback})


class _Notes(list[str]):
    """What the fit did by rule: shown as it happens, stored in the model."""

    def __init__(self, reporter: Reporter) -> None:
        super().__init__()
        self._reporter = reporter

    def add(self, note: str) -> None:
        self._reporter.warn(note)
        self.append(note)

    def add_files(self, reason: str, paths: Sequence[Path]) -> None:
        """One note that names a few of the files and counts the rest."""
        if paths:
            named = ", ".join(path.name for path in paths[:_NAMED])
            more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
            self.add(f"{reason}: {named}{more}")


def _normal_training_recordings(
    recordings: Sequence[Recording], seed: int, notes: _Notes
) -> list[Recording]:
    train, _ = training_split(recordings, seed)
    notes.add_files(
        "left out, anomalous by name in the training part",
        [recording.path for recording in train if recording.label == "anomaly"],
    )
    normal = [
        replace(recording, section=recording.section or "00")
        for recording in train
        if recording.label != "anomaly"
    ]
    if not normal:
        raise SsdptError(
            f"{_place(recordings)}: no normal recordings to learn from; put them into a folder "
            "called normal (or train, named as DCASE does)"
        )
    return normal


def _readable_clips(
    recordings: list[Recording],
    config: Config,
    strict: bool,
    notes: _Notes,
    reporter: Reporter,
    least: int = 2,
) -> FeatureView:
    """The frames of what can be read, long recordings cut into clips; the rest is named.

    Fewer than `least` clips are refused.
    """
    front_end = system_class(config.system).front_end_of(config)
    whole = features_of(recordings, config.audio, front_end, strict=strict, reporter=reporter)
    if strict and whole.failures:
        raise SsdptError(whole.failures[0][1])
    for _, reason in whole.failures[:_NAMED]:
        notes.add(f"left out: {reason}")
    if len(whole.failures) > _NAMED:
        notes.add(f"left out: {len(whole.failures) - _NAMED} more that cannot be used")
    if not len(whole):
        raise SsdptError(
            f"none of the {len(recordings)} recordings can be used; the first: "
            f"{whole.failures[0][1]}"
        )
    hop = front_end.frame_seconds
    cut: FeatureSet = whole.cut(round(config.audio.clip_seconds / hop))
    _, frames = cut.all().spans()
    short = np.flatnonzero(frames * hop < _SHORTEST_SECONDS)
    if len(short) == len(frames):
        raise SsdptError(
            f"all {len(frames)} recordings are shorter than {_SHORTEST_SECONDS:g} s, too short to "
            "learn from; record clips of about 10 s"
        )
    notes.add_files(
        f"left out, shorter than {_SHORTEST_SECONDS:g} s",
        [cut.recordings[index].path for index in short],
    )
    clips = cut.all().without(short.tolist())
    if len(clips) < least:
        raise SsdptError(
            f"{_place(recordings)}: one normal clip of {frames.max() * hop:.0f} s is not enough: "
            "record some minutes, at least two clips of 10 s"
        )
    if len(clips) < _FEW_CLIPS and least > 1:
        notes.add(
            f"only {len(clips)} normal clips of about 10 s: expect a rough threshold; "
            "ten minutes of normal sound make a usable one"
        )
    return clips


def _without_copies(clips: FeatureView, notes: _Notes) -> tuple[FeatureView, dict[str, str]]:
    """Each recording once, and the content digest and name of each.

    A copy would be scored by what was learned from itself: its nearest neighbour is itself.
    """
    seen: dict[str, str] = {}
    copies = set()
    recordings = list(dict.fromkeys(clips.recordings))
    for recording in recordings:
        content = content_digest(recording)
        if content in seen:
            copies.add(recording)
        seen.setdefault(content, printable(recording.path.name))
    if not copies:
        return clips, seen
    notes.add(
        f"{len(copies)} of {len(recordings)} recordings are copies of others and are left out"
    )
    left = clips.without([at for at, item in enumerate(clips.recordings) if item in copies])
    if len(left) < 2:
        raise SsdptError(
            f"{_place(recordings)}: all recordings are copies of one clip, which is not enough: "
            "record some minutes, at least two clips of 10 s"
        )
    return left, seen


def _place(recordings: Sequence[Recording]) -> str:
    """Where recordings lie, for a message."""
    if not recordings or recordings[0].clip is not None:
        return "clips in memory"
    return str(recordings[0].path.parent)


def _fit_and_hold_out(
    clips: FeatureView, config: Config, fit: Fit, reporter: Reporter
) -> tuple[System, Scores]:
    """Train on nine tenths of the recordings; the others give the scores of new normal sound."""
    decision = config.decision
    distinct = list(dict.fromkeys(clips.recordings))
    if len(distinct) >= 2 * decision.min_held_out:
        _, chosen = held_out(distinct, decision.held_out, decision.min_held_out, config.seed)
        held = [at for at, item in enumerate(clips.recordings) if item in set(chosen)]
    else:
        parts = max(2, round(1 / decision.held_out))
        held = divided(clips.recordings, parts, config.seed)[-1]
    system = fit(clips.without(held), "training")
    return system, _scores(system, clips.only(held), reporter)


def _cross_fit(
    clips: FeatureView, config: Config, fit: Fit, reporter: Reporter
) -> tuple[System, Scores]:
    """Train on all parts but one, each in turn: all models give scores of sound new to them.

    One of them is kept: a model trained on everything would score new sound lower than those that
    set its thresholds, which learned from less, and would raise far fewer alarms than asked for.
    Only where each of them misses a section or a domain altogether is everything trained on.
    """
    parts = [part for part in divided(clips.recordings, config.decision.folds, config.seed) if part]
    kept: tuple[int, System] | None = None
    scores: list[Scores] = []
    for number, part in enumerate(parts, start=1):
        rest = clips.without(part)
        if not len(rest) or system_class(config.system).refusal(rest.recordings, config):
            continue  # the rest is too little to learn from: these clips set no threshold
        whole = kept is None and _groups(rest) == _groups(clips)
        system = fit(rest, "training" if whole else f"fold {number} of {len(parts)}")
        if whole:
            kept = len(scores), system
        scores.append(_scores(system, clips.only(part), reporter))
    if not scores:
        raise SsdptError(
            f"too few clips of each machine ID to set a threshold for system {config.system}; "
            f"record more of them{_or_use(system_class(config.system).fallback)}"
        )
    place, system = kept or (None, fit(clips, "training"))
    return system, aligned(scores, place)


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


def _mean_spectra(clips: FeatureView, config: Config) -> dict[str, list[float]]:
    """The mean log-mel of every section, (bins,) in dB."""
    means: defaultdict[str, list[np.ndarray]] = defaultdict(list)
    for recording, frames in clips.clips():
        log_mels = frames[:, : config.features.n_mels]
        means[recording.section].append(log_mels.mean(0, dtype=np.float64))
    return {
        section: [round(float(level), 1) for level in np.mean(group, axis=0)]
        for section, group in sorted(means.items())
    }


def _identity(config: Config, recordings: Sequence[Recording], digests: list[str]) -> str:
    """Changes with anything that would change the fitted weights."""
    # Of the decision only what divides the clips into training and held-out ones.
    division = {"held_out", "min_held_out", "cross_fit_below", "folds"}
    settings = config.model_dump(exclude={"device", "decision"})
    settings["decision"] = config.decision.model_dump(include=division)
    classes = sorted((item.path.name, item.section, item.attribute_text) for item in recordings)
    text = json.dumps([__version__, settings, sorted(digests), classes], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
