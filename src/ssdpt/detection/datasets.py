"""Recordings as data sets of PyTorch, for experiments with networks and losses of one's own.

    segments = SegmentDataset("plant", length=64, hop=32)
    for values, labels in DataLoader(segments, batch_size=128, shuffle=True, num_workers=4):
        loss = criterion(network(values), labels.target)      # values (batch, 64, 128) in dB

The numbers are those that detectors learn from, out of the same memory-mapped cache: computed once,
shared by all workers. Whether a clip is normal is not among the labels, since nothing may be
trained with that; `dataset.recordings[labels.recording]` says it to those who evaluate.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config, load_config
from ssdpt.data.layouts import read_layout
from ssdpt.detection.detector import Detector
from ssdpt.detection.recording_settings import settings_for
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet, features_of
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.logmel import LogMel
from ssdpt.features.segments import Segments
from ssdpt.features.waveform import Waveform
from ssdpt.types import Recording

Source = str | os.PathLike[str] | Sequence[Recording]
Values = Literal["log-mel", "samples"] | FrontEnd
ClassPart = Literal["machine", "section", "domain", "attributes"]


class Labels(NamedTuple):
    """What is known of one item; of a batch, each field is a tensor or a list."""

    target: int  # the number of its class: `dataset.classes[target]`
    machine: str
    section: str  # the machine ID
    domain: str
    attributes: str  # in the form speed=2,load=high
    recording: int  # the number of its recording: `dataset.recordings[recording]`
    start: float  # seconds from the beginning of the recording


class ClipDataset(Dataset[tuple[Tensor, Labels]]):
    """Whole recordings with their labels, for PyTorch, in the order in which they are given.

    `source` is a folder in any known layout, a CSV manifest, or a list of recordings. An item is
    `(values, labels)`. `values` names what the float32 values are: `log-mel`, (frames, bins) in dB;
    `samples`, (samples,) of full scale ±1; or the frames of a front end, as `detector.front_end`.
    `config` gives rate, channel and features: a preset, a whole configuration, or a detector, whose
    own settings are taken. `classes` says what recordings of one class have in common.

    A DataLoader makes batches of clips of equal length; others need a `collate_fn` or batches of 1.
    """

    def __init__(
        self,
        source: Source,
        *,
        config: Config | str | Detector = "default",
        values: Values = "log-mel",
        classes: Sequence[ClassPart] = ("machine", "section"),
        reporter: Reporter = SILENT,
    ) -> None:
        self._given = _recordings(source, reporter)
        settings = _settings(config, self._given)
        self._audio = settings.audio
        self._front_end = _front_end(values, settings)
        self._features: FeatureSet = self._frames(reporter)
        for recording, reason in self.failures:
            reporter.warn(f"{recording.path.name} is left out: {reason}")
        if not self.recordings:
            reason = f": {self.failures[0][1]}" if self.failures else ""
            raise SsdptError(f"none of the recordings can be read{reason}")
        names = [_class_of(recording, classes) for recording in self.recordings]
        self.classes = tuple(sorted(set(names)))
        number = {name: at for at, name in enumerate(self.classes)}
        self._targets = [number[name] for name in names]

    def __len__(self) -> int:
        return len(self.recordings)

    def __getitem__(self, index: int) -> tuple[Tensor, Labels]:
        clip = _checked(index, len(self))
        frames = torch.from_numpy(self._features.clip(clip))
        return self._values(frames), self._labels(clip, 0)

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """Those that can be read."""
        return self._features.recordings

    @property
    def failures(self) -> tuple[tuple[Recording, str], ...]:
        """Those that cannot be read and are left out, and why."""
        return self._features.failures

    def __getstate__(self) -> dict[str, Any]:
        """Without frames that lie in the cache: a worker process opens them there itself."""
        state = dict(self.__dict__)
        if isinstance(self._features.frames, np.memmap):
            del state["_features"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_features" not in state:
            self._features = self._frames(SILENT)

    def _frames(self, reporter: Reporter) -> FeatureSet:
        return features_of(self._given, self._audio, self._front_end, reporter=reporter)

    def _values(self, frames: Tensor) -> Tensor:
        """Frames (n, bins) as an item has them, in memory of their own."""
        own = frames.to(torch.float32, copy=True)
        return own[:, 0] if isinstance(self._front_end, Waveform) else own

    def _labels(self, clip: int, frame: int) -> Labels:
        recording = self.recordings[clip]
        return Labels(
            target=self._targets[clip],
            machine=recording.machine,
            section=recording.section,
            domain=recording.domain,
            attributes=recording.attribute_text,
            recording=clip,
            start=frame * self._front_end.frame_seconds,
        )


class SegmentDataset(ClipDataset):
    """Overlapping segments of recordings with the labels of their recording, for PyTorch.

    As `ClipDataset`, but an item is a stretch of `length` frames, (length, bins), and the next one
    begins `hop` frames later; of samples, both are numbers of samples. All segments are whole; a
    recording shorter than one is repeated to fill it.
    """

    def __init__(
        self,
        source: Source,
        *,
        length: int = 64,
        hop: int = 32,
        config: Config | str | Detector = "default",
        values: Values = "log-mel",
        classes: Sequence[ClassPart] = ("machine", "section"),
        reporter: Reporter = SILENT,
    ) -> None:
        super().__init__(source, config=config, values=values, classes=classes, reporter=reporter)
        if length < 1 or hop < 1:
            raise SsdptError(f"length {length} and hop {hop}: give numbers of at least 1")
        first, frames = self._features.all().spans()
        self._segments = Segments.of_clips(first, frames, length, hop)

    def __len__(self) -> int:
        return len(self._segments)

    def __getitem__(self, index: int) -> tuple[Tensor, Labels]:
        place = torch.tensor([_checked(index, len(self))])
        frames = torch.from_numpy(self._features.frames)
        (values,) = self._segments.gather(frames, place)
        clip, start = int(self._segments.clip[place]), int(self._segments.start[place])
        return self._values(values), self._labels(clip, start)


def _checked(index: int, count: int) -> int:
    """A position from 0; those below 0 count from the end."""
    if not -count <= index < count:
        raise IndexError(f"item {index} of {count}")
    return index % count


def _recordings(source: Source, reporter: Reporter) -> Sequence[Recording]:
    if not isinstance(source, str | os.PathLike):
        return source
    dataset = read_layout(Path(source))
    for note in dataset.notes:
        reporter.warn(note)
    return dataset.recordings


def _settings(config: Config | str | Detector, recordings: Sequence[Recording]) -> Config:
    """With a detector, its own; otherwise what a fit with these recordings would have."""
    if isinstance(config, Detector):
        return config.config
    return settings_for(recordings, load_config(config) if isinstance(config, str) else config)


def _front_end(values: Values, settings: Config) -> FrontEnd:
    if isinstance(values, FrontEnd):
        return values
    if values == "samples":
        return Waveform(settings.audio.sample_rate)
    if values == "log-mel":
        return LogMel(settings.features, settings.audio.sample_rate)
    raise SsdptError(f"values '{values}': give log-mel, samples or a front end")


def _class_of(recording: Recording, parts: Sequence[ClassPart]) -> tuple[str, ...]:
    """The name of its class."""
    names = {
        "machine": recording.machine,
        "section": recording.section,
        "domain": recording.domain,
        "attributes": recording.attribute_text,
    }
    return tuple(names[part] for part in parts)
