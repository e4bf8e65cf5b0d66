"""The nouns that travel between the packages. Imports nothing of ours but the error.

Only where a notebook asks for `_repr_html_` is what draws it imported.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ssdpt.errors import SsdptError

Floats = NDArray[np.float32]

Domain = Literal["source", "target"]
Split = Literal["train", "test", "supplemental", ""]
Label = Literal["normal", "anomaly", ""]
Level = Literal["normal", "alert", "alarm"]
Unit = Literal["", "g", "m/s²", "mm/s", "Pa"]  # of a sensor; empty = not calibrated
Attributes = tuple[tuple[str, str], ...]

VIBRATION_UNITS: frozenset[Unit] = frozenset({"g", "m/s²", "mm/s"})
"""Units of a sensor that sits on the machine; Pa is a calibrated microphone."""

_SLOWEST_RATE, _FASTEST_RATE = 100, 10_000_000  # Hz; outside, it is not a sample rate
_LARGEST_SAMPLE = 10.0  # filters overshoot full scale a little; integers lie far above


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Sound or vibration in memory: one channel, full scale = ±1.

    It is taken wherever a sound file is: `detector.score(Clip(samples, 48000))`. `name` stands for
    the file name in results and messages. A sample of 1 means `full_scale` in the `unit`; without
    a unit, what it means to the model.
    """

    samples: Floats  # (samples,)
    sample_rate: int  # Hz
    section: str = ""  # the machine ID; empty where it is not known
    domain: Domain = "source"
    attributes: Attributes = ()
    name: str = "clip"
    unit: Unit = ""
    full_scale: float = 1.0

    def __post_init__(self) -> None:
        samples = np.asarray(self.samples)
        if samples.ndim != 1:
            shape = "×".join(map(str, samples.shape)) or "a single number"
            raise SsdptError(
                f"{self.name}: samples are {shape}; give one channel, e.g. samples[:, 0]"
            )
        if not len(samples):
            raise SsdptError(f"{self.name}: holds no samples; give some seconds of sound")
        if not np.issubdtype(samples.dtype, np.floating):
            raise SsdptError(
                f"{self.name}: samples are of type {samples.dtype}; give floats of full scale ±1, "
                "e.g. int16 samples / 32768"
            )
        if not np.isfinite(samples).all():
            raise SsdptError(f"{self.name}: some samples are not numbers (NaN or infinite)")
        if (largest := float(np.abs(samples).max())) > _LARGEST_SAMPLE:
            raise SsdptError(f"{self.name}: the largest sample is {largest:.4g}; full scale is ±1")
        if not _SLOWEST_RATE <= self.sample_rate <= _FASTEST_RATE:
            raise SsdptError(
                f"{self.name}: {self.sample_rate} Hz is not a sample rate; from {_SLOWEST_RATE} to "
                f"{_FASTEST_RATE} Hz are taken"
            )
        object.__setattr__(self, "samples", np.ascontiguousarray(samples, np.float32))

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.sample_rate

    @property
    def digest(self) -> str:
        """A content hash: the same samples at the same rate have the same one."""
        content = hashlib.blake2b(f"{self.sample_rate}:".encode(), digest_size=16)
        content.update(self.samples.data)
        return content.hexdigest()

    def _repr_html_(self) -> str:
        from ssdpt.notebook.recording import recording_html

        return recording_html(self)


@dataclass(frozen=True, slots=True)
class Recording:
    """One sound file and what its layout says about it, or a clip in memory.

    `section` is the machine ID of the paper. `section`, `split` and `label` are empty where the
    layout has none. `fault` names the anomaly where a folder or a manifest does. Of a clip in
    memory, `path` is only a name. Short `snapshots` are laid end to end; `path` is the first.
    """

    path: Path
    machine: str
    section: str = ""
    domain: Domain = "source"
    split: Split = ""
    label: Label = ""
    attributes: Attributes = ()
    fault: str = ""
    snapshots: tuple[Path, ...] = ()
    clip: Clip | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_clip(cls, clip: Clip, machine: str, name: str = "") -> Recording:
        """A clip in memory; `name` replaces its own, e.g. to tell many apart."""
        return cls(
            path=Path(name or clip.name),
            machine=machine,
            section=clip.section,
            domain=clip.domain,
            attributes=clip.attributes,
            clip=clip,
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it is made of; none for a clip in memory."""
        return () if self.clip is not None else self.snapshots or (self.path,)

    @property
    def attribute_text(self) -> str:
        """The attributes in the form `speed=2,load=high`; empty where there are none."""
        return ",".join(f"{name}={value}" for name, value in self.attributes)

    def _repr_html_(self) -> str:
        from ssdpt.notebook.recording import recording_html

        return recording_html(self)


Sound = str | os.PathLike[str] | Recording | Clip
"""What can be scored: a file by its path, a recording of a data set, or a clip in memory."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Scores along a clip, one for each segment. Higher = more anomalous."""

    start: Floats  # (segments,) seconds from the beginning of the clip
    duration: float  # seconds of one segment
    value: Floats  # (segments,)
    parts: Mapping[str, Floats] = field(default_factory=dict)  # each (segments,)


@dataclass(frozen=True, slots=True)
class Score:
    """The result of scoring one clip. `value`: higher = more anomalous.

    `p_value` is the share of normal clips expected to score at least this high.
    `notes` says what was done by rule (an ID not seen in training, a short clip repeated).
    """

    path: str  # of the file, or the name of the clip
    machine: str
    section: str
    value: float
    threshold: float
    level: Level
    p_value: float
    parts: Mapping[str, float]
    timeline: Timeline
    notes: tuple[str, ...] = ()

    @property
    def is_anomalous(self) -> bool:
        """Above the alert threshold; at the threshold itself a clip is still normal (as DCASE)."""
        return self.value > self.threshold

    def _repr_html_(self) -> str:
        from ssdpt.notebook.score import score_html

        return score_html(self)
