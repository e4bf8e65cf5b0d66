"""Temporary files and folders beside what they will become, locked while someone writes them.

.NAME._writing.tmp.SUFFIX   what is being written; a second writer at the same time uses eight
                            random letters instead of `_writing`
.NAME._writing.old          a folder that is being replaced, for a moment

The kernel releases a lock when its process ends, however it ends. So what nobody holds was left by
a process that was killed, and can be removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

_TEMPORARY, _RETIRED = ".tmp", ".old"
_FIRST_WRITER = "_writing"  # as long as the random letters of another
_NAME = re.compile(r"\..+\.[a-z0-9_]{8}(\.tmp(\.\w+)?|\.old)")


@contextlib.contextmanager
def temporary_file(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """An empty file beside `path` with the permissions `mode`; gone afterwards unless renamed.

    It is to be written in place: another file of its name would not be locked. The system takes
    the umask off when it creates the file. To read the umask, one has to change it, and other
    threads would create files for everyone meanwhile.
    """
    create = partial(_create_file, mode=mode)
    with _locked_new(path, _TEMPORARY + path.suffix, create) as temporary:
        yield temporary


@contextlib.contextmanager
def temporary_folder(path: Path, mode: int = 0o700) -> Iterator[Path]:
    """The same for a folder."""
    with _locked_new(path, _TEMPORARY, partial(_create_folder, mode=mode)) as temporary:
        yield temporary


@contextlib.contextmanager
def retiring(path: Path, temporary: Path) -> Iterator[Path]:
    """The name of the folder `path` while `temporary` replaces it; then the folder is removed."""
    retired = temporary.with_suffix(_RETIRED)
    while True:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if path.is_symlink() or _is_called(handle, path):
            break
        os.close(handle)  # another writer has replaced it meanwhile
    try:
        yield retired
    finally:
        for name in (retired, temporary):
            if name.is_symlink() or _is_called(handle, name):
                remove(name)
        os.close(handle)


def recover_retired(path: Path) -> bool:
    """Put back the folder that a killed process was about to replace; whether there was one."""
    if path.exists() or not path.parent.is_dir():
        return False
    retired = [
        entry
        for entry in path.parent.iterdir()
        if entry.name.startswith(f".{path.name}.")
        and entry.name.endswith(_RETIRED)
        and is_temporary(entry.name)
    ]
    for folder in sorted(retired, key=lambda it: it.stat().st_mtime, reverse=True):
        with leftover(folder) as is_left:
            if is_left:
                folder.rename(path)
                return True
    return False


def is_temporary(name: str) -> bool:
    """Whether a file or folder is called as those that are being written."""
    return _NAME.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> list[str]:
    """Remove what killed processes left unfinished in `folder`; gives the names."""
    entries = folder.iterdir() if folder.is_dir() else ()
    return sorted(
        entry.name for entry in entries if is_temporary(entry.name) and _remove_if_left(entry)
    )


def _remove_if_left(path: Path) -> bool:
    with leftover(path) as is_left:
        if is_left:
            remove(path)
        return is_left


@contextlib.contextmanager
def leftover(path: Path) -> Iterator[bool]:
    """Whether a temporary name is there that nobody holds; meanwhile nobody else takes it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_left = _is_called(handle, path)
        except OSError:  # someone holds it, or the file system has no locks
            is_left = False
        yield is_left
    finally:
        os.close(handle)


@contextlib.contextmanager
def _locked_new(path: Path, ending: str, create: Callable[[Path], int]) -> Iterator[Path]:
    """Create a temporary name of `path` and hold its lock; what still has it then is removed."""
    name = path.with_name(f".{path.name}.{_FIRST_WRITER}{ending}")
    _remove_if_left(name)
    if path.exists():
        _remove_if_left(name.with_suffix(_RETIRED))
    while (handle := _held(name, create)) is None:
        name = path.with_name(f".{path.name}.{secrets.token_hex(4)}{ending}")
    try:
        yield name
    finally:
        if _is_called(handle, name):
            remove(name)
        os.close(handle)


def _held(name: Path, create: Callable[[Path], int]) -> int | None:
    """A new file or folder, open and locked; None where someone else has the name."""
    try:
        handle = create(name)
    except FileExistsError:
        return None
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX)
    # Before it was locked, another process may have taken it for a leftover.
    if _is_called(handle, name):
        return handle
    os.close(handle)
    return None


def _create_file(name: Path, mode: int) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)


def _create_folder(name: Path, mode: int) -> int:
    name.mkdir(mode)
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError as error:  # taken for a leftover
        raise FileExistsError from error


def _is_called(handle: int, path: Path) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except OSError:
        return False


def remove(path: Path) -> None:
    """Remove a file or a whole folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
