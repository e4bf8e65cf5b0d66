"""Training checkpoints: tensors in a safetensors file, no pickle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ssdpt.common.files import atomic_path
from ssdpt.errors import SsdptError

_FILE = "checkpoint.safetensors"
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The full state of a training, from which it can be resumed exactly."""

    identity: str
    step: int
    batch_size: int  # smaller than configured if memory was short
    tensors: dict[str, Tensor]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write `folder/checkpoint.safetensors` atomically."""
    tensors = {
        name: value.detach().cpu().contiguous() for name, value in checkpoint.tensors.items()
    }
    about = {
        "format": _FORMAT,
        "identity": checkpoint.identity,
        "step": checkpoint.step,
        "batch_size": checkpoint.batch_size,
    }
    with atomic_path(folder / _FILE) as temporary:
        # As bytes, so that a full disk raises an OSError and not an error of the library.
        temporary.write_bytes(save(tensors, {"about": json.dumps(about)}))


def load_checkpoint(folder: Path, identity: str) -> Checkpoint | None:
    """The checkpoint in `folder`, None if there is none; an SsdptError if it is of another run."""
    path = folder / _FILE
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads(file.metadata()["about"])
            if about.get("format") != _FORMAT:
                about["identity"] = ""  # of another version
            made_with = about["identity"]
            step, batch_size = int(about["step"]), int(about.get("batch_size", 0))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (
        *(SafetensorError, OSError, LookupError, TypeError, ValueError, AttributeError),
        *(ArithmeticError, RecursionError),  # of a description with wrong values
    ) as error:
        raise SsdptError(
            f"{path}: this checkpoint is damaged; delete it or fit without --resume"
        ) from error
    if made_with != identity:
        raise SsdptError(
            f"{path}: made with other settings, recordings or another version; "
            "fit with the same ones, or without --resume"
        )
    return Checkpoint(identity, step, batch_size, tensors)
