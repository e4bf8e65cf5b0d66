"""Backs up what the data folder of a service holds beside the store.

models/<machine>/<file>   the models that machines have learned
machines.json             the machines that were added on the page
"""

from __future__ import annotations

import re
import tarfile
import time
from contextlib import suppress
from pathlib import Path

from ssdpt.detection.storage import CONFIG, MODEL_FILES
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MACHINE_ID
from ssdpt.monitor.store.tar import add_bytes
from ssdpt.sentences import Sentence

MODELS = "models"
MACHINES = "machines.json"
_TRIES, _PAUSE = 20, 0.1  # s; a model that is being replaced is missing between two renames


def add_learned_models(tar: tarfile.TarFile, data: Path) -> list[str]:
    """Add these files to a backup; returns the names of the members, sorted."""
    added = []

    def add(name: str, content: bytes) -> None:
        add_bytes(tar, name, content)
        added.append(name)

    for machine in _machines(data / MODELS):
        for name, content in _read_model(data / MODELS / machine).items():
            add(f"{MODELS}/{machine}/{name}", content)
    with suppress(FileNotFoundError):
        add(MACHINES, (data / MACHINES).read_bytes())
    return sorted(added)


def _machines(folder: Path) -> list[str]:
    """Ids of machines that have a model in this folder, or whose model is being replaced."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    # A model that is being replaced is called .machine.….old for a moment.
    ids = {name[1:].partition(".")[0] if name.startswith(".") else name for name in names}
    return sorted(id for id in ids if re.fullmatch(MACHINE_ID, id))


def _read_model(folder: Path) -> dict[str, bytes]:
    """The files of one model by name, all of the same version; empty if there is no model."""
    for _ in range(_TRIES):
        # A file that disappears meanwhile belongs to a model that is being replaced.
        with suppress(FileNotFoundError):
            before = _version(folder)
            files = {
                name: (folder / name).read_bytes()
                for name in sorted(MODEL_FILES)
                if (folder / name).is_file()
            }
            if _version(folder) == before:
                return files if CONFIG in files else {}
        time.sleep(_PAUSE)
    if folder.exists():
        raise SsdptError(Sentence("store.modelChanging", folder=folder))
    return {}


def _version(folder: Path) -> tuple[int, int]:
    """Changes when the folder is replaced, and when a file is added to it or removed from it."""
    status = folder.stat()
    return status.st_ino, status.st_ctime_ns


def restored_name(member: str) -> str | None:
    """What is restored in one step with a member: the folder of a model, or the list of machines.

    None for members of other kinds; refuses names that `add_learned_models` does not use.
    """
    if member == MACHINES:
        return MACHINES
    match member.split("/"):
        case [folder, machine, name] if (
            folder == MODELS and re.fullmatch(MACHINE_ID, machine) and name in MODEL_FILES
        ):
            return f"{MODELS}/{machine}"
        case [folder, *_] if folder == MODELS:
            raise SsdptError(f"'{member}': not a file of a learned model; use another backup")
    return None
