"""Sdist and wheel hold what is committed, and nothing by accident."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

from release.command import ReleaseError

_PACKAGE = "src/ssdpt/"
_ADDED_TO_SDIST = {"PKG-INFO"}


def check_sdist(path: Path, tracked: set[str]) -> int:
    """Number of files; ReleaseError for one that is not committed."""
    with tarfile.open(path) as archive:
        names = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
    _complain(path, names - tracked - _ADDED_TO_SDIST, "holds files that are not committed")
    missing = {name for name in tracked if name.startswith(("src/", "tests/", "docs/"))} - names
    _complain(path, missing, "lacks files")
    return len(names)


def check_wheel(path: Path, tracked: set[str]) -> int:
    """Number of files: those of the package, and the metadata."""
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    package = {name.removeprefix("src/") for name in tracked if name.startswith(_PACKAGE)}
    described = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    _complain(path, names - described - package, "holds files by accident")
    _complain(path, package - names, "lacks files")
    return len(names)


def _complain(path: Path, names: set[str], problem: str) -> None:
    if names:
        listed = ", ".join(sorted(names)[:10])
        raise ReleaseError(f"{path.name} {problem}: {listed}" + (" …" if len(names) > 10 else ""))
