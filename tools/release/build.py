"""Builds sdist and wheel from what is committed, twice, and compares the bytes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from release.command import ReleaseError, run


def sha256(path: Path) -> str:
    """The digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tracked_files(root: Path) -> set[str]:
    """Every committed file, relative to the root."""
    return set(run("git", "ls-files", "-z", cwd=root).rstrip("\0").split("\0"))


def build_twice(root: Path, python: Path, out: Path) -> list[Path]:
    """Sdist and wheel in `out`; ReleaseError if a second build differs in a single byte.

    The second build has another folder, time zone and umask, and files of another date.
    """
    epoch = run("git", "log", "-1", "--format=%ct", cwd=root).strip()
    with tempfile.TemporaryDirectory(prefix="ssdpt-release-") as folder:
        first = _build(root, python, Path(folder) / "first", epoch, "UTC", 0o022)
        second = _build(root, python, Path(folder) / "other" / "second", epoch, "Asia/Tokyo", 0o077)
        if [(one.name, sha256(one)) for one in first] != [
            (one.name, sha256(one)) for one in second
        ]:
            raise ReleaseError("two builds of the same commit differ: " + _lines([*first, *second]))
        out.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(one, out)) for one in first]


def build_wheel(root: Path, python: Path, out: Path) -> Path:
    """The wheel of the working tree."""
    run(python, "-m", "build", "--wheel", "--outdir", out, root, cwd=out)
    (wheel,) = out.glob("*.whl")
    return wheel


def _build(root: Path, python: Path, folder: Path, epoch: str, zone: str, umask: int) -> list[Path]:
    """Sdist and wheel of the committed files, built in `folder`."""
    source, built = folder / "source", folder / "built"
    source.mkdir(parents=True)
    before = os.umask(umask)
    try:
        _extract(root, source)
        environment = {
            "SOURCE_DATE_EPOCH": epoch,
            "TZ": zone,
            "PIP_CONSTRAINT": str(root / "constraints.txt"),
            "PIP_BUILD_CONSTRAINT": str(root / "constraints.txt"),
        }
        run(python, "-m", "build", "--outdir", built, source, cwd=folder, environment=environment)
    finally:
        os.umask(before)
    return sorted(built.iterdir())


def _extract(root: Path, folder: Path) -> None:
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=root, stdout=subprocess.PIPE, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")


def _lines(paths: list[Path]) -> str:
    return "; ".join(f"{path.name} {sha256(path)}" for path in paths)
