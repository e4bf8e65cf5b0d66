"""The nouns that travel between the rooms. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

Domain = Literal["source", "target"]
Split = Literal["train", "test", "supplemental", ""]
Label = Literal["normal", "anomaly", ""]
Level = Literal["normal", "alert", "alarm"]


@dataclass(frozen=True, slots=True)
class Recording:
    """One sound file and what its layout says of it.

    `section` is the machine ID of the paper. `section`, `split` and `label` are empty where the
    layout does not tell. `fault` names the anomaly where a folder or a manifest does.
    """

    path: Path
    machine: str
    section: str = ""
    domain: Domain = "source"
    split: Split = ""
    label: Label = ""
    attributes: tuple[tuple[str, str], ...] = ()
    fault: str = ""

    @property
    def attribute_text(self) -> str:
        """The attributes in the form `speed=2,load=high`; empty where there are none."""
        return ",".join(f"{name}={value}" for name, value in self.attributes)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Scores along a clip, one for each segment. Higher = more anomalous."""

    start: Floats  # (segments,) seconds from the beginning of the clip
    duration: float  # seconds of one segment
    value: Floats  # (segments,)
    parts: Mapping[str, Floats] = field(default_factory=dict)  # each (segments,)


@dataclass(frozen=True, slots=True)
class Score:
    """The verdict on one clip. `value`: higher = more anomalous.

    `p_value` is the share of normal clips expected to score at least this high.
    `notes` says in words whatever was done by rule (an ID not seen in training, a short clip).
    """

    path: str
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
