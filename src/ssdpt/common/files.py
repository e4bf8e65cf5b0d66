"""Files that are never half-written: everything goes through a temporary sibling and a rename."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ssdpt.common.temporary import recover_retired, retiring, temporary_file, temporary_folder
from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an operating-system error while writing `path` into a sentence."""
    try:
        yield
    except OSError as error:
        raise SsdptError(Sentence("store.cannotWrite", path=path, reason=_reason(error))) from error


def _reason(error: OSError) -> str:
    """What an error of the operating system means for whoever writes."""
    match error.errno:
        case errno.ENOSPC:
            return Sentence("store.diskFull")
        case errno.EDQUOT:
            return Sentence("store.quota")
        case errno.EROFS:
            return Sentence("store.readOnly")
        case errno.EACCES | errno.EPERM:
            return Sentence("store.noPermission")
        case errno.ENOTDIR:
            return Sentence("store.fileInPath")
        case errno.EISDIR:
            return Sentence("store.isAFolder")
        case errno.EFBIG:
            return Sentence("store.fileTooLarge")
    return str(error)


@contextlib.contextmanager
def atomic_path(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Give an empty file beside `path`; on success it takes its place, on failure it is gone.

    It is to be written in place. `private`: nobody else can read it.
    """
    with writing(path):
        _make_folder(path.parent)
        with temporary_file(path, 0o600 if private else 0o666) as temporary:
            yield temporary
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync(path.parent)


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """What the process creates meanwhile is closed to other users, whatever its umask was."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def shut_out_others(folder: Path) -> bool:
    """Close a folder to users outside its group, if it is ours; whether it was open to them."""
    mode = folder.stat().st_mode & 0o777
    if not mode & 0o007:
        return False
    with contextlib.suppress(PermissionError):
        folder.chmod(mode & ~0o007)
    return True


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write `text` as UTF-8 with `\\n` line ends, whole or not at all."""
    with atomic_path(path, private=private) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: Any, *, private: bool = False) -> None:
    """Write readable JSON, whole or not at all."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_text(path, text, private=private)


@contextlib.contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success it replaces `path` as a whole.

    A reader sees the old folder or the new one, also after a kill or a power failure at any moment;
    where the file system cannot swap two folders in one step, after `recover_folder`.
    """
    if path.exists() and not path.is_dir():  # a device or a pipe as well
        raise SsdptError(Sentence("store.notAFolder", path=path))
    with writing(path):
        _make_folder(path.parent)
        recover_folder(path)
        with temporary_folder(path, 0o777) as temporary:
            yield temporary
            _sync_content(temporary)
            _take_place(temporary, path)
            _sync(path.parent)


def _take_place(temporary: Path, path: Path) -> None:
    """Rename a folder to `path`; what was there before is gone.

    One step where the file system can swap two folders, as those of Linux can; else two, between
    which the old folder has the name that `recover_folder` looks for.
    """
    if not path.exists():
        temporary.rename(path)
        return
    with retiring(path, temporary) as retired:
        if _swap(temporary, path):
            return
        path.rename(retired)
        try:
            temporary.rename(path)
        except BaseException:
            retired.rename(path)
            raise


def _swap(first: Path, second: Path) -> bool:
    """Swap two names in one step; False where system or file system cannot."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if call(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(second))


def recover_folder(path: Path) -> bool:
    """Put back the folder that a killed process was about to replace; whether there was one."""
    with writing(path):
        recovered = recover_retired(path)
        if recovered:
            _sync(path.parent)
    return recovered


def _sync_content(folder: Path) -> None:
    """All files of a folder and of those in it are on the disk before it gets its name."""
    for entry in folder.rglob("*"):
        if entry.is_file():
            with entry.open("rb") as file:
                os.fsync(file.fileno())
        elif entry.is_dir() and not entry.is_symlink():
            _sync(entry)
    _sync(folder)


def _make_folder(folder: Path) -> None:
    """Create a folder and those above it, so that their names are on the disk."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in reversed(missing):
        _sync(one.parent)


def _sync(folder: Path) -> None:
    """The names in a folder are on the disk, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_file(path: Path) -> bool:
    """Whether there is such a file: no either for a name that is longer than any may be."""
    try:
        return path.is_file()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False


def digest(path: Path) -> str:
    """A content hash: the same sound under another name or in another folder has the same one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def printable(name: str) -> str:
    """A file name as text that can be written anywhere; bytes that are no UTF-8 become `?`."""
    return name.encode("utf-8", "replace").decode("utf-8")
