"""A cell: one training and its scores, named by what went into it, so that none is run twice.

OUT/cells/<key>/cell.json           what it is: settings, data, machine time, the clips by name
                scores.safetensors  their scores and parts, after every epoch too
                training.jsonl      how the training went, a line an epoch
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from ssdpt.common.files import atomic_folder, write_json, write_text
from ssdpt.config.tree import Config, learned_from
from ssdpt.training.log import LOG_FILE
from ssdpt.types import Floats, Recording
from ssdpt.version import __version__

_FORMAT = 1
_HEAD, _SCORES = "cell.json", "scores.safetensors"


@dataclass(frozen=True)
class Cell:
    """What is to be trained and scored."""

    config: Config  # with its seed
    machines: tuple[str, ...]  # trained together: usually one
    fingerprint: str  # of all their recordings
    label: str = ""  # for people: which row of a table it is for

    @cached_property
    def key(self) -> str:
        """Changes with everything that would change the scores."""
        settings = learned_from(self.config)
        content = [_FORMAT, __version__, settings, self.machines, self.fingerprint]
        text = json.dumps(content, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @property
    def name(self) -> str:
        """For people."""
        what = self.label or self.config.system
        return f"{what}, {' + '.join(self.machines)}, seed {self.config.seed}"


@dataclass(frozen=True, slots=True)
class Clip:
    """A test clip, or a normal training clip, as the tables know it."""

    name: str
    machine: str
    section: str
    domain: str
    label: str

    @classmethod
    def of(cls, recording: Recording) -> Self:
        return cls(
            recording.path.name,
            recording.machine,
            recording.section,
            recording.domain,
            recording.label,
        )


@dataclass(frozen=True)
class CellScores:
    """What a cell found. Scores: higher = more anomalous."""

    clips: tuple[Clip, ...]  # labelled test clips
    value: Floats  # (clips,) after the last epoch
    parts: Mapping[str, Floats]  # (clips,) each: the parts that make up `value`
    epochs: Floats  # (epochs looked at, clips); no rows for a system without epochs
    epoch_numbers: tuple[int, ...]  # which, from 1
    normals: tuple[Clip, ...]  # training clips that were scored as well, for z-scores
    normal_value: Floats  # (normals,)
    normal_epochs: Floats  # (epochs looked at, normals)
    seconds: float  # of fitting and scoring
    facts: Mapping[str, Any] = field(default_factory=dict)  # parameters, device, notes
    log: str = ""  # JSON lines


class CellStore:
    """The finished cells of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, cell: Cell) -> Path:
        return self.folder / cell.key

    def load(self, cell: Cell) -> CellScores | None:
        """What was found before; None where there is nothing, or nothing whole."""
        place = self.place(cell)
        try:
            head = json.loads((place / _HEAD).read_text("utf-8"))
            arrays = load_file(place / _SCORES)
            log = place / LOG_FILE
            return CellScores(
                clips=tuple(Clip(**entry) for entry in head["clips"]),
                value=arrays["value"],
                parts=_named(arrays, "part/"),
                epochs=arrays["epochs"],
                epoch_numbers=tuple(head["epochs"]),
                normals=tuple(Clip(**entry) for entry in head["normals"]),
                normal_value=arrays["normal"],
                normal_epochs=arrays["normal-epochs"],
                seconds=head["seconds"],
                facts=head["facts"],
                log=log.read_text("utf-8") if log.is_file() else "",
            )
        except (OSError, ValueError, KeyError, TypeError, SafetensorError):
            return None

    def save(self, cell: Cell, found: CellScores) -> None:
        """Write it whole; a reader sees all of it or nothing."""
        with atomic_folder(self.place(cell)) as place:
            arrays = {
                "value": found.value,
                "epochs": found.epochs,
                "normal": found.normal_value,
                "normal-epochs": found.normal_epochs,
                **{f"part/{name}": part for name, part in found.parts.items()},
            }
            whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
            (place / _SCORES).write_bytes(save(whole))
            if found.log:
                write_text(place / LOG_FILE, found.log)
            write_json(
                place / _HEAD,
                {
                    "format": _FORMAT,
                    "ssdpt_version": __version__,
                    "machines": list(cell.machines),
                    "fingerprint": cell.fingerprint,
                    "config": cell.config.model_dump(mode="json"),
                    "seconds": found.seconds,
                    "facts": dict(found.facts),
                    "epochs": list(found.epoch_numbers),
                    "clips": [asdict(clip) for clip in found.clips],
                    "normals": [asdict(clip) for clip in found.normals],
                },
            )


def _named(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, Floats]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
