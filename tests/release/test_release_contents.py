"""Sdist and wheel hold what is committed, and nothing else."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from release.command import ReleaseError
from release.contents import check_sdist, check_wheel

TRACKED = {
    "src/ssdpt/__init__.py",
    "src/ssdpt/py.typed",
    "tests/test_a.py",
    "Makefile",
    ".gitignore",
}


def sdist(folder: Path, names: set[str]) -> Path:
    path = folder / "ssdpt-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"ssdpt-1.0/{name}"), io.BytesIO())
    return path


def wheel(folder: Path, names: set[str]) -> Path:
    path = folder / "ssdpt-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def test_what_belongs_is_counted(tmp_path: Path) -> None:
    assert check_sdist(sdist(tmp_path, TRACKED - {".gitignore"} | {"PKG-INFO"}), TRACKED) == 5
    names = {"ssdpt/__init__.py", "ssdpt/py.typed", "ssdpt-1.0.dist-info/METADATA"}
    assert check_wheel(wheel(tmp_path, names), TRACKED) == 3


def test_a_file_by_accident_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"not committed: src/ssdpt/secret\.txt"):
        check_sdist(sdist(tmp_path, TRACKED | {"src/ssdpt/secret.txt"}), TRACKED)
    with pytest.raises(ReleaseError, match=r"by accident: tests/test_a\.py"):
        check_wheel(wheel(tmp_path, {"ssdpt/__init__.py", "tests/test_a.py"}), TRACKED)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"lacks files: src/ssdpt/py\.typed"):
        check_sdist(sdist(tmp_path, TRACKED - {"src/ssdpt/py.typed"}), TRACKED)
    with pytest.raises(ReleaseError, match=r"lacks files: ssdpt/py\.typed"):
        check_wheel(wheel(tmp_path, {"ssdpt/__init__.py"}), TRACKED)
