"""Files that are never half-written: everything goes through a temporary sibling and a rename."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ssdpt.errors import SsdptError

_REASONS = {
    errno.ENOSPC: "the disk is full; free some space or choose another place",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another place",
    errno.EROFS: "the disk is read-only; choose another place",
    errno.EACCES: "no permission to write there; choose another place or change the permissions",
    errno.EPERM: "no permission to write there; choose another place or change the permissions",
    errno.ENOTDIR: "part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder, a file was expected",
    errno.EFBIG: "the file is larger than the disk or a limit allows",
}


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an operating-system error while writing `path` into a sentence."""
    try:
        yield
    except OSError as error:
        code = error.errno if error.errno is not None else -1
        raise SsdptError(f"{path}: cannot write: {_REASONS.get(code, str(error))}") from error


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; on success it takes its place, on failure it is gone."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=f".tmp{path.suffix}"
        )
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            _match_umask(temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _match_umask(path: Path) -> None:
    """mkstemp makes private files; a result should have the permissions of any other file."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 with `\\n` line ends, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: Any) -> None:
    """Write readable JSON, whole or not at all."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success it replaces `path` as a whole.

    A reader sees the old folder or the new one. If the process is killed between the two
    renames the old one is left beside it under a hidden name.
    """
    if path.exists() and not path.is_dir():  # a device or a pipe as well
        raise SsdptError(f"{path}: is a file; a folder is to be written here, choose another name")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp"))
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o777 & ~umask)
        retired = temporary.with_suffix(".old")
        try:
            yield temporary
            try:
                if path.exists():
                    path.rename(retired)
                temporary.rename(path)
            except BaseException:
                # The old one is only given up once the new one stands in its place.
                if retired.exists() and not path.exists():
                    retired.rename(path)
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            shutil.rmtree(retired, ignore_errors=True)


def digest(path: Path) -> str:
    """A content hash: the same sound under another name or in another folder has the same one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def printable(name: str) -> str:
    """A file name as text that can be written anywhere; bytes that are no UTF-8 become `?`."""
    return name.encode("utf-8", "replace").decode("utf-8")
