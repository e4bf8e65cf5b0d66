"""What lies beside a store in the data folder of a service, out into a backup and in again.

models/<machine>/<file>   the baselines that machines have learnt
machines.json             the machines that were added on the page
"""

from __future__ import annotations

import re
import shutil
import tarfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from ssdpt.common.files import writing
from ssdpt.detection.storage import CONFIG, MODEL_FILES
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MACHINE_ID
from ssdpt.monitor.store.tar import add_bytes, write_member

MODELS = "models"
MACHINES = "machines.json"
_TRIES, _PAUSE = 20, 0.1  # s; a model that is written anew is away for two renames


def add_learned_models(tar: tarfile.TarFile, data: Path) -> list[str]:
    """Put them into a backup; the names of the members, sorted."""
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
    """Those that have a model here, or have one written at this moment."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    # A model that is being replaced is to be seen for a moment only as .machine.….old
    ids = {name[1:].partition(".")[0] if name.startswith(".") else name for name in names}
    return sorted(id for id in ids if re.fullmatch(MACHINE_ID, id))


def _read_model(folder: Path) -> dict[str, bytes]:
    """Its files, all of the same model; none where there is no model, or no longer."""
    for _ in range(_TRIES):
        # A file that is there one moment and gone the next is of a model that has been replaced.
        with suppress(FileNotFoundError):
            before = _state(folder)
            files = {
                name: (folder / name).read_bytes()
                for name in sorted(MODEL_FILES)
                if (folder / name).is_file()
            }
            if _state(folder) == before:
                return files if CONFIG in files else {}
        time.sleep(_PAUSE)
    if folder.exists():
        raise SsdptError(f"{folder}: this model changes all the time; back up again later")
    return {}


def _state(folder: Path) -> tuple[int, int]:
    """Changes when another folder takes its place, and with every file put in or taken out."""
    found = folder.stat()
    return found.st_ino, found.st_ctime_ns


class LearnedModelFiles:
    """Models and machines on their way from a backup into a data folder.

    They wait in a folder beside their place, so that all of them are whole before one is moved.
    """

    def __init__(self, data: Path, waiting: Path) -> None:
        self._data, self._waiting = data, waiting
        self.found: set[str] = set()  # names of the members

    def take(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Only names that `add_learned_models` gives are taken, whatever else the .tar holds."""
        self._free(_place(member.name))
        write_member(tar, member, self._waiting / member.name)
        self.found.add(member.name)

    def move(self, undo: ExitStack) -> None:
        """To where a service looks for them; `undo` takes them away again."""
        undo.callback(_remove_empty, self._data / MODELS)
        for name in sorted({_place(member) for member in self.found}):
            self._free(name)
            place = self._data / name
            with writing(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                (self._waiting / name).rename(place)
            undo.callback(_remove, place)

    def _free(self, name: str) -> None:
        place = self._data / name
        if place.exists():
            raise SsdptError(f"{place}: is there already; restore into an empty data folder")


def _place(member: str) -> str:
    """What is moved as a whole: a model's folder, or the list of machines."""
    if member == MACHINES:
        return MACHINES
    match member.split("/"):
        case [folder, machine, name] if (
            folder == MODELS and re.fullmatch(MACHINE_ID, machine) and name in MODEL_FILES
        ):
            return f"{MODELS}/{machine}"
    raise SsdptError(f"'{member}': is no file of a learnt model; take another backup")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # it holds something
        folder.rmdir()
