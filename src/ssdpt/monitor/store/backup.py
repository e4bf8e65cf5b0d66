"""Backups: a store and the learned models in one .tar file, to be restored into either database.

models/…, machines.json  see ssdpt.monitor.store.learned_models
files/<key>              recordings and pictures
tables/<name>.jsonl.gz   the names of the columns, then lines of some thousand rows
about.json               versions and counts; written last, so that it proves the rest complete
"""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, column, delete, inspect, select, table, text
from sqlalchemy import Table as SqlTable
from sqlalchemy.exc import DBAPIError

from ssdpt.common.files import atomic_path, writing
from ssdpt.errors import SsdptError
from ssdpt.monitor.store.attachments import Files, files_folder
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.learned_models import (
    MACHINES,
    MODELS,
    LearnedModelFiles,
    add_learned_models,
)
from ssdpt.monitor.store.schema import (
    check_references,
    current_revision,
    is_known_revision,
    newest_revision,
    store_id,
    upgrade,
)
from ssdpt.monitor.store.store import Store
from ssdpt.monitor.store.tables import about, metadata
from ssdpt.monitor.store.tar import add_bytes, open_member, write_member
from ssdpt.version import __version__

_FORMAT = 3  # 1: without models and machines; 2: names of their files under "learnt"
_ABOUT = "about.json"
_ROWS_PER_LINE = 5000
_SERIAL = ("machines", "comments", "actions")  # tables whose ids count up
_NEVER_FILLED = (about.name, "alembic_version")  # describe the database itself
_WITH_FILES = ("attachments", "samples")  # tables whose rows have a file


def back_up(store: Store, path: Path) -> None:
    """Write a backup of the store and the learned models; the service may be running."""
    with (
        atomic_path(path) as temporary,
        tempfile.TemporaryDirectory(prefix=".ssdpt-", dir=path.parent) as work,
        tarfile.open(temporary, "w") as tar,
        store.database.read() as connection,
    ):
        learned_files = add_learned_models(tar, store.files.folder.parent)
        files = _add_files(tar, store.files, connection)
        rows = {
            sql_table.name: _add_table(tar, Path(work), connection, sql_table, files)
            for sql_table in metadata.sorted_tables
            if sql_table is not about
        }
        content = {
            "format": _FORMAT,
            "ssdpt": __version__,
            "tables": current_revision(connection),
            "made": time.time(),
            "rows": rows,
            "files": len(files),
            "learned_files": learned_files,
        }
        add_bytes(tar, _ABOUT, json.dumps(content, indent=2).encode())
    with writing(path):
        path.chmod(0o600)  # it holds password hashes


def restore(path: Path, url: str, folder: Path) -> None:
    """Restore a backup into an empty database and the data folder `folder`.

    The folder must not hold models or added machines of the backup yet. If anything fails, nothing
    has changed.
    """
    with contextlib.ExitStack() as undo, _readable(path) as tar:
        content = _read_about(path, tar)
        database = Database(url)
        undo.callback(database.close)
        with database.write(makes_tables=True) as connection:
            if current_revision(connection) is not None:
                raise SsdptError(
                    f"{database.name}: this database has a store already; restore into an empty one"
                )
            upgrade(connection, content["tables"])
            recordings = files_folder(folder, store_id(database, connection))
            incomplete = undo.enter_context(contextlib.ExitStack())
            incomplete.callback(shutil.rmtree, recordings, ignore_errors=True)
            files = Files(recordings)
            temporary = tempfile.TemporaryDirectory(prefix=".ssdpt-", dir=folder)
            learned = LearnedModelFiles(folder, Path(undo.enter_context(temporary)))
            count = _extract(tar, files, learned)
            names = set(inspect(connection).get_table_names())  # of the revision of the backup
            rows = {name: _fill(tar, connection, name, names) for name in content["rows"]}
            learned_files = content.get("learned_files", content.get("learnt", []))
            expected = (content["files"], content["rows"], learned_files)
            if (count, rows, sorted(learned.extracted)) != expected:
                raise SsdptError(f"{path}: parts of the backup are missing; use another one")
            if not database.is_sqlite:
                _set_sequences(connection)
            check_references(connection)
            upgrade(connection)
            learned.move(incomplete)
        incomplete.pop_all()


