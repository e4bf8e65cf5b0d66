"""Files are written completely or not at all, and disk errors are one sentence."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ssdpt.common.files import atomic_folder, atomic_path, digest, write_json, write_text
from ssdpt.detection.storage import check_replaceable
from ssdpt.errors import SsdptError


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def half_written(place, error):
    """Begin to write and fail."""
    with place as temporary:
        (temporary / "half" if temporary.is_dir() else temporary).write_text("half")
        raise error


def test_text_is_utf8_with_plain_line_ends(tmp_path):
    write_text(tmp_path / "deep" / "a.txt", "α\nβ\n")
    assert (tmp_path / "deep" / "a.txt").read_bytes() == "α\nβ\n".encode()
    write_json(tmp_path / "a.json", {"name": "Lüfter"})
    assert (tmp_path / "a.json").read_text("utf-8") == '{\n  "name": "Lüfter"\n}\n'


def test_a_result_has_the_permissions_of_any_file(tmp_path):
    old = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "")
        with atomic_folder(tmp_path / "folder"):
            pass
    finally:
        os.umask(old)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o750


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError):
        half_written(atomic_path(tmp_path / "a.txt"), RuntimeError())
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    for content in ("first", "second"):
        with atomic_folder(tmp_path / "m") as place:
            (place / content).write_text(content)
    assert names(tmp_path) == ["m"]
    assert names(tmp_path / "m") == ["second"]


def test_a_failure_leaves_the_old_folder(tmp_path):
    with atomic_folder(tmp_path / "m") as place:
        (place / "old").touch()
    with pytest.raises(RuntimeError):
        half_written(atomic_folder(tmp_path / "m"), RuntimeError())
    assert names(tmp_path) == ["m"]
    assert names(tmp_path / "m") == ["old"]


def test_a_failing_rename_brings_the_old_folder_back(tmp_path, monkeypatch):
    with atomic_folder(tmp_path / "m") as place:
        (place / "old").touch()
    rename = Path.rename

    def failing(self, target):
        if str(self).endswith(".tmp"):
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(SsdptError, match="cannot write"), atomic_folder(tmp_path / "m"):
        pass
    assert names(tmp_path) == ["m"]
    assert names(tmp_path / "m") == ["old"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "no permission"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_the_disks_refusal_is_one_sentence(tmp_path, code, message):
    with pytest.raises(SsdptError, match=message) as caught:
        half_written(atomic_path(tmp_path / "a.txt"), OSError(code, os.strerror(code)))
    assert str(tmp_path / "a.txt") in str(caught.value)
    assert names(tmp_path) == []


def test_a_file_in_the_way_of_a_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SsdptError, match=r"part of the path is a file|File exists"):
        write_text(tmp_path / "file" / "a.txt", "")


def test_the_digest_is_of_the_content(tmp_path):
    (tmp_path / "a").write_bytes(b"sound")
    (tmp_path / "b").write_bytes(b"sound")
    (tmp_path / "c").write_bytes(b"sounD")
    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_a_folder_never_replaces_a_file_a_pipe_or_a_device(tmp_path):
    (tmp_path / "file").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "pipe"):
        path = tmp_path / name
        with pytest.raises(SsdptError, match="is a file"), atomic_folder(path):
            pass
        with pytest.raises(SsdptError, match="is a file"):
            check_replaceable(path)
        assert not path.is_dir()
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "pipe"]
