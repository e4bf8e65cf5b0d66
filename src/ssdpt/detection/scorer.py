"""From a clip's score to a result: thresholds, notes, and the rule for an unknown machine ID.

Fitted and exported models share this code, so they decide alike. Needs no torch.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.config.settings import AudioConfig
from ssdpt.data.audio import AudioInfo, AudioReader, open_audio
from ssdpt.data.layouts import recording_of
from ssdpt.detection.frame_scorer import FrameScorer
from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd
from ssdpt.scoring.calibrate import Calibration
from ssdpt.scoring.section_score import SectionScore, score_known_or_best_section
from ssdpt.types import Clip, Floats, Recording, Score, Sound

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class PendingClip:
    """A clip that is decoded and turned into frames, but not scored yet."""

    recording: Recording
    info: AudioInfo
    frames: Floats  # (frames, bins)


class Scorer(ABC):
    """Scores clips of one machine. Scores: higher = more anomalous.

    A clip is a sound file by its path, a `Recording` of a data set, or a `Clip` in memory.
    """

    def score(self, sound: Sound, *, section: str | None = None, strict: bool = False) -> Score:
        """Score one clip of any length.

        `section` is its machine ID; where it is not given, the clip itself has it, or the file's
        name and folders. With `strict`, another sample rate than the model's is refused.
        """
        recording = self._recording(sound, section)
        with open_audio(recording) as reader:
            return self._result(recording, reader.info, self._section_score(reader, strict))

    def start_scoring(
        self, recording: Recording, reader: AudioReader, *, strict: bool = False
    ) -> Score | PendingClip:
        """As much of `score` as is best done on a thread, while others do the same.

        That is all of it, except where a device wants several clips at once (`score_pending`).
        """
        recording = self._recording(recording, None)
        return self._result(recording, reader.info, self._section_score(reader, strict))

    def score_pending(self, clips: Sequence[PendingClip]) -> list[Score]:
        """Score clips in one batch of which `start_scoring` has only computed the frames."""
        scores = self.frame_scorer.score_frames([clip.frames for clip in clips])
        return [
            self._result(clip.recording, clip.info, score_as)
            for clip, score_as in zip(clips, scores, strict=True)
        ]

    def audio(self, sound: Sound) -> Floats:
        """The samples that the model works on: (samples,) at `sample_rate`."""
        with open_audio(_audio_source(sound)) as reader:
            return np.concatenate(list(self._sample_blocks(reader)))

    def frames(self, sound: Sound) -> Floats:
        """What the model takes of a clip, (frames, bins): for most its log-mel in dB."""
        with open_audio(_audio_source(sound)) as reader:
            return np.concatenate(list(self._frame_blocks(reader)))

    def anomaly_map(self, sound: Sound, *, section: str | None = None) -> Floats:
        """Where in time and frequency a clip is unusual, (frames, bins), ≥ 0."""
        recording = self._recording(sound, section)
        return self.frame_scorer.anomaly_map(self.frames(recording), recording.section)

    def calibrate(self, false_alarm_rate: float) -> None:
        """Set the thresholds for another rate of false alarms; nothing is retrained."""
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
    def provisional(self) -> str:
        """What its thresholds rest on if no other day has confirmed them; empty if one has."""
        tails = [self.calibration.tail(section) for section in self.sections]
        if not any(tail.provisional for tail in tails):
            return ""
        count = self.calibration.pooled.recordings
        return "a single recording" if count == 1 else f"{count} recordings"

    @property
    @abstractmethod
    def system_name(self) -> str: ...

    @property
    def adapts(self) -> bool:
        """Whether it can take up further normal clips."""
        return False

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes on every score it gives."""
        return ()

    @property
    @abstractmethod
    def fingerprint(self) -> frozenset[str]:
        """Content digests of every recording that training or thresholds were made from."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """Which model it is: changes with what it learned from, how it was made, how it scores."""

    @property
    @abstractmethod
    def audio_settings(self) -> AudioConfig:
        """The sample rate and the channel that it works on."""

    @property
    def sample_rate(self) -> int:
        return self.audio_settings.sample_rate

    @property
    @abstractmethod
    def front_end(self) -> FrontEnd:
        """What turns samples into frames."""

    @property
    @abstractmethod
    def frame_scorer(self) -> FrameScorer:
        """What scores frames, for sound that comes as a stream."""

    @property
    def frame_seconds(self) -> float:
        """From one frame to the next."""
        return self.front_end.frame_seconds

    @property
    def frequencies(self) -> Floats:
        """Hz of every bin of `frames`; empty where bins are no frequencies."""
        return self.front_end.frequencies

    @property
    @abstractmethod
    def segment_seconds(self) -> float:
        """A shorter clip is repeated to fill one segment."""

    @property
    @abstractmethod
    def explains(self) -> bool:
        """Whether it has an `anomaly_map`."""

    @abstractmethod
    def card(self) -> str:
        """The model card, in Markdown."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What it is, as plain JSON values."""

    @property
    def model_bytes(self) -> int | None:
        """The size of everything learned; None where it is not known."""
        return None

    def _repr_html_(self) -> str:
        """The card that a notebook shows."""
        from ssdpt.detection.notebook_card import scorer_html

        return scorer_html(self)

    @abstractmethod
    def save_calibration(self, folder: PathLike) -> None:
        """Write the thresholds into the folder the model was loaded from."""

    @abstractmethod
    def _set_calibration(self, calibration: Calibration) -> None: ...

    @abstractmethod
    def _section_score(self, reader: AudioReader, strict: bool) -> SectionScore:
        """How an open recording scores as each of the sections."""

    def _sample_blocks(self, reader: AudioReader, strict: bool = False) -> Iterator[Floats]:
        return reader.model_input(self.audio_settings, strict=strict)

    def _frame_blocks(self, reader: AudioReader, strict: bool = False) -> Iterator[Floats]:
        return self.front_end.stream(self._sample_blocks(reader, strict))

    def _recording(self, sound: Sound, section: str | None) -> Recording:
        """What is known of a clip; a model of one machine ID takes every clip as of that one."""
        if isinstance(sound, Recording):
            recording = sound
        elif isinstance(sound, Clip):
            recording = Recording.of_clip(sound, self.machine)
        else:
            recording = recording_of(Path(sound))
        only = self.sections[0] if len(self.sections) == 1 else ""
        chosen = recording.section if section is None else section
        return replace(recording, section=chosen or only)

    def _result(self, recording: Recording, info: AudioInfo, score_as: SectionScore) -> Score:
        clip, known = score_known_or_best_section(score_as, self.sections, recording.section)
        if not math.isfinite(clip.value):  # it would pass for normal
            raise SsdptError(
                f"{recording.path}: its score is not a finite number; the model of {self.machine} "
                "is damaged: copy or fit it again"
            )
        notes = [*self._reading_notes(info), *self.remarks]
        if recording.snapshots:
            notes.append(f"{len(recording.snapshots)} snapshots end to end, from this one on")
        if not known:
            notes.append(_unknown_note(recording.section))
        tail_section = recording.section if known else None
        alert, _ = self.calibration.thresholds(tail_section)
        return Score(
            path=str(recording.path),
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

    def _reading_notes(self, info: AudioInfo) -> list[str]:
        settings = self.audio_settings
        notes = []
        if info.sample_rate != settings.sample_rate:
            notes.append(f"resampled from {info.sample_rate} Hz to {settings.sample_rate} Hz")
        if info.channels > 1:
            kind = "axis" if isinstance(settings.channel, str) else "channel"
            notes.append(f"{kind} {settings.channel} of {info.channels}")
        if info.unit and info.unit != settings.unit:
            notes.append(f"converted from {info.unit} to {settings.unit}")
        least = self.segment_seconds
        if info.seconds < least - self.frame_seconds:  # the last frame is centred on the end
            notes.append(f"{info.seconds:.2f} s, shorter than a segment ({least:.2f} s): repeated")
        return notes


def _audio_source(sound: Sound) -> Path | Recording | Clip:
    return sound if isinstance(sound, Recording | Clip) else Path(sound)


def _unknown_note(section: str) -> str:
    reason = f"ID {section} was not in training" if section else "no machine ID was given"
    return f"{reason}: scored against the ID that suits it best"
