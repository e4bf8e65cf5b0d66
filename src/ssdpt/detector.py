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
from typing import Self

import numpy as np

from ssdpt.card import model_card
from ssdpt.config import Config, load_config
from ssdpt.data import audio
from ssdpt.data.layouts import read_layout, recording_of
from ssdpt.errors import SsdptError
from ssdpt.features.logmel import LogMel, mel_frequencies
from ssdpt.fitting import Fitted, fit_machine, score_by_rule
from ssdpt.progress import SILENT, Reporter
from ssdpt.scoring.calibrate import Calibration
from ssdpt.storage import StoredModel, read_model, write_calibration, write_model
from ssdpt.systems import system_class
from ssdpt.systems.base import System
from ssdpt.training.log import LOG_FILE
from ssdpt.training.loop import choose_device
from ssdpt.types import Floats, Recording, Score

Source = str | os.PathLike[str]


class Detector:
    """Judges clips of one machine. Scores: higher = more anomalous."""

    def __init__(self, system: System, stored: StoredModel, log: str = "") -> None:
        self._system = system
        self._stored = stored
        self._log = log
        self._front_end = LogMel(stored.config.features, stored.config.audio.sample_rate)

    @classmethod
    def fit(
        cls,
        source: Source | Sequence[Recording],
        *,
        config: Config | str = "fast",
        machine: str | None = None,
        work: Path | None = None,
        resume: bool = False,
        strict: bool = False,
        reporter: Reporter = SILENT,
    ) -> Self:
        """Learn the normal sound of one machine.

        `source` is a folder in any known layout, a CSV manifest, or a list of recordings; where
        it holds several machines, `machine` names one. `config` is a preset's name or a whole
        configuration. `work` keeps checkpoints, from which `resume` goes on.
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
            )
        return cls(fitted.system, fitted.stored, fitted.log)

    @classmethod
    def load(cls, folder: Source, *, device: str = "auto") -> Self:
        """Read a model folder. Nothing in it is ever run as code."""
        stored = read_model(Path(folder))
        try:
            system = system_class(stored.config.system).restore(
                stored.config, stored.sections, stored.arrays, stored.description
            )
        except (KeyError, ValueError, TypeError) as error:
            raise SsdptError(
                f"{folder}: the model's files do not belong together; copy or fit it again"
            ) from error
        system.to(choose_device(device))
        log = Path(folder) / LOG_FILE
        text = log.read_text("utf-8", errors="replace") if log.is_file() else ""
        return cls(system, stored, text)

    def save(self, folder: Source) -> None:
        """Write the model folder, whole or not at all."""
        extra = {LOG_FILE: self._log} if self._log else {}
        write_model(Path(folder), self._stored, model_card(self._stored), extra)

    def score(self, path: Source, *, section: str | None = None, strict: bool = False) -> Score:
        """Judge one recording of any length.

        `section` is its machine ID; where it is not given, the file's name and folders tell it.
        """
        recording = self._described(Path(path), section)

        def frames() -> Iterator[Floats]:
            return self._frame_blocks(recording.path, strict)

        clip, known = score_by_rule(self._system, frames, recording.section)
        notes = self._reading_notes(recording)
        if not known:
            notes.append(self._unknown_note(recording.section))
        tail_section = recording.section if known else None
        alert, _ = self.calibration.thresholds(tail_section)
        return Score(
            path=str(path),
            machine=self.machine,
            section=recording.section,
            value=clip.value,
            threshold=alert,
            level=self.calibration.level(clip.value, tail_section),
            p_value=self.calibration.tail(tail_section).p_value(clip.value),
            parts=clip.parts,
            timeline=clip.timeline,
            notes=tuple(notes),
        )

    def calibrate(self, false_alarm_rate: float) -> None:
        """Move the thresholds to another rate of false alarms; nothing is retrained."""
        if not 0 < false_alarm_rate < 1:
            raise SsdptError(
                f"a false-alarm rate lies between 0 and 1, e.g. 0.01; not {false_alarm_rate:g}"
            )
        calibration = replace(self.calibration, false_alarm_rate=false_alarm_rate)
        self._stored = replace(self._stored, calibration=calibration)

    def save_calibration(self, folder: Source) -> None:
        """Write the thresholds into the folder the model was loaded from."""
        write_calibration(Path(folder), self.calibration, model_card(self._stored))

    def audio(self, path: Source) -> Floats:
        """The samples as the detector hears them: (samples,) at `sample_rate`."""
        return np.concatenate(list(self._sample_blocks(Path(path))))

    def frames(self, path: Source) -> Floats:
        """The log-mel of a recording, (frames, bins) in dB."""
        return np.concatenate(list(self._frame_blocks(Path(path))))

    def anomaly_map(self, path: Source, *, section: str | None = None) -> Floats:
        """Where in time and frequency a recording is odd, (frames, bins), ≥ 0."""
        recording = self._described(Path(path), section)
        frames = self.frames(path)
        known = recording.section in self.sections
        _, best = min(
            (self._system.score([frames], name).value, name)
            for name in ([recording.section] if known else self.sections)
        )
        return self._system.anomaly_map(frames, best)

    @property
    def machine(self) -> str:
        return self._stored.machine

    @property
    def sections(self) -> tuple[str, ...]:
        """The machine IDs it knows."""
        return self._stored.sections

    @property
    def config(self) -> Config:
        return self._stored.config

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
    def false_alarm_rate(self) -> float:
        return self.calibration.false_alarm_rate

    @property
    def fingerprint(self) -> frozenset[str]:
        """Content digests of every recording that training or thresholds have heard."""
        return frozenset(self._stored.heard)

    @property
    def sample_rate(self) -> int:
        return self.config.audio.sample_rate

    @property
    def frame_seconds(self) -> float:
        return self._front_end.frame_seconds

    @property
    def mel_frequencies(self) -> Floats:
        """Centre frequencies in Hz of the mel bins."""
        return mel_frequencies(self.config.features, self.sample_rate)

    def _described(self, path: Path, section: str | None) -> Recording:
        """What is known of a clip; where nothing tells the ID and there is only one, it is that."""
        recording = recording_of(path)
        told = recording.section if section is None else section
        only = self.sections[0] if len(self.sections) == 1 else ""
        return replace(recording, section=told or only)

    def _sample_blocks(self, path: Path, strict: bool = False) -> Iterator[Floats]:
        settings = self.config.audio
        return audio.stream(path, settings.sample_rate, settings.channel, strict=strict)

    def _frame_blocks(self, path: Path, strict: bool = False) -> Iterator[Floats]:
        return self._front_end.stream(self._sample_blocks(path, strict))

    def _reading_notes(self, recording: Recording) -> list[str]:
        info = audio.probe(recording.path)
        settings = self.config.audio
        notes = []
        if info.sample_rate != settings.sample_rate:
            notes.append(f"resampled from {info.sample_rate} Hz to {settings.sample_rate} Hz")
        if info.channels > 1:
            notes.append(f"channel {settings.channel} of {info.channels}")
        least = self._system.segment_frames * self.frame_seconds
        if info.seconds < least:
            notes.append(f"{info.seconds:.2f} s, shorter than a segment ({least:.2f} s): repeated")
        return notes

    def _unknown_note(self, section: str) -> str:
        which = f"ID {section} was not in training" if section else "no machine ID is told"
        return f"{which}: scored against the ID that suits it best"


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
