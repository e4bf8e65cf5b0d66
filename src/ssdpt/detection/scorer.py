"""From a clip's score to a verdict: thresholds, notes, and the rule for an unknown machine ID.

A fitted model and an exported one judge alike because they judge here. Needs no torch.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdpt.config.settings import AudioConfig
from ssdpt.data import audio
from ssdpt.data.layouts import recording_of
from ssdpt.errors import SsdptError
from ssdpt.scoring.calibrate import Calibration
from ssdpt.scoring.section_score import SectionScore, score_by_rule
from ssdpt.types import Floats, Recording, Score

Source = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class PendingClip:
    """A clip that is decoded and turned into its log-mel, but not judged yet."""

    recording: Recording
    frames: Floats  # (frames, bins) in dB


class Scorer(ABC):
    """Judges clips of one machine. Scores: higher = more anomalous."""

    def score(self, path: Source, *, section: str | None = None, strict: bool = False) -> Score:
        """Score one recording of any length.

        `section` is its machine ID; where it is not given, the file's name and folders tell it.
        """
        recording = self._described(Path(path), section)
        return self._verdict(path, recording, self._scorer(recording.path, strict))

    def score_ahead(
        self, path: Source, *, section: str | None = None, strict: bool = False
    ) -> Score | PendingClip:
        """As much of `score` as is best done on a thread, while others do the same.

        That is all of it, except where a device wants several clips at once (`score_pending`).
        """
        return self.score(path, section=section, strict=strict)

    def score_pending(self, clips: Sequence[PendingClip]) -> list[Score]:
        """Score clips together that `score_ahead` has only heard."""
        raise NotImplementedError

    def calibrate(self, false_alarm_rate: float) -> None:
        """Move the thresholds to another rate of false alarms; nothing is retrained."""
        if not 0 < false_alarm_rate < 1:
            raise SsdptError(
                f"a false-alarm rate lies between 0 and 1, e.g. 0.01; not {false_alarm_rate:g}"
            )
        self._set_calibration(replace(self.calibration, false_alarm_rate=false_alarm_rate))

    @property
    @abstractmethod
    def machine(self) -> str: ...

    @property
    @abstractmethod
    def sections(self) -> tuple[str, ...]:
        """The machine IDs it knows."""

    @property
    @abstractmethod
    def calibration(self) -> Calibration: ...

    @property
    def false_alarm_rate(self) -> float:
        return self.calibration.false_alarm_rate

    @property
    @abstractmethod
    def system_name(self) -> str: ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be known of every score it gives, beside the model itself."""
        return ()

    @property
    @abstractmethod
    def fingerprint(self) -> frozenset[str]:
        """Content digests of every recording that training or thresholds have heard."""

    @property
    @abstractmethod
    def audio_settings(self) -> AudioConfig:
        """The rate and the channel it listens at."""

    @property
    def sample_rate(self) -> int:
        return self.audio_settings.sample_rate

    @property
    @abstractmethod
    def segment_seconds(self) -> float:
        """A shorter clip is repeated to fill one segment."""

    @property
    @abstractmethod
    def explains(self) -> bool:
        """Whether it can show where in time and frequency a clip is odd."""

    @abstractmethod
    def card(self) -> str:
        """What it is, in Markdown for people."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What it is, as plain JSON values."""

    @abstractmethod
    def save_calibration(self, folder: Source) -> None:
        """Write the thresholds into the folder the model was loaded from."""

    @abstractmethod
    def _set_calibration(self, calibration: Calibration) -> None: ...

    @abstractmethod
    def _scorer(self, path: Path, strict: bool) -> SectionScore:
        """How a recording is scored as each of the sections."""

    def _described(self, path: Path, section: str | None) -> Recording:
        """What is known of a clip; where nothing tells the ID and there is only one, it is that."""
        recording = recording_of(path)
        told = recording.section if section is None else section
        only = self.sections[0] if len(self.sections) == 1 else ""
        return replace(recording, section=told or only)

    def _verdict(self, path: Source, recording: Recording, score_as: SectionScore) -> Score:
        clip, known = score_by_rule(score_as, self.sections, recording.section)
        notes = [*self._reading_notes(recording), *self.remarks]
        if not known:
            notes.append(_unknown_note(recording.section))
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

    def _reading_notes(self, recording: Recording) -> list[str]:
        info = audio.probe(recording.path)
        settings = self.audio_settings
        notes = []
        if info.sample_rate != settings.sample_rate:
            notes.append(f"resampled from {info.sample_rate} Hz to {settings.sample_rate} Hz")
        if info.channels > 1:
            notes.append(f"channel {settings.channel} of {info.channels}")
        least = self.segment_seconds
        if info.seconds < least:
            notes.append(f"{info.seconds:.2f} s, shorter than a segment ({least:.2f} s): repeated")
        return notes


def _unknown_note(section: str) -> str:
    which = f"ID {section} was not in training" if section else "no machine ID is told"
    return f"{which}: scored against the ID that suits it best"
