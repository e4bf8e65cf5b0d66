"""A store of the release before: backed up, upgraded, and nothing is lost whatever happens."""

from __future__ import annotations

import lzma
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from store_data import BEGIN, content, event, fill, rewrite

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store, restore, schema, upgrades
from ssdpt.monitor.store.backup import write_backup
from ssdpt.monitor.store.engine import Database

# Written by ssdpt 0.1.0, which had revision 0003.
STORE_0003 = Path(__file__).with_name("store_0003.db.xz")
NEWEST = schema.newest_revision()


@pytest.fixture
def old(tmp_path):
    """The address of a store of the release before, in a data folder."""
    path = tmp_path / "data" / "ssdpt.db"
    path.parent.mkdir()
    path.write_bytes(lzma.decompress(STORE_0003.read_bytes()))
    return f"sqlite:///{path}", path.parent


def old_copy(url, folder):
    """A store of revision 0003 with the content of the file, in any database."""
    database = Database(url)
    with database.write(makes_tables=True) as connection:
        schema.upgrade(connection, "0003")
    file = folder.parent / "old.db"
    file.write_bytes(lzma.decompress(STORE_0003.read_bytes()))
    source = sqlite3.connect(file)
    source.row_factory = sqlite3.Row
    with database.write() as connection:
        for table in ("about", "machines", "minutes", "events", "comments", "users"):
            rows = [dict(row) for row in source.execute(f"SELECT * FROM {table}")]
            for row in rows:
                row |= {name: bool(row[name]) for name in ("may_continue",) if name in row}
            names = ", ".join(rows[0])
            values = ", ".join(f":{name}" for name in rows[0])
            connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), rows)
    source.close()
    database.close()


def backups(folder):
    return sorted((folder / "backups").glob("*.[dt]*"))


def revision(url):
    database = Database(url)
    with database.read() as connection:
        found = schema.current_revision(connection)
    database.close()
    return found


def test_a_store_of_the_release_before_is_backed_up_and_upgraded(old, tmp_path):
    url, folder = old
    assert revision(url) == "0003"
    with Store.open(url, folder, writer=True) as store:
        assert store.event(event(0).id).comments[0].text == "läuft\n"
        assert [user.name for user in store.users()] == ["ada"]
        assert len(store.trend("fan-1", BEGIN, BEGIN + 600, 600).time) > 0
        upgraded = store.upgraded
    assert revision(url) == NEWEST
    (backup,) = backups(folder)
    assert backup.stat().st_mode & 0o077 == 0
    assert upgraded.backup == f"backups/{backup.name}"
    assert (upgraded.from_tables, upgraded.to_tables) == ("0003", NEWEST)
    assert "the store was migrated (tables 0003 to" in upgrades.describe(upgraded)
    # What was backed up is what there was: the release before goes on with it.
    with closing(sqlite3.connect(backup)) as copy, closing(sqlite3.connect(tmp_path / "x")) as was:
        (tmp_path / "x").write_bytes(lzma.decompress(STORE_0003.read_bytes()))
        assert list(copy.iterdump()) == list(was.iterdump())


def test_a_store_of_this_release_needs_no_backup(url, folder):
    with Store.open(url, folder, writer=True) as store:
        fill(store)
        assert store.upgraded is None
        assert store.last_upgrade() is None
    with Store.open(url, folder, writer=True) as store:
        assert store.upgraded is None
    assert not (folder / "backups").exists()


def test_a_store_that_a_command_has_made_is_new_to_the_service(url, folder):
    with Store.open(url, folder) as store:
        store.add_user("ada", "admin", "correct horse")
    with Store.open(url, folder, writer=True) as store:
        assert store.last_upgrade() is None


def test_both_databases_are_backed_up_and_upgraded(url, folder):
    folder.mkdir()
    old_copy(url, folder)
    with Store.open(url, folder, writer=True) as store:
        before = content(store)
        assert [row.name for row in store.users()] == ["ada"]
        recordings = store.files.folder
    (backup,) = backups(folder)
    again = folder.parent / "restored"
    again.mkdir()
    other = f"sqlite:///{again}/ssdpt.db"
    if backup.suffix == ".db":
        backup.rename(again / "ssdpt.db")
        assert revision(other) == "0003"
    else:
        restore(backup, other, again)
    with Store.open(other, again) as restored:
        assert content(restored) == before
        assert restored.files.folder.name == recordings.name  # they are found again


