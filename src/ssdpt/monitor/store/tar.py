"""Members of a backup's .tar, by name."""

from __future__ import annotations

import io
import shutil
import tarfile
import time
from pathlib import Path
from typing import IO

from ssdpt.common.files import atomic_path


def add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """One more member."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(content), int(time.time())
    tar.addfile(info, io.BytesIO(content))


def open_member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    """Its content; KeyError where there is no such file."""
    file = tar.extractfile(tar.getmember(name))
    if file is None:
        raise KeyError(f"{name} is no file")
    return file


def write_member(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    """Its content as the file `path`, whole and safe on the disk."""
    source = tar.extractfile(member)
    assert source is not None
    with atomic_path(path) as temporary, temporary.open("wb") as target:
        shutil.copyfileobj(source, target)
