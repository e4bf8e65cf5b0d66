"""Normal recordings of one machine to a fitted, calibrated system."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ssdpt.common.files import printable
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.tree import Config
from ssdpt.data.audio import content_digest
from ssdpt.data.recording_groups import RecordingGroups
from ssdpt.data.split import training_split
from ssdpt.detection.holding_out import cross_fit_machine, fit_and_hold_out, matching
from ssdpt.detection.recording_settings import settings_for
from ssdpt.detection.storage import StoredModel
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet, FeatureView, features_of
from ssdpt.features.copies import near_copies
from ssdpt.features.encoder import with_encoder
from ssdpt.scoring.calibrate import RecordingNumbers, calibrate
from ssdpt.systems import system_class
from ssdpt.systems.base import FitContext, System, shows_log_mels
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.training.log import LOG_FILE
from ssdpt.types import Recording
from ssdpt.version import __version__

_NAMED = 3  # files named in a warning
_FEW_CLIPS = 10
_SHORTEST_SECONDS = 1.0  # a training clip; less says too little about a machine


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
    config = with_encoder(config)
    chosen = _normal_training_recordings(recordings, config.seed, notes)
    own = settings_for(chosen, config)
    if own.audio.sample_rate != config.audio.sample_rate:
        notes.append(f"works at the recordings' own rate, {own.audio.sample_rate} Hz")
    config = _with_able_system(own, chosen, notes)
    _note_encoder(config, notes)
    if shared_reference is not None and not shared_reference.agrees_with(config):
        shared_reference = None
        notes.add("other machines have another sample rate or sensor: nothing is taken from them")
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

    groups = RecordingGroups.of(clips.recordings)
    numbers: RecordingNumbers = groups.numbers()
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
        system, scores, numbers = cross_fit_machine(clips, groups, config, fit, reporter)
    else:
        system, scores, numbers = fit_and_hold_out(clips, groups, config, fit, reporter)
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
                scores,
                config.decision,
                cross_fitted=cross_fit,
                seed=config.seed,
                recordings=matching(numbers, scores),
                at_other_times=groups.at_other_times,
                known=system.known_recording_scores(),
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

    All are of one sample rate and one kind of sensor. Of the others, recordings that are the
    machines' own, or nearly, are named and left out: they would teach the networks to call the
    machine's own sound another's.
    """
    notes = _Notes(reporter)
    config = with_encoder(config)
    silent = _Notes(SILENT)  # a machine's own recordings are commented on when it is fitted

    def clips_of(group: Sequence[Recording], group_notes: _Notes, least: int = 2) -> FeatureView:
        chosen = _normal_training_recordings(group, config.seed, group_notes)
        own = settings_for(chosen, config)  # its unit and full scale
        return _readable_clips(chosen, own, strict, group_notes, reporter, least)

    settings = settings_for(machines[0], config)
    clips = [clips_of(group, silent) for group in machines]
    kept = []
    for group in others:
        of_group = clips_of(group, notes, least=1)
        copies = near_copies(of_group, clips, settings.features.n_mels)
        names = dict.fromkeys(of_group.recordings[position].path for position in copies)
        notes.add_files("left out of the other machines, nearly the machine's own", list(names))
        if len(copies) < len(of_group):
            kept.append(of_group.without(copies))
    used = [recording for part in (*clips, *kept) for recording in dict.fromkeys(part.recordings)]
    identity = _identity(settings, used, [content_digest(recording) for recording in used])
    context = FitContext(work, identity, resume, reporter, "shared reference")
    return SharedReference.learn(clips, settings, context, kept)


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


def _note_encoder(config: Config, notes: _Notes) -> None:
    encoder = config.part(EncoderConfig)
    if not encoder.file or encoder.sidecar is None:
        return
    notes.append(f"one view is made by the encoder {printable(Path(encoder.file).name)}")
    if encoder.sidecar.sample_rate < config.audio.sample_rate:
        notes.add(
            f"the encoder takes sound at {encoder.sidecar.sample_rate} Hz: of these recordings, at "
            f"{config.audio.sample_rate} Hz, its view covers the part below "
            f"{encoder.sidecar.sample_rate // 2} Hz"
        )


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
