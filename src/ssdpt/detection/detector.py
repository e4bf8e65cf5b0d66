"""The public face: a fitted detector of one machine.

detector = Detector.fit("recordings/pump-17")
score = detector.score("today.wav")     # .value .level .p_value .parts .timeline
detector.save("models/pump-17")
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.settings import AudioConfig
from ssdpt.config.tree import Config, hop_of, load_config, with_hop
from ssdpt.data import audio
from ssdpt.data.layouts import read_layout
from ssdpt.detection.adaptation import Adaptation, adapt_model
from ssdpt.detection.card import model_card
from ssdpt.detection.fitting import Fitted, fit_machine
from ssdpt.detection.scorer import PendingClip, Scorer, Source
from ssdpt.detection.storage import StoredModel, read_model, write_calibration, write_model
from ssdpt.errors import SsdptError
from ssdpt.scoring.calibrate import Calibration
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems import system_class
from ssdpt.systems.base import System
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.training.log import LOG_FILE
from ssdpt.types import Domain, Floats, Recording, Score


class Detector(Scorer):
    """A fitted model of one machine. Scores: higher = more anomalous."""

    def __init__(self, system: System, stored: StoredModel, log: str = "") -> None:
        self._system = system
        self._stored = stored
        self._log = log

    @classmethod
    def fit(
        cls,
        source: Source | Sequence[Recording],
        *,
        config: Config | str = "best",
        machine: str | None = None,
        work: Path | None = None,
        resume: bool = False,
        strict: bool = False,
        reporter: Reporter = SILENT,
        background: SharedReference | None = None,
    ) -> Self:
        """Learn the normal sound of one machine.

        `source` is a folder in any known layout, a CSV manifest, or a list of recordings; where
        it holds several machines, `machine` names one. `config` is a preset's name or a whole
        configuration. `work` keeps checkpoints, from which `resume` goes on. `background` is what
        has been learnt of other machines.
        """
        settings = load_config(config) if isinstance(config, str) else config
        recordings = _recordings_of_one_machine(source, machine, reporter)
        place = nullcontext(work) if work else tempfile.TemporaryDirectory(prefix="ssdpt-")
        with place as folder:
            fitted: Fitted = fit_machine(
                recordings,
                settings,
                Path(folder),
                resume=resume,
                strict=strict,
                reporter=reporter,
                background=background,
            )
        return cls(fitted.system, fitted.stored, fitted.log)

    @classmethod
    def load(cls, folder: Source, *, device: str = "auto", hop: int | str | None = None) -> Self:
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
        except (KeyError, ValueError, TypeError) as error:
            raise SsdptError(
                f"{folder}: the model's files do not belong together; copy or fit it again"
            ) from error
        if system.requires_torch:
            from ssdpt.training.loop import choose_device

            system.to(choose_device(device))
        log = Path(folder) / LOG_FILE
        text = log.read_text("utf-8", errors="replace") if log.is_file() else ""
        return cls(system, stored, text)

    def save(self, folder: Source) -> None:
        """Write the model folder, whole or not at all."""
        extra = {LOG_FILE: self._log} if self._log else {}
        write_model(Path(folder), self._stored, model_card(self._stored), extra)

    def save_calibration(self, folder: Source) -> None:
        """Write the thresholds into the folder the model was loaded from."""
        write_calibration(Path(folder), self.calibration, model_card(self._stored))

    def adapt(
        self,
        clips: Sequence[Source | Recording],
        *,
        section: str | None = None,
        domain: Domain = "target",
        strict: bool = False,
        reporter: Reporter = SILENT,
    ) -> Adaptation:
        """Take further normal clips as a condition of their own; `save` writes what it is then.

        Nothing is trained again and the thresholds stay. `section` is the machine ID of all of
        them; where it is not given, names and folders tell it. Clips that may be faults are named
        in the warnings, and taken all the same.
        """
        recordings = [self._recording(clip, section) for clip in clips]

        def frames(path: Path) -> Iterator[Floats]:
            return self._frame_blocks(path, strict)

        self._stored, found = adapt_model(self._system, self._stored, recordings, frames, domain)
        for warning in found.warnings:
            reporter.warn(warning)
        return found

    def audio(self, path: Source) -> Floats:
        """The samples as the detector hears them: (samples,) at `sample_rate`."""
        return np.concatenate(list(self._sample_blocks(Path(path))))

    def frames(self, path: Source) -> Floats:
        """What the system takes of a recording, (frames, bins): for most its log-mel in dB."""
        return np.concatenate(list(self._frame_blocks(Path(path))))

    def anomaly_map(self, path: Source, *, section: str | None = None) -> Floats:
        """Where in time and frequency a recording is odd, (frames, bins), ≥ 0."""
        recording = self._described(Path(path), section)
        frames = self.frames(path)
        score_as = self._system.score_sections([frames].copy)
        _, best = min((score_as(name).value, name) for name in self._known_sections(recording))
        return self._system.anomaly_map(frames, best)

    def score_ahead(
        self, path: Source, *, section: str | None = None, strict: bool = False
    ) -> Score | PendingClip:
        """For a GPU, which one clip would not fill, only the frames; else the whole score."""
        if not self._system.on_gpu:
            return self.score(path, section=section, strict=strict)
        recording = self._described(Path(path), section)
        blocks = list(self._frame_blocks(recording.path, strict))
        return PendingClip(recording, np.concatenate(blocks))

    def score_pending(self, clips: Sequence[PendingClip]) -> list[Score]:
        """Score clips together that `score_ahead` has only heard."""
        heard = self._system.score_many([clip.frames for clip in clips])
        return [
            self._verdict(clip.recording.path, clip.recording, score_as)
            for clip, score_as in zip(clips, heard, strict=True)
        ]

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
        chosen, own = hop_of(self.config), hop_of(self._stored.config)
        return () if chosen == own else (f"hop {chosen}; its thresholds were set at hop {own}",)

    @property
    def fingerprint(self) -> frozenset[str]:
        """Content digests of every recording that training or thresholds have heard."""
        return frozenset(self._stored.heard)

    @property
    def audio_settings(self) -> AudioConfig:
        return self.config.audio

    @property
    def segment_seconds(self) -> float:
        return self._system.segment_frames * self.frame_seconds

    @property
    def explains(self) -> bool:
        return self._system.explains

    @property
    def frame_seconds(self) -> float:
        return self._system.front_end.frame_seconds

    @property
    def frequencies(self) -> Floats:
        """Hz of every bin of `frames`; empty where bins are no frequencies."""
        return self._system.front_end.frequencies

    def card(self) -> str:
        """What it is, in Markdown for people."""
        return model_card(self._stored)

    def facts(self) -> dict[str, Any]:
        """What it is, as plain JSON values."""
        return {
            "version": self._stored.version,
            "sections": list(self.sections),
            "system": {
                name: value
                for name, value in self._stored.description.items()
                if name != "mean_spectra"  # hundreds of numbers, which nobody reads
            },
            "recordings": len(self.fingerprint),
            "notes": list(self._stored.notes),
            "config": self.config.model_dump(),
        }

    def _set_calibration(self, calibration: Calibration) -> None:
        self._stored = replace(self._stored, calibration=calibration)

    def _scorer(self, path: Path, strict: bool) -> SectionScore:
        return self._system.score_sections(lambda: self._frame_blocks(path, strict))

    def _recording(self, clip: Source | Recording, section: str | None) -> Recording:
        """A clip whose ID is told by `section`, by itself, or by its name and folders."""
        if not isinstance(clip, Recording):
            return self._described(Path(clip), section)
        told = self._described(clip.path, section or clip.section or None)
        return replace(clip, section=told.section)

    def _known_sections(self, recording: Recording) -> tuple[str, ...]:
        """The sections that a clip is scored as: its own, or all where that is unknown."""
        return (recording.section,) if recording.section in self.sections else self.sections

    def _sample_blocks(self, path: Path, strict: bool = False) -> Iterator[Floats]:
        settings = self.config.audio
        return audio.stream(path, settings.sample_rate, settings.channel, strict=strict)

    def _frame_blocks(self, path: Path, strict: bool = False) -> Iterator[Floats]:
        return self._system.front_end.stream(self._sample_blocks(path, strict))


def _recordings_of_one_machine(
    source: Source | Sequence[Recording], machine: str | None, reporter: Reporter
) -> Sequence[Recording]:
    if isinstance(source, str | os.PathLike):
        dataset = read_layout(Path(source))
        for note in dataset.notes:
            reporter.warn(note)
        recordings: Iterable[Recording] = dataset.recordings
    else:
        recordings = source
    chosen = [item for item in recordings if machine is None or item.machine == machine]
    machines = sorted({item.machine for item in chosen})
    if not machines:
        raise SsdptError(f"no recordings{f' of machine {machine}' if machine else ''} were given")
    if len(machines) > 1:
        raise SsdptError(
            f"several machines ({', '.join(machines)}): name one, or fit them all as a Fleet"
        )
    return chosen