def _add_files(tar: tarfile.TarFile, files: Files, connection: Connection) -> set[str]:
    """Add the files of all rows; returns their keys, without files that retention has removed."""
    keys = set()
    for name in _WITH_FILES:
        for key in connection.scalars(select(metadata.tables[name].c.key)):
            with contextlib.suppress(FileNotFoundError), files.path(key).open("rb") as file:
                info = tar.gettarinfo(arcname=f"files/{key}", fileobj=file)
                tar.addfile(info, file)
                keys.add(key)
    return keys


def _add_table(
    tar: tarfile.TarFile, work: Path, connection: Connection, sql_table: SqlTable, files: set[str]
) -> int:
    """Add the rows of a table, without those whose file is missing; returns how many."""
    path = work / sql_table.name
    query = select(sql_table).execution_options(stream_results=True, max_row_buffer=_ROWS_PER_LINE)
    query = query.order_by(*sql_table.primary_key.columns)
    count = 0
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as lines:
        lines.write(json.dumps([part.name for part in sql_table.c]) + "\n")
        for rows in connection.execute(query).partitions(_ROWS_PER_LINE):
            complete = [
                list(row) for row in rows if sql_table.name not in _WITH_FILES or row.key in files
            ]
            lines.write(json.dumps(complete, separators=(",", ":")) + "\n")
            count += len(complete)
    tar.add(path, f"tables/{sql_table.name}.jsonl.gz")
    path.unlink()
    return count


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:") as tar:
            yield tar
    except FileNotFoundError as error:
        raise SsdptError(f"{path}: there is no such file") from error
    except (
        *(tarfile.TarError, OSError, EOFError, zlib.error),
        *(ValueError, KeyError, TypeError, DBAPIError),  # of content that no backup has
    ) as error:
        raise SsdptError(
            f"{path}: damaged, or not a backup of ssdpt ({error}); use another one"
        ) from error


def _read_about(path: Path, tar: tarfile.TarFile) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(open_member(tar, _ABOUT).read())
    if content["format"] > _FORMAT or not is_known_revision(content["tables"]):
        raise SsdptError(
            f"{path}: written by a newer version of ssdpt ({content['ssdpt']}, tables "
            f"{content['tables']}; this version supports {newest_revision()}); update ssdpt"
        )
    return content


def _extract(tar: tarfile.TarFile, files: Files, learned: LearnedModelFiles) -> int:
    """Extract members with the names of a backup, no others; returns how many are of `files`."""
    count = 0
    for member in tar:
        if not member.isreg():
            continue
        if member.name.startswith("files/"):
            write_member(tar, member, files.path(member.name.removeprefix("files/")))
            count += 1
        elif member.name.startswith(f"{MODELS}/") or member.name == MACHINES:
            learned.extract(tar, member)
    return count


def _fill(tar: tarfile.TarFile, connection: Connection, name: str, tables: set[str]) -> int:
    """Insert the rows of a table, one of `tables`; returns how many."""
    if name not in tables or name in _NEVER_FILLED:
        raise KeyError(f"unknown table {name}")
    connection.execute(delete(table(name)))
    count = 0
    with gzip.open(open_member(tar, f"tables/{name}.jsonl.gz"), "rt", encoding="utf-8") as lines:
        names = json.loads(next(lines))
        insert = table(name, *map(column, names)).insert()
        for line in lines:
            rows = [dict(zip(names, row, strict=True)) for row in json.loads(line)]
            if rows:
                connection.execute(insert, rows)
            count += len(rows)
    return count


def _set_sequences(connection: Connection) -> None:
    """Number new rows after the restored ones."""
    for name in _SERIAL:
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "
                f"(SELECT coalesce(max(id), 0) + 1 FROM {name}), false)"
            )
        )
