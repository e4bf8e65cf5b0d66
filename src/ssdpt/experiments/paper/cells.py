"""A cell: one training and its scores, stored by a key of its inputs, so that none is run twice.

OUT/cells/<key>/cell.json           settings, data, computing time, names of the clips
                scores.safetensors  scores and parts of the clips, also after every epoch
                training.jsonl      training log, a line per epoch
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

SCORED_EPOCHS = 30  # the paper trains 30
_FORMAT = 1
_HEAD, _SCORES = "cell.json", "scores.safetensors"


@dataclass(frozen=True)
class Cell:
    """One training, and the clips to score with it."""

    config: Config  # with its seed
    machines: tuple[str, ...]  # trained together: usually one
    fingerprint: str  # of all their recordings
    label: str = ""  # shown in messages: the row of a table that it belongs to
    scored_epochs: int = SCORED_EPOCHS  # at most this many epochs are scored, the last among them

    @cached_property
    def key(self) -> str:
        """Changes with everything that changes the scores."""
        settings = learned_from(self.config)
        content = [_FORMAT, __version__, settings, self.machines, self.fingerprint]
        if self.scored_epochs != SCORED_EPOCHS:
            content.append(self.scored_epochs)
        text = json.dumps(content, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @property
    def name(self) -> str:
        """A readable name for messages."""
        what = self.label or self.config.system
        return f"{what}, {' + '.join(self.machines)}, seed {self.config.seed}"


@dataclass(frozen=True, slots=True)
class CellClip:
    """A test clip, or a normal training clip."""

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
    """The scores of a cell; higher = more anomalous."""

    clips: tuple[CellClip, ...]  # labelled test clips
    value: Floats  # (clips,) after the last epoch
    parts: Mapping[str, Floats]  # (clips,) each: the parts that make up `value`
    epochs: Floats  # (scored epochs, clips); no rows for a system without epochs
    epoch_numbers: tuple[int, ...]  # the scored epochs, from 1
    normals: tuple[CellClip, ...]  # training clips that were also scored, for z-scores
    normal_value: Floats  # (normals,)
    normal_epochs: Floats  # (scored epochs, normals)
    seconds: float  # of fitting and scoring
    facts: Mapping[str, Any] = field(default_factory=dict)  # parameters, device, notes
    log: str = ""  # JSON lines


class CellStore:
    """The finished cells of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def folder_of(self, cell: Cell) -> Path:
        return self.folder / cell.key

    def load(self, cell: Cell) -> CellScores | None:
        """The stored scores; None if they are missing or incomplete."""
        folder = self.folder_of(cell)
        try:
            head = json.loads((folder / _HEAD).read_text("utf-8"))
            arrays = load_file(folder / _SCORES)
            log = folder / LOG_FILE
            return CellScores(
                clips=tuple(CellClip(**entry) for entry in head["clips"]),
                value=arrays["value"],
                parts=_named(arrays, "part/"),
                epochs=arrays["epochs"],
                epoch_numbers=tuple(head["epochs"]),
                normals=tuple(CellClip(**entry) for entry in head["normals"]),
                normal_value=arrays["normal"],
                normal_epochs=arrays["normal-epochs"],
                seconds=head["seconds"],
                facts=head["facts"],
                log=log.read_text("utf-8") if log.is_file() else "",
            )
        except (OSError, ValueError, KeyError, TypeError, SafetensorError):
            return None

    def save(self, cell: Cell, scores: CellScores) -> None:
        """Write a cell atomically: a reader sees all of it or nothing."""
        with atomic_folder(self.folder_of(cell)) as folder:
            arrays = {
                "value": scores.value,
                "epochs": scores.epochs,
                "normal": scores.normal_value,
                "normal-epochs": scores.normal_epochs,
                **{f"part/{name}": part for name, part in scores.parts.items()},
            }
            contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
            (folder / _SCORES).write_bytes(save(contiguous))
            if scores.log:
                write_text(folder / LOG_FILE, scores.log)
            write_json(
                folder / _HEAD,
                {
                    "format": _FORMAT,
                    "ssdpt_version": __version__,
                    "machines": list(cell.machines),
                    "fingerprint": cell.fingerprint,
                    "config": cell.config.model_dump(mode="json"),
                    "seconds": scores.seconds,
                    "facts": dict(scores.facts),
                    "epochs": list(scores.epoch_numbers),
                    "clips": [asdict(clip) for clip in scores.clips],
                    "normals": [asdict(clip) for clip in scores.normals],
                },
            )


def _named(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, Floats]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