def test_a_newer_version_alone_is_an_upgrade_too(url, folder, monkeypatch):
    with Store.open(url, folder, writer=True):
        pass
    monkeypatch.setattr(upgrades, "__version__", "99.0")
    with Store.open(url, folder, writer=True) as store:
        assert store.upgraded.to_version == "99.0"
        assert store.upgraded.from_version
        assert store.upgraded.backup == ""
    with Store.open(url, folder, writer=True) as store:
        assert store.upgraded is None
        assert store.last_upgrade().to_version == "99.0"


def test_each_user_dismisses_the_notice(url, folder, monkeypatch):
    with Store.open(url, folder, writer=True):
        pass
    monkeypatch.setattr(upgrades, "__version__", "99.0")
    with Store.open(url, folder, writer=True) as store:
        assert not store.has_seen_upgrade("ada")
        store.dismiss_upgrade("ada")
        store.dismiss_upgrade("ada")
        assert store.has_seen_upgrade("ada")
        assert not store.has_seen_upgrade("bo")
    monkeypatch.setattr(upgrades, "__version__", "99.1")
    with Store.open(url, folder, writer=True) as store:
        assert not store.has_seen_upgrade("ada")  # of this upgrade


def test_the_last_three_backups_are_kept_and_other_files_are_left_alone(old):
    url, folder = old
    (folder / "backups").mkdir()
    own = folder / "backups" / "mine.tar"
    own.write_bytes(b"x")
    for number in range(5):
        path = folder / "backups" / f"before-tables-0002-2020010{number}-000000.db"
        path.write_bytes(b"x")
        os.utime(path, (number, number))
    with Store.open(url, folder, writer=True):
        pass
    names = [path.name for path in backups(folder)]
    assert len(names) == 4
    assert "mine.tar" in names
    assert f"before-tables-{NEWEST}" in names[-2]


def test_without_space_for_a_backup_nothing_is_upgraded(old):
    url, folder = old
    # A folder that cannot be written, as a disk that is full cannot: root may write anywhere else.
    (folder / "backups").write_text("in the way")
    with pytest.raises(SsdptError, match="is not upgraded without a backup, which cannot be"):
        Store.open(url, folder, writer=True)
    assert revision(url) == "0003"
    (folder / "backups").unlink()
    Store.open(url, folder, writer=True).close()


def test_a_full_disk_is_named(old, tmp_path):
    url, folder = old
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small disk")
    try:
        (folder / "backups").symlink_to(small)
        (small / "filling").write_bytes(b"x" * 60_000)
        with pytest.raises(SsdptError, match="disk is full"):
            Store.open(url, folder, writer=True)
        assert revision(url) == "0003"
        assert [path.name for path in small.iterdir()] == ["filling"]
    finally:
        subprocess.run(["umount", str(small)], check=True)


_KILLED = """
import os, signal, sys
from alembic import op
from pathlib import Path
from ssdpt.monitor.store import Store, schema

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

schema.check_references = killed  # all tables are changed, nothing is committed
Store.open(sys.argv[1], Path(sys.argv[2]), writer=True)
"""


def test_a_service_that_is_killed_while_it_upgrades_comes_back(url, folder):
    folder.mkdir()
    old_copy(url, folder)
    address = make_url(url).render_as_string(hide_password=False)
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, address, str(folder)], capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert revision(url) == "0003"
    assert len(backups(folder)) == 1
    with Store.open(url, folder, writer=True) as store:
        assert store.event(event(0).id).comments[0].text == "läuft\n"
        assert [user.name for user in store.users()] == ["ada"]
        with pytest.raises(SsdptError, match="already used by a service"):
            Store.open(url, folder, writer=True)
    assert not list((folder / "backups").glob(".*"))


def test_a_backup_with_an_impossible_store_is_refused(old, tmp_path):
    url, folder = old
    backup = tmp_path / "backup.tar"
    with Store.open(url, folder) as store:
        write_backup(store.database, store.files, backup, recordings=False)

    def changed(name, data):
        if name == "about.json":
            before = b'"recordings_of": "'
            data = data.replace(before, before + b"../../x")
        return name, data

    rewrite(backup, changed)
    with pytest.raises(SsdptError, match="damaged, or not a backup"):
        restore(backup, f"sqlite:///{tmp_path}/other.db", tmp_path)
