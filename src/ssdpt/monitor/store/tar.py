"""Reads and writes members of the .tar file of a backup."""

from __future__ import annotations

import io
import shutil
import tarfile
import time
from pathlib import Path
from typing import IO

from ssdpt.common.files import atomic_path


def add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a member."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(content), int(time.time())
    tar.addfile(info, io.BytesIO(content))


def open_member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    """Open a member; KeyError if there is no such file."""
    file = tar.extractfile(tar.getmember(name))
    if file is None:
        raise KeyError(f"{name} is not a file")
    return file


def write_member(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    """Write a member to the file `path`, atomically; nobody else can read it."""
    source = tar.extractfile(member)
    assert source is not None
    with atomic_path(path, private=True) as temporary, temporary.open("wb") as target:
        shutil.copyfileobj(source, target)
