"""Archives are unpacked into the layout, and never outside their folder."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from ssdpt.data.archive import unpack
from ssdpt.errors import SsdptError


def pack(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as content:
        for name in names:
            content.writestr(name, name)
    return path


def tree(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.mark.parametrize("prefix", ["", "fan/", "dev_data/fan/", "./dev_fan/fan/"])
def test_any_nesting_ends_in_the_layout(tmp_path: Path, out: Path, prefix: str) -> None:
    names = ["train/a.wav", "source_test/b.wav", "attributes_00.csv"]
    archive = pack(
        tmp_path / "dev_fan.zip",
        [f"{prefix}{name}" for name in names] + ["__MACOSX/x/._a.wav", f"{prefix}.DS_Store"],
    )
    assert unpack(archive, out, "fan") == ["fan"]
    assert tree(out) == ["fan/attributes_00.csv", "fan/source_test/b.wav", "fan/train/a.wav"]


def test_two_archives_of_a_machine_lie_together(tmp_path: Path, out: Path) -> None:
    unpack(pack(tmp_path / "a.zip", ["fan/train/a.wav"]), out, "fan")
    unpack(pack(tmp_path / "b.zip", ["fan/test/b.wav", "fan/train/a.wav"]), out, "fan")
    assert tree(out) == ["fan/test/b.wav", "fan/train/a.wav"]


@pytest.mark.parametrize(
    "name", ["../evil.wav", "fan/train/../../../evil.wav", "/etc/evil", "C:/evil", "..\\evil.wav"]
)
def test_paths_leading_out_are_refused(tmp_path: Path, out: Path, name: str) -> None:
    archive = pack(tmp_path / "a.zip", ["fan/train/a.wav", name])
    with pytest.raises(SsdptError, match="leads out of its folder; nothing was unpacked"):
        unpack(archive, out, "fan")
    assert tree(tmp_path) == ["a.zip"]


def test_damaged_archives(tmp_path: Path, out: Path) -> None:
    archive = tmp_path / "a.zip"
    archive.write_bytes(b"no archive")
    with pytest.raises(SsdptError, match=r"a\.zip: not a readable ZIP archive"):
        unpack(archive, out, "fan")
    pack(archive, ["fan/train/a.wav", "fan/train/b.wav"])
    content = archive.read_bytes().replace(
        b"fan/train/b.wavfan/train/b.wav", b"fan/train/b.wav" * 2, 1
    )
    at = content.index(b"fan/train/b.wav") + len("fan/train/b.wav")
    archive.write_bytes(content[:at] + b"X" + content[at + 1 :])
    with pytest.raises(SsdptError, match="not a readable ZIP archive"):
        unpack(archive, out, "fan")
    assert tree(out) == []


def test_full_disk_is_reported_before(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = pack(tmp_path / "a.zip", ["fan/train/a.wav"])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=3))
    with pytest.raises(SsdptError, match="free some space"):
        unpack(archive, out, "fan")
