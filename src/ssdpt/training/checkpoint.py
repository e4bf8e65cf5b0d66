"""The state of a training on disk: tensors in a safetensors file, no pickle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ssdpt.errors import SsdptError
from ssdpt.files import atomic_path

_FILE = "checkpoint.safetensors"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All that a training needs to go on as if it had never stopped."""

    identity: str
    step: int
    network: dict[str, Tensor]
    average: dict[str, Tensor]
    optimiser: dict[int, dict[str, Any]]  # torch's own numbering of the parameters
    totals: dict[str, Tensor]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write `folder/checkpoint.safetensors`, whole or not at all."""
    tensors = {f"network/{name}": value for name, value in checkpoint.network.items()}
    tensors |= {f"average/{name}": value for name, value in checkpoint.average.items()}
    tensors |= {f"totals/{name}": value for name, value in checkpoint.totals.items()}
    for number, state in checkpoint.optimiser.items():
        tensors |= {f"optimiser/{number}/{name}": value for name, value in state.items()}
    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    about = {"identity": checkpoint.identity, "step": str(checkpoint.step)}
    with atomic_path(folder / _FILE) as temporary:
        # As bytes, so that a full disk is the operating system's error and not the library's.
        temporary.write_bytes(save(tensors, {"about": json.dumps(about)}))


def load_checkpoint(folder: Path, identity: str) -> Checkpoint | None:
    """The checkpoint in `folder`, None where there is none; refuses one of another run."""
    path = folder / _FILE
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads(file.metadata()["about"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise SsdptError(
            f"{path}: this checkpoint is damaged; delete it or fit without --resume"
        ) from error
    if about["identity"] != identity:
        raise SsdptError(
            f"{path}: made with other settings, recordings or another version; "
            "fit with the same ones, or without --resume"
        )
    optimiser: dict[int, dict[str, Any]] = {}
    for name, value in _below(tensors, "optimiser").items():
        number, field = name.split("/")
        optimiser.setdefault(int(number), {})[field] = value
    return Checkpoint(
        identity=identity,
        step=int(about["step"]),
        network=_below(tensors, "network"),
        average=_below(tensors, "average"),
        optimiser=optimiser,
        totals=_below(tensors, "totals"),
    )


def _below(tensors: dict[str, Tensor], branch: str) -> dict[str, Tensor]:
    prefix = f"{branch}/"
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
