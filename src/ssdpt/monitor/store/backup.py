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
import re
import tarfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, MetaData, column, delete, inspect, select, table, text
from sqlalchemy import Table as SqlTable
from sqlalchemy.exc import SQLAlchemyError

from ssdpt.common.files import atomic_path
from ssdpt.common.temporary import temporary_folder
from ssdpt.errors import SsdptError
from ssdpt.monitor.store.attachments import Files
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.learned_models import add_learned_models
from ssdpt.monitor.store.patience import patient
from ssdpt.monitor.store.restored_files import RestoredFiles, undo_killed_restore
from ssdpt.monitor.store.restored_rows import check_rows
from ssdpt.monitor.store.schema import (
    check_references,
    current_revision,
    is_known_revision,
    newest_revision,
    store_id,
    upgrade,
)
from ssdpt.monitor.store.tables import about, metadata
from ssdpt.monitor.store.tar import add_bytes, open_member
from ssdpt.version import __version__

if TYPE_CHECKING:
    from ssdpt.monitor.store.store import Store

_FORMAT = 3  # 1: without models and machines; 2: names of their files under "learnt"
_ABOUT = "about.json"
_ROWS_PER_LINE = 5000
_LONGEST_LINE = 100_000_000  # characters
_SERIAL = ("machines", "comments", "notes", "actions")  # tables whose ids count up
_NEVER_FILLED = (about.name, "alembic_version")  # describe the database itself
_WITH_FILES = ("attachments", "samples", "recordings")  # tables whose rows have a file


def back_up(store: Store, path: Path) -> None:
    """Write a backup of the store and the learned models; the service may be running."""
    write_backup(store.database, store.files, path)


def write_backup(database: Database, files: Files, path: Path, *, recordings: bool = True) -> None:
    """Write a backup of a database, its files and the learned models.

    Without `recordings` these stay where they are, and a restored store finds them again. The
    database may have the tables of an earlier release.
    """
    with (
        atomic_path(path, private=True) as temporary,  # it holds password hashes
        temporary_folder(path) as work,
        tarfile.open(temporary, "w") as tar,
    ):
        add_backup(tar, database, files, work, recordings=recordings)


def add_backup(
    tar: tarfile.TarFile, database: Database, files: Files, work: Path, *, recordings: bool = True
) -> None:
    """Add everything to a .tar that need not be seekable; tables pass through the folder `work`."""
    with patient(), database.read() as connection:
        learned_files = add_learned_models(tar, files.folder.parent)
        keys = _add_files(tar, files, connection) if recordings else None
        rows = {
            sql_table.name: _add_table(tar, work, connection, sql_table, keys)
            for sql_table in _tables(connection)
        }
        content = {
            "format": _FORMAT,
            "ssdpt": __version__,
            "tables": current_revision(connection),
            "made": time.time(),
            "rows": rows,
            "files": len(keys or ()),
            "learned_files": learned_files,
            # The store whose files are not in the backup.
            "recordings_of": "" if recordings else store_id(database, connection),
        }
        add_bytes(tar, _ABOUT, json.dumps(content, indent=2).encode())


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
                undo_killed_restore(folder, store_id(database, connection))
                raise SsdptError(
                    f"{database.name}: this database has a store already; restore into an empty one"
                )
            undo_killed_restore(folder, None)
            upgrade(connection, content["tables"])
            id = store_id(database, connection, _recordings_of(content))
            files = RestoredFiles(folder, id, undo)
            files.extract(tar)
            names = set(inspect(connection).get_table_names())  # of the revision of the backup
            rows = {name: _fill(tar, connection, name, names) for name in content["rows"]}
            learned_files = content.get("learned_files", content.get("learnt", []))
            expected = (content["files"], content["rows"], learned_files)
            if (files.recordings, rows, sorted(files.learned)) != expected:
                raise SsdptError(f"{path}: parts of the backup are missing; use another one")
            if not database.is_sqlite:
                _set_sequences(connection, [name for name in _SERIAL if name in names])
            check_references(connection)
            upgrade(connection)
            incomplete = undo.enter_context(contextlib.ExitStack())
            check_rows(connection)
            files.move(incomplete)
        incomplete.pop_all()


def _tables(connection: Connection) -> list[SqlTable]:
    """All tables with rows to keep, those that others refer to first; as they are now."""
    tables = metadata
    if current_revision(connection) != newest_revision():
        tables = MetaData()
        tables.reflect(connection)
    return [one for one in tables.sorted_tables if one.name not in _NEVER_FILLED]


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
    tar: tarfile.TarFile,
    work: Path,
    connection: Connection,
    sql_table: SqlTable,
    files: set[str] | None,
) -> int:
    """Add the rows of a table, without those whose file is missing; returns how many.

    `files`: keys of those that are in the backup; None where all stay where they are.
    """
    needs_file = files is not None and sql_table.name in _WITH_FILES
    path = work / sql_table.name
    query = select(sql_table).execution_options(stream_results=True, max_row_buffer=_ROWS_PER_LINE)
    query = query.order_by(*sql_table.primary_key.columns)
    count = 0
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as lines:
        lines.write(json.dumps([part.name for part in sql_table.c]) + "\n")
        for rows in connection.execute(query).partitions(_ROWS_PER_LINE):
            complete = [list(row) for row in rows if not needs_file or row.key in (files or ())]
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
        # Of content that no backup has.
        *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError),
        SQLAlchemyError,
    ) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SsdptError(
            f"{path}: damaged, or not a backup of ssdpt ({reason}); use another one"
        ) from error


def _read_about(path: Path, tar: tarfile.TarFile) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(open_member(tar, _ABOUT).read())
    if content["format"] > _FORMAT or not is_known_revision(content["tables"]):
        raise SsdptError(
            f"{path}: written by a newer version of ssdpt ({content['ssdpt']}, tables "
            f"{content['tables']}; this version supports {newest_revision()}); update ssdpt"
        )
    return content


def _recordings_of(content: dict[str, Any]) -> str:
    """The id of the store whose recordings were left where they are; empty: they are in here."""
    id = content.get("recordings_of", "")
    if id and not re.fullmatch("[0-9a-f]{16}", id):
        raise ValueError("a store with an impossible id")
    return str(id)


def _fill(tar: tarfile.TarFile, connection: Connection, name: str, tables: set[str]) -> int:
    """Insert the rows of a table, one of `tables`; returns how many."""
    if name not in tables or name in _NEVER_FILLED:
        raise KeyError(f"unknown table {name}")
    connection.execute(delete(table(name)))
    count = 0
    with gzip.open(open_member(tar, f"tables/{name}.jsonl.gz"), "rt", encoding="utf-8") as lines:
        names = json.loads(lines.readline(_LONGEST_LINE))
        if unknown := set(names) - {part["name"] for part in inspect(connection).get_columns(name)}:
            raise KeyError(f"unknown columns of {name}: {unknown}")
        insert = table(name, *map(column, names)).insert()
        # Some bytes unpack to a line that fills the memory: of a line that is too long, a piece is
        # read, which is no JSON.
        while line := lines.readline(_LONGEST_LINE):
            rows = [dict(zip(names, row, strict=True)) for row in json.loads(line)]
            if rows:
                connection.execute(insert, rows)
            count += len(rows)
    return count


def _set_sequences(connection: Connection, names: Sequence[str]) -> None:
    """Number new rows of these tables after the restored ones."""
    for name in names:
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "
                f"(SELECT coalesce(max(id), 0) + 1 FROM {name}), false)"
            )
        )
