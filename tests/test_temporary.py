"""Temporary names: what a killed process leaves is removed, what another writes is not."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys

import pytest

from ssdpt.common import temporary
from ssdpt.common.files import atomic_folder, recover_folder, write_text
from ssdpt.common.temporary import (
    is_temporary,
    remove_leftovers,
    retiring,
    temporary_file,
    temporary_folder,
)

_HOLD = """
import sys, time
from pathlib import Path
from ssdpt.common.temporary import temporary_file, temporary_folder
path = Path(sys.argv[1])
with temporary_file(path / "a.txt") as file, temporary_folder(path / "m") as folder:
    file.write_text("half"), (folder / "half").touch()
    print("held", flush=True)
    time.sleep(600)
"""


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def writer(tmp_path):
    """Another process in the middle of writing a file and a folder."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_what_another_process_writes_is_left_alone(tmp_path, writer):
    before = names(tmp_path)
    assert before == [".a.txt._writing.tmp.txt", ".m._writing.tmp"]
    assert remove_leftovers(tmp_path) == []
    write_text(tmp_path / "a.txt", "mine")
    with atomic_folder(tmp_path / "m"):
        pass
    assert names(tmp_path) == [*before, "a.txt", "m"]


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path, writer):
    writer.kill()
    writer.wait()
    write_text(tmp_path / "a.txt", "mine")
    assert names(tmp_path) == [".m._writing.tmp", "a.txt"]
    with atomic_folder(tmp_path / "m"):
        pass
    assert names(tmp_path) == ["a.txt", "m"]


def test_a_start_removes_what_a_killed_process_left(tmp_path, writer):
    writer.kill()
    writer.wait()
    assert remove_leftovers(tmp_path) == [".a.txt._writing.tmp.txt", ".m._writing.tmp"]
    assert names(tmp_path) == []


def test_several_writers_of_one_name(tmp_path):
    path = tmp_path / "a.txt"
    with temporary_file(path) as first, temporary_file(path) as second:
        assert first != second
        assert is_temporary(second.name)
    assert names(tmp_path) == []
    with temporary_folder(path) as first, temporary_folder(path) as second:
        assert first != second
    assert names(tmp_path) == []


def test_the_last_of_two_writers_wins_and_nothing_is_left(tmp_path):
    for content in ("old", "new"):
        with atomic_folder(tmp_path / "m") as outer:
            (outer / f"{content}-outer").touch()
            with atomic_folder(tmp_path / "m") as inner:
                (inner / f"{content}-inner").touch()
        assert names(tmp_path) == ["m"]
        assert names(tmp_path / "m") == [f"{content}-outer"]


@pytest.mark.parametrize("make", [temporary_file, temporary_folder])
def test_a_name_that_was_taken_before_it_was_locked(tmp_path, monkeypatch, make):
    """Another process may take a new file for a leftover in the moment before it is locked."""
    lock, taken = fcntl.flock, []

    def take_first(handle, how):
        if not taken:
            taken.extend(tmp_path.iterdir())
            temporary.remove(taken[0])
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", take_first)
    with make(tmp_path / "a") as place:
        assert place.exists()
        assert place != taken[0]
    assert names(tmp_path) == []


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    """Everything is written; leftovers stay, since nobody can say whose they are."""

    def refuse(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / ".a.txt._writing.tmp.txt").touch()
    write_text(tmp_path / "a.txt", "mine")
    for _ in range(2):
        with atomic_folder(tmp_path / "m"):
            pass
    assert names(tmp_path) == [".a.txt._writing.tmp.txt", "a.txt", "m"]


def test_a_folder_that_is_just_being_replaced_is_not_put_back(tmp_path):
    with atomic_folder(tmp_path / "m") as place:
        (place / "old").touch()
    with temporary_folder(tmp_path / "m") as place, retiring(tmp_path / "m", place) as retired:
        (tmp_path / "m").rename(retired)
        assert not recover_folder(tmp_path / "m")
        retired.rename(tmp_path / "m")
    assert names(tmp_path / "m") == ["old"]


def test_a_link_to_a_folder_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "m").symlink_to(tmp_path / "elsewhere")
    with atomic_folder(tmp_path / "m") as place:
        (place / "new").touch()
    assert names(tmp_path) == ["elsewhere", "m"]
    assert names(tmp_path / "m") == ["new"]
    assert names(tmp_path / "elsewhere") == []
