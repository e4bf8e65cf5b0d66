"""Files of a backup on their way into a data folder: extracted beside it, then moved.

.restore._writing.tmp/models/<machine>/<file>   the models that machines have learned
                      machines.json             the machines that were added on the page
                      store-<id>/ab/ab12….flac  recordings and pictures
                      moves.json                of which store, and what is about to be moved

They are moved just before the rows of the store are committed. After a kill in between, the next
restore or start of the service finds moves.json and removes what belongs to no store.
"""

from __future__ import annotations

import contextlib
import json
import tarfile
from contextlib import ExitStack
from pathlib import Path

from ssdpt.common.files import write_json, writing
from ssdpt.common.temporary import leftover, remove, temporary_folder
from ssdpt.errors import SsdptError
from ssdpt.monitor.store.attachments import Files, files_folder
from ssdpt.monitor.store.learned_models import MODELS, restored_name
from ssdpt.monitor.store.tar import write_member

_NAME = "restore"
_MOVES = "moves.json"
_FILES = "files/"


class RestoredFiles:
    """What is extracted from one backup."""

    def __init__(self, data: Path, store: str, undo: ExitStack) -> None:
        """`store`: the id of the store they belong to; `undo` removes what was extracted."""
        with writing(data):
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._place = undo.enter_context(temporary_folder(data / _NAME))
        self._data, self._store = data, store
        self._files = Files(files_folder(self._place, store))
        self.recordings = 0  # and pictures, extracted
        self.learned: set[str] = set()  # names of members of the backup

    def extract(self, tar: tarfile.TarFile) -> None:
        """Extract members with the names of a backup, no others."""
        for member in tar:
            if not member.isreg():
                continue
            if member.name.startswith(_FILES):
                path = self._files.path(member.name.removeprefix(_FILES))
                write_member(tar, member, path)
                self.recordings += 1
            elif (name := restored_name(member.name)) is not None:
                self._check_free(name)
                write_member(tar, member, self._place / member.name)
                self.learned.add(member.name)

    def move(self, undo: ExitStack) -> None:
        """Move all into the data folder; `undo` removes it again."""
        names = {name for member in self.learned if (name := restored_name(member)) is not None}
        recordings = files_folder(self._data, self._store)
        if not recordings.exists():
            names.add(recordings.name)
        inodes = {name: (self._place / name).stat().st_ino for name in names}
        write_json(self._place / _MOVES, {"store": self._store, "inodes": inodes})
        undo.callback(_remove_empty, self._data / MODELS)
        for name in sorted(names):
            self._check_free(name)
            path = self._data / name
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                (self._place / name).rename(path)
            undo.callback(remove, path)

    def _check_free(self, name: str) -> None:
        path = self._data / name
        if path.exists():
            raise SsdptError(f"{path} exists already; restore into an empty data folder")


def undo_killed_restore(data: Path, store: str | None) -> None:
    """Remove what a killed restore has left in a data folder, unless its store is `store`."""
    for place in data.glob(f".{_NAME}.*.tmp"):
        with leftover(place) as is_left:
            if not is_left:
                continue
            with contextlib.suppress(OSError, ValueError, KeyError, AttributeError):
                moves = json.loads((place / _MOVES).read_text("utf-8"))
                for name, inode in moves["inodes"].items() if moves["store"] != store else ():
                    path = data / name
                    if path.exists() and path.stat().st_ino == inode:
                        remove(path)
            _remove_empty(data / MODELS)
            remove(place)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # it is not there, or not empty
        folder.rmdir()
