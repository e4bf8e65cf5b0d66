"""A backup holds the whole store, for either database; a damaged one changes nothing."""

from __future__ import annotations

import gzip
import json
import stat

import pytest
from sqlalchemy import delete
from store_data import BEGIN, content, event, fill, readings, rewrite

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store, User, back_up, restore
from ssdpt.monitor.store.tables import attachments

PAIRS = [
    ("sqlite", "sqlite"),
    pytest.param("sqlite", "postgresql", marks=pytest.mark.needs_postgres),
    pytest.param("postgresql", "sqlite", marks=pytest.mark.needs_postgres),
    pytest.param("postgresql", "postgresql", marks=pytest.mark.needs_postgres),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_store_is_restored_completely_into_either_database(
    source, target, new_url, folder, tmp_path
):
    path = tmp_path / "backup.tar"
    with Store.open(new_url(source), folder) as store:
        fill(store)
        token = store.new_token("ada", 7)
        before = content(store)
        back_up(store, path)
        # Later changes are not in it.
        store.save_event(event(1))
    url = new_url(target)
    restore(path, url, tmp_path / "restored")
    with Store.open(url, tmp_path / "restored", writer=True) as store:
        assert content(store) == before
        assert store.attachment(event(0).id, "audio").read_bytes() == b"sound"
        assert (tmp_path / "restored") in store.sample("pump-1").parents
        assert store.check_password("ada", "correct horse") == User("ada", "admin")
        assert store.check_token(token) == User("ada", "admin")
        # New rows get new numbers.
        store.add_readings(readings("fan-2", BEGIN, [1.0]))
        store.comment(event(0).id, "Bo", BEGIN + 6, "restored")
        assert [one.who for one in store.event(event(0).id).comments] == ["Ada", "Bo"]
        assert store.actions()[0].what == "comment"


def test_an_empty_store_is_restored(store, new_url, kind, tmp_path):
    back_up(store, tmp_path / "backup.tar")
    url = new_url(kind)
    restore(tmp_path / "backup.tar", url, tmp_path / "restored")
    with Store.open(url, tmp_path / "restored") as again:
        assert content(again) == content(store)
        assert again.files.folder != store.files.folder


def test_others_cannot_read_a_backup(store, tmp_path):
    back_up(store, tmp_path / "backup.tar")
    assert stat.S_IMODE((tmp_path / "backup.tar").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_store_is_never_overwritten(store, url, folder, tmp_path):
    fill(store)
    before = content(store)
    back_up(store, tmp_path / "backup.tar")
    with pytest.raises(SsdptError, match="has a store already"):
        restore(tmp_path / "backup.tar", url, folder)
    assert content(store) == before


def test_files_that_retention_removes_meanwhile_are_omitted(store, new_url, tmp_path):
    fill(store)
    store.files.path(store.attach(event(0).id, "map", b"gone", ".npz")).unlink()
    back_up(store, tmp_path / "backup.tar")
    url = new_url("sqlite")
    restore(tmp_path / "backup.tar", url, tmp_path / "restored")
    with Store.open(url, tmp_path / "restored") as again:
        assert again.attachment(event(0).id, "map") is None
        assert again.attachment(event(0).id, "audio").read_bytes() == b"sound"
        with store.database.write() as connection:
            connection.execute(delete(attachments).where(attachments.c.name == "map"))
        assert content(again) == content(store)


def newer(name, data):
    if name == "about.json":
        data = json.dumps(json.loads(data) | {"tables": "9999"}).encode()
    return name, data


def escaping(name, data):
    return ("files/../../../escaped.flac" if name.startswith("files/") else name), data


def with_rows(table, change):
    """A change of the first rows of a table."""

    def rewritten(name, data):
        if name == f"tables/{table}.jsonl.gz":
            head, *lines = gzip.decompress(data).decode().splitlines()
            names, rows = json.loads(head), json.loads(lines[0])
            change(names, rows)
            text = "\n".join([json.dumps(names), json.dumps(rows), *lines[1:]])
            data = gzip.compress(text.encode())
        return name, data

    return rewritten


def set_value(column, value):
    def change(names, rows):
        rows[0][names.index(column)] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_rows("events", set_value("findings", "[{")), "damaged, or not"),
        (with_rows("events", set_value("began", "today")), "damaged, or not"),
        (with_rows("events", set_value("began", 10**30)), "damaged, or not"),
        (with_rows("notes", set_value("kind", "<b>")), "damaged, or not"),
        (with_rows("users", set_value("role", "god")), "a user has the role god"),
        (with_rows("machine_values", set_value("value", "[" * 9999)), "damaged, or not"),
        (with_rows("users", lambda names, _: names.append("more")), "unknown columns of users"),
        (lambda name, data: (name, b"[" * 9999 if "about" in name else data), "damaged, or not"),
        (newer, "newer version of ssdpt"),
        (escaping, "not a key of this store"),
        (
            lambda name, data: (name, None if name == "about.json" else data),
            "not a backup of ssdpt",
        ),
        (lambda name, data: (name, None if "events" in name else data), "not a backup of ssdpt"),
        (lambda name, data: (name, None if "files" in name else data), "parts of the backup"),
        (lambda name, data: (name, data[:-9] if "seconds" in name else data), "damaged, or not"),
        (lambda name, data: (name, b"x" if "minutes" in name else data), "damaged, or not"),
    ],
)
def test_a_damaged_backup_leaves_nothing_behind(new_url, folder, tmp_path, change, message):
    path = tmp_path / "backup.tar"
    with Store.open(new_url("sqlite"), folder) as store:
        fill(store)
        store.add_note("pump-1", BEGIN, "repair", "greased", who="Ada", now=BEGIN)
        back_up(store, path)
    rewrite(path, change)
    url = new_url("sqlite")
    with pytest.raises(SsdptError, match=message):
        restore(path, url, tmp_path / "restored")
    assert list(tmp_path.rglob("escaped.flac")) == []
    assert list(tmp_path.glob("restored/*")) == []
    with Store.open(url, tmp_path / "restored") as fresh:
        assert fresh.events() == []
        assert fresh.users() == []


