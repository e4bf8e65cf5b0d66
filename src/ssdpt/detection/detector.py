"""The public interface: a fitted detector of one machine.

detector = Detector.fit("recordings/pump-17")
score = detector.score("today.wav")     # .value .level .p_value .parts .timeline
detector.save("models/pump-17")
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.settings import AudioConfig
from ssdpt.config.tree import Config, hop_of, load_config, with_hop
from ssdpt.data.audio import AudioReader, open_audio
from ssdpt.data.layouts import read_layout
from ssdpt.detection.adaptation import Adaptation, Frames, adapt_model
from ssdpt.detection.card import model_card
from ssdpt.detection.commissioning import Commissioning, Confirm, commission_model
from ssdpt.detection.fitting import Fitted, fit_machine
from ssdpt.detection.frame_scorer import FrameScorer, SystemFrameScorer
from ssdpt.detection.scorer import PathLike, PendingClip, Scorer
from ssdpt.detection.storage import DAMAGE, StoredModel, read_model, write_calibration, write_model
from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd
from ssdpt.scoring.calibrate import Calibration
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems import system_class
from ssdpt.systems.base import System
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.training.log import LOG_FILE
from ssdpt.types import Clip, Domain, Floats, Recording, Score, Sound


class Detector(Scorer):
    """A fitted model of one machine. Scores: higher = more anomalous."""

    def __init__(self, system: System, stored: StoredModel, log: str = "") -> None:
        self._system = system
        self._stored = stored
        self._log = log

    @classmethod
    def fit(
        cls,
        source: PathLike | Sequence[Recording] | Sequence[Clip],
        *,
        config: Config | str = "default",
        machine: str | None = None,
        work: Path | None = None,
        resume: bool = False,
        strict: bool = False,
        reporter: Reporter = SILENT,
        shared_reference: SharedReference | None = None,
    ) -> Self:
        """Learn the normal sound of one machine.

        `source` is a folder in any known layout, a CSV manifest, or a list of recordings; where
        it holds several machines, `machine` names one. It may also be a list of normal clips in
        memory, of the machine that `machine` names: of these no sound is written anywhere.
        `config` is a preset's name or a whole configuration. `work` keeps checkpoints, from which
        `resume` continues. `shared_reference` is what has been learned of other machines.
        """
        settings = load_config(config) if isinstance(config, str) else config
        recordings = _recordings_of_one_machine(source, machine, reporter)
        working = nullcontext(work) if work else tempfile.TemporaryDirectory(prefix="ssdpt-")
        with working as folder:
            fitted: Fitted = fit_machine(
                recordings,
                settings,
                Path(folder),
                resume=resume,
                strict=strict,
                reporter=reporter,
                shared_reference=shared_reference,
            )
        return cls(fitted.system, fitted.stored, fitted.log)

    @classmethod
    def load(cls, folder: PathLike, *, device: str = "auto", hop: int | str | None = None) -> Self:
        """Read a model folder. Nothing in it is ever run as code.

        `hop`, a number of frames or `auto`, replaces the model's own for as long as it is loaded;
        its thresholds stay, and `save` writes it as it was.
        """
        stored = read_model(Path(folder))
        config = stored.config if hop is None else with_hop(stored.config, hop)
        try:
            system = system_class(config.system).restore(
                config, stored.sections, stored.arrays, stored.description
            )
        except DAMAGE as error:
            raise SsdptError(
                f"{folder}: the model's files do not belong together; copy or fit it again"
            ) from error
        if system.requires_torch:
            from ssdpt.training.loop import choose_device

            system.to(choose_device(device))
        log = Path(folder) / LOG_FILE
        text = log.read_text("utf-8", errors="replace") if log.is_file() else ""
        return cls(system, stored, text)

    def save(self, folder: PathLike) -> None:
        """Write the model folder, whole or not at all."""
        extra = {LOG_FILE: self._log} if self._log else {}
        write_model(Path(folder), self._stored, model_card(self._stored), extra)

    def save_calibration(self, folder: PathLike) -> None:
        """Write the thresholds into the folder the model was loaded from."""
        write_calibration(Path(folder), self.calibration, model_card(self._stored))

    def adapt(
        self,
        clips: Sequence[Sound],
        *,
        section: str | None = None,
        domain: Domain = "target",
        strict: bool = False,
        reporter: Reporter = SILENT,
    ) -> Adaptation:
        """Take further normal clips as a condition of their own; `save` writes the changed model.

        Nothing is trained again and the thresholds stay. `section` is the machine ID of all of
        them; where it is not given, the clips have it, or names and folders. Clips that may be
        faults are named in the warnings, and taken all the same.
        """
        recordings = [self._recording(clip, section) for clip in clips]
        self._stored, adaptation = adapt_model(
            self._system, self._stored, recordings, self._frames_of(strict), domain
        )
        for warning in adaptation.warnings:
            reporter.warn(warning)
        return adaptation

    def commission(
        self,
        clips: Sequence[Sound],
        *,
        section: str | None = None,
        domain: Domain = "source",
        confirm: Confirm | None = None,
        strict: bool = False,
        reporter: Reporter = SILENT,
    ) -> Commissioning:
        """Take clips of another day as normal, and set the thresholds by them; `save` writes it.

        Give about ten clips of each machine ID. `confirm` is asked where they differ from what was
        learned, and answers whether the machine is healthy. Without a yes, or anybody to ask,
        nothing is learned.
        """
        recordings = [self._recording(clip, section) for clip in clips]
        self._stored, commissioning = commission_model(
            self._system,
            self._stored,
            recordings,
            self._frames_of(strict),
            domain=domain,
            date=datetime.now(UTC).date().isoformat(),
            confirm=confirm or (lambda question: False),
        )
        for warning in commissioning.warnings:
            reporter.warn(warning)
        return commissioning

    def embeddings(self, sound: Sound, *, section: str | None = None) -> dict[str, Floats]:
        """What a clip is compared by with normal clips: for each view of the sound, (rows, d).

        Clips are compared by Euclidean distances between their rows: a row describes a second, or
        the whole clip. `section` is as in `score`; where it is not known, the first one is taken.
        """
        recording = self._recording(sound, section)
        known = recording.section if recording.section in self.sections else self.sections[0]
        with open_audio(recording) as reader:
            return self._system.embeddings(self._frame_blocks(reader), known)

    def start_scoring(
        self, recording: Recording, reader: AudioReader, *, strict: bool = False
    ) -> Score | PendingClip:
        """For a GPU, which one clip would not fill, only the frames; else the whole score."""
        if not self._system.on_gpu:
            return super().start_scoring(recording, reader, strict=strict)
        frames = np.concatenate(list(self._frame_blocks(reader, strict)))
        return PendingClip(self._recording(recording, None), reader.info, frames)

    @property
    def machine(self) -> str:
        return self._stored.machine

    @property
    def sections(self) -> tuple[str, ...]:
        """The machine IDs it knows."""
        return self._stored.sections

    @property
    def system(self) -> System:
        """What scores frames."""
        return self._system

    @property
    def config(self) -> Config:
        """The settings it scores with."""
        return self._system.config

    @property
    def stored(self) -> StoredModel:
        """Everything the model folder holds."""
        return self._stored

    @property
    def calibration(self) -> Calibration:
        return self._stored.calibration

    @property
    def system_name(self) -> str:
        return self._system.name

    @property
    def remarks(self) -> tuple[str, ...]:
        chosen, fitted = hop_of(self.config), hop_of(self._stored.config)
        if chosen == fitted:
            return ()
        return (f"hop {chosen}; its thresholds were set at hop {fitted}",)

    @property
    def fingerprint(self) -> frozenset[str]:
        """Content digests of every recording that training or thresholds were made from."""
        return frozenset(self._stored.recordings_seen)

    @property
    def digest(self) -> str:
        """Which model it is: by what it learned from, how it was made, and how it scores."""
        parts = [
            *sorted(self.fingerprint),
            self._stored.version,
            self.config.model_dump_json(exclude={EncoderConfig.key}),
            self.config.part(EncoderConfig).digest,  # wherever its file lies
            repr(self.calibration.pooled),
        ]
        return hashlib.blake2b("".join(parts).encode(), digest_size=16).hexdigest()

    @property
    def audio_settings(self) -> AudioConfig:
        return self.config.audio

    @property
    def segment_seconds(self) -> float:
        return self._system.segment_frames * self.frame_seconds

    @property
    def model_bytes(self) -> int:
        return sum(array.nbytes for array in self._stored.arrays.values())

    @property
    def explains(self) -> bool:
        return self._system.explains

    @property
    def adapts(self) -> bool:
        return self._system.adapts

    @property
    def front_end(self) -> FrontEnd:
        return self._system.front_end

    @cached_property
    def frame_scorer(self) -> FrameScorer:
        """What scores frames, for sound that comes as a stream."""
        return SystemFrameScorer(self._system)

    def card(self) -> str:
        """The model card, in Markdown."""
        return model_card(self._stored)

    def facts(self) -> dict[str, Any]:
        """What it is, as plain JSON values."""
        return {
            "version": self._stored.version,
            "sections": list(self.sections),
            "system": {
                name: value
                for name, value in self._stored.description.items()
                if name != "mean_spectra"  # hundreds of numbers, of no use to a reader
            },
            "recordings": len(self.fingerprint),
            "notes": list(self._stored.notes),
            "config": self.config.model_dump(),
        }

    def _set_calibration(self, calibration: Calibration) -> None:
        self._stored = replace(self._stored, calibration=calibration)

    def _frames_of(self, strict: bool) -> Frames:
        """What reads a recording as blocks of frames."""

        def frames(recording: Recording) -> Iterator[Floats]:
            with open_audio(recording) as reader:
                yield from self._frame_blocks(reader, strict)

        return frames

    def _section_score(self, reader: AudioReader, strict: bool) -> SectionScore:
        return self._system.score_sections(lambda: self._frame_blocks(reader, strict))


def _recordings_of_one_machine(
    source: PathLike | Sequence[Recording] | Sequence[Clip], machine: str | None, reporter: Reporter
) -> Sequence[Recording]:
    if isinstance(source, str | os.PathLike):
        dataset = read_layout(Path(source))
        for note in dataset.notes:
            reporter.warn(note)
        recordings: Sequence[Recording] = dataset.recordings
    else:
        recordings = [item for item in source if isinstance(item, Recording)]
        clips = [item for item in source if isinstance(item, Clip)]
        if clips and recordings:
            raise SsdptError("sound files and clips in memory were given together; give one kind")
        recordings = recordings or _training_recordings(clips, machine or "machine")
    chosen = [item for item in recordings if machine is None or item.machine == machine]
    machines = sorted({item.machine for item in chosen})
    if not machines:
        raise SsdptError(f"no recordings{f' of machine {machine}' if machine else ''} were given")
    if len(machines) > 1:
        raise SsdptError(
            f"several machines ({', '.join(machines)}): name one, or fit them all as a Fleet"
        )
    return chosen


def _training_recordings(clips: Sequence[Clip], machine: str) -> list[Recording]:
    """Normal clips to learn from; where names repeat, numbers make them unique."""
    names = [clip.name for clip in clips]
    if len(set(names)) < len(names):
        names = [f"{name}-{number:04d}" for number, name in enumerate(names)]
    recordings = (
        Recording.of_clip(clip, machine, name) for clip, name in zip(clips, names, strict=True)
    )
    return [replace(item, split="train", label="normal") for item in recordings]
