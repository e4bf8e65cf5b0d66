"""Files are written completely or not at all, and disk errors are one sentence."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ssdpt.common import files, temporary
from ssdpt.common.files import (
    atomic_folder,
    atomic_path,
    digest,
    private_files,
    recover_folder,
    shut_out_others,
    write_json,
    write_text,
)
from ssdpt.common.temporary import remove_leftovers
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


def test_a_private_file_never_was_anything_else(tmp_path):
    old = os.umask(0)
    try:
        with atomic_path(tmp_path / "a.txt", private=True) as temporary:
            assert temporary.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(old)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o600


def test_the_umask_is_never_changed_to_learn_it(tmp_path, monkeypatch):
    """Other threads would create files for everyone meanwhile."""
    monkeypatch.setattr(files.os, "umask", lambda mask: pytest.fail("the umask was changed"))
    write_text(tmp_path / "a.txt", "")
    with atomic_folder(tmp_path / "folder"):
        pass


def test_files_are_private_whatever_the_umask(tmp_path):
    old = os.umask(0)
    try:
        with private_files():
            write_text(tmp_path / "new" / "a.txt", "")
        write_text(tmp_path / "b.txt", "")
    finally:
        os.umask(old)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"new": 0o700, "a.txt": 0o600, "b.txt": 0o666}


def test_a_folder_is_closed_to_others_and_its_group_keeps_it(tmp_path):
    tmp_path.chmod(0o755)
    assert shut_out_others(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o750
    assert not shut_out_others(tmp_path)


def test_those_that_write_at_once_have_different_names(tmp_path, monkeypatch):
    digits = iter(("0" * 8, "0" * 8, "1" * 8))
    monkeypatch.setattr(temporary.secrets, "token_hex", lambda _: next(digits))
    path = tmp_path / "a.txt"
    with atomic_path(path) as first, atomic_path(path) as second, atomic_path(path) as third:
        assert len({first, second, third}) == 3


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


@pytest.fixture
def synced(monkeypatch):
    """Names of what was put on the disk, one after the other."""
    fsync, paths = os.fsync, []

    def noted(handle):
        paths.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    return paths


def test_folders_in_a_written_folder_are_on_the_disk_before_it_has_its_name(tmp_path, synced):
    with atomic_folder(tmp_path / "m") as place:
        (place / "deep" / "deeper").mkdir(parents=True)
        (place / "deep" / "deeper" / "a").touch()
        inside = {"a", "deep", "deeper", place.name}
    assert set(synced[:-1]) == inside
    assert synced[-1] == tmp_path.name


def test_new_folders_above_a_file_are_on_the_disk(tmp_path, synced):
    write_text(tmp_path / "new" / "newer" / "a.txt", "a")
    assert synced == [tmp_path.name, "new", ".a.txt._writing.tmp.txt", "newer"]


def test_a_failure_leaves_the_old_folder(tmp_path):
    with atomic_folder(tmp_path / "m") as place:
        (place / "old").touch()
    with pytest.raises(RuntimeError):
        half_written(atomic_folder(tmp_path / "m"), RuntimeError())
    assert names(tmp_path) == ["m"]
    assert names(tmp_path / "m") == ["old"]


@pytest.fixture
def without_swap(monkeypatch):
    """A file system that cannot swap two folders in one step."""
    monkeypatch.setattr(files, "_swap", lambda first, second: False)


def test_a_folder_is_replaced_as_a_whole_without_a_swap_too(tmp_path, without_swap):
    test_a_folder_is_replaced_as_a_whole(tmp_path)


def killed_while_replacing(folder, step):
    """A process that is killed before the rename number `step` of replacing a folder."""
    program = f"""
import itertools, os, pathlib, signal
from ssdpt.common import files
files._swap = lambda first, second: False
rename, count = pathlib.Path.rename, itertools.count()
def counted(self, target):
    if next(count) == {step}:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)
pathlib.Path.rename = counted
with files.atomic_folder(pathlib.Path({str(folder)!r})) as place:
    (place / "new").touch()
"""
    return subprocess.run([sys.executable, "-c", program], check=False).returncode


@pytest.mark.parametrize(("step", "content"), [(0, "old"), (1, "old"), (2, "new")])
def test_a_kill_while_a_folder_is_replaced_loses_nothing(tmp_path, step, content):
    with atomic_folder(tmp_path / "m") as place:
        (place / "old").touch()
    assert (killed_while_replacing(tmp_path / "m", step) == 0) == (step == 2)
    assert recover_folder(tmp_path / "m") == (step == 1)
    assert names(tmp_path / "m") == [content]
    assert len(remove_leftovers(tmp_path)) == (step < 2)
    assert names(tmp_path) == ["m"]


def test_the_next_writer_recovers_a_folder_too(tmp_path):
    with atomic_folder(tmp_path / "m") as place:
        (place / "old").touch()
    killed_while_replacing(tmp_path / "m", 1)
    with pytest.raises(RuntimeError):
        half_written(atomic_folder(tmp_path / "m"), RuntimeError())
    assert names(tmp_path / "m") == ["old"]


def test_a_folder_is_swapped_in_one_step(tmp_path, monkeypatch):
    """At no moment is there none: the file systems of Linux can."""
    with atomic_folder(tmp_path / "m") as place:
        (place / "old").touch()

    def no_second_step(self, target):
        raise AssertionError(f"{self} is renamed to {target}")

    monkeypatch.setattr(Path, "rename", no_second_step)
    with atomic_folder(tmp_path / "m") as place:
        (place / "new").touch()
    assert names(tmp_path) == ["m"]
    assert names(tmp_path / "m") == ["new"]


def test_only_what_was_left_unfinished_is_removed(tmp_path):
    for name in (".hidden", ".a.tmp", "x.tmp", ".m.abcd1234.tmp", ".a.json.abcd1234.tmp.json"):
        (tmp_path / name).touch()
    assert remove_leftovers(tmp_path) == [".a.json.abcd1234.tmp.json", ".m.abcd1234.tmp"]
    assert names(tmp_path) == [".a.tmp", ".hidden", "x.tmp"]
    assert remove_leftovers(tmp_path / "missing") == []


def test_a_failing_rename_brings_the_old_folder_back(tmp_path, monkeypatch, without_swap):
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