def without_events(name, data):
    if name == "tables/events.jsonl.gz":
        data = gzip.compress(gzip.decompress(data).splitlines()[0] + b"\n")
    elif name == "about.json":
        about = json.loads(data)
        about["rows"]["events"] = 0
        data = json.dumps(about).encode()
    return name, data


def test_rows_with_broken_references_are_refused(store, new_url, kind, tmp_path):
    fill(store)
    path, url = tmp_path / "backup.tar", new_url(kind)
    back_up(store, path)
    rewrite(path, without_events)
    with pytest.raises(SsdptError, match="damaged, or not a backup"):
        restore(path, url, tmp_path / "restored")
    with Store.open(url, tmp_path / "restored") as fresh:
        assert fresh.users() == []


@pytest.mark.needs_postgres
def test_half_a_restore_into_postgres_leaves_no_tables(new_url, folder, tmp_path):
    path = tmp_path / "backup.tar"
    with Store.open(new_url("sqlite"), folder) as store:
        fill(store)
        back_up(store, path)
    whole = path.read_bytes()
    rewrite(path, lambda name, data: (name, b"x" if "users" in name else data))
    url = new_url("postgresql")
    with pytest.raises(SsdptError, match="damaged, or not"):
        restore(path, url, tmp_path / "restored")
    path.write_bytes(whole)
    restore(path, url, tmp_path / "restored")  # the failed attempt has left no store


def test_a_file_that_is_not_a_backup_is_refused(tmp_path, new_url):
    with pytest.raises(SsdptError, match="no such file"):
        restore(tmp_path / "nothing.tar", new_url("sqlite"), tmp_path / "restored")
    (tmp_path / "text.tar").write_text("not a tar file")
    with pytest.raises(SsdptError, match="not a backup of ssdpt"):
        restore(tmp_path / "text.tar", new_url("sqlite"), tmp_path / "restored")


def test_a_backup_cut_short_is_refused(store, new_url, tmp_path):
    fill(store)
    path = tmp_path / "backup.tar"
    back_up(store, path)
    whole = path.read_bytes()
    for length in (len(whole) // 2, len(whole) // 3, 512, 0):
        path.write_bytes(whole[:length])
        with pytest.raises(SsdptError, match="damaged, or not a backup"):
            restore(path, new_url("sqlite"), tmp_path / "restored")
