"""A whole store and what was learnt in one .tar, that either database can be restored from.

models/…, machines.json  see ssdpt.monitor.store.learned_models
files/<key>              recordings and pictures
tables/<name>.jsonl.gz   the names of the columns, then rows, some thousand a line
about.json               versions, and how much there is; the last, so that it vouches for the rest
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

from sqlalchemy import Connection, column, delete, select, table, text
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
from ssdpt.monitor.store.schema import check_references, known, newest, revision, store_id, upgrade
from ssdpt.monitor.store.store import Store
from ssdpt.monitor.store.tables import about, metadata
from ssdpt.monitor.store.tar import add_bytes, open_member, write_member
from ssdpt.version import __version__

_FORMAT = 2  # 1: without models and machines
_ABOUT = "about.json"
_ROWS_A_LINE = 5000
_SERIAL = ("machines", "comments", "actions")  # their ids count up
_OWNERS_OF_FILES = ("attachments", "samples")


def back_up(store: Store, path: Path) -> None:
    """Everything in the store and beside it as it is at this moment, while the service goes on."""
    with (
        atomic_path(path) as temporary,
        tempfile.TemporaryDirectory(prefix=".ssdpt-", dir=path.parent) as work,
        tarfile.open(temporary, "w") as tar,
        store.database.read() as connection,
    ):
        learnt = add_learned_models(tar, store.files.folder.parent)
        there = _add_files(tar, store.files, connection)
        rows = {
            own.name: _add_table(tar, Path(work), connection, own, there)
            for own in metadata.sorted_tables
            if own is not about
        }
        content = {
            "format": _FORMAT,
            "ssdpt": __version__,
            "tables": revision(connection),
            "made": time.time(),
            "rows": rows,
            "files": len(there),
            "learnt": learnt,
        }
        add_bytes(tar, _ABOUT, json.dumps(content, indent=2).encode())
    with writing(path):
        path.chmod(0o600)  # it holds password hashes


def restore(path: Path, url: str, folder: Path) -> None:
    """Make a store out of a backup, in an empty database, and put what was learnt beside it in
    `folder`, where none of it may be yet; all of it or nothing."""
    with contextlib.ExitStack() as undo, _readable(path) as tar:
        content = _read_about(path, tar)
        database = Database(url)
        undo.callback(database.close)
        with database.write(makes_tables=True) as connection:
            if revision(connection) is not None:
                raise SsdptError(
                    f"{database.name}: there is a store already; restore into an empty database"
                )
            upgrade(connection, content["tables"])
            own = files_folder(folder, store_id(database, connection))
            incomplete = undo.enter_context(contextlib.ExitStack())
            incomplete.callback(shutil.rmtree, own, ignore_errors=True)
            recordings = Files(own)
            waiting = tempfile.TemporaryDirectory(prefix=".ssdpt-", dir=folder)
            learnt = LearnedModelFiles(folder, Path(undo.enter_context(waiting)))
            files = _extract(tar, recordings, learnt)
            rows = {name: _fill(tar, connection, name) for name in content["rows"]}
            expected = (content["files"], content["rows"], content.get("learnt", []))
            if (files, rows, sorted(learnt.found)) != expected:
                raise SsdptError(f"{path}: parts of the backup are missing; take another one")
            if not database.is_sqlite:
                _count_on(connection)
            check_references(connection)
            upgrade(connection)
            learnt.move(incomplete)
        incomplete.pop_all()


def _add_files(tar: tarfile.TarFile, files: Files, connection: Connection) -> set[str]:
    """The files of all rows; the keys of those that retention has not removed meanwhile."""
    there = set()
    for name in _OWNERS_OF_FILES:
        for key in connection.scalars(select(metadata.tables[name].c.key)):
            with contextlib.suppress(FileNotFoundError), files.path(key).open("rb") as file:
                info = tar.gettarinfo(arcname=f"files/{key}", fileobj=file)
                tar.addfile(info, file)
                there.add(key)
    return there


def _add_table(
    tar: tarfile.TarFile, work: Path, connection: Connection, own: SqlTable, files: set[str]
) -> int:
    """Its rows, without those whose file is not there; how many."""
    path = work / own.name
    query = select(own).execution_options(stream_results=True, max_row_buffer=_ROWS_A_LINE)
    query = query.order_by(*own.primary_key.columns)
    count = 0
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as lines:
        lines.write(json.dumps([part.name for part in own.c]) + "\n")
        for rows in connection.execute(query).partitions(_ROWS_A_LINE):
            kept = [
                list(row) for row in rows if own.name not in _OWNERS_OF_FILES or row.key in files
            ]
            lines.write(json.dumps(kept, separators=(",", ":")) + "\n")
            count += len(kept)
    tar.add(path, f"tables/{own.name}.jsonl.gz")
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
        *(ValueError, KeyError, TypeError, DBAPIError),  # of content that no store has written
    ) as error:
        raise SsdptError(
            f"{path}: is damaged or no backup of ssdpt ({error}); take another one"
        ) from error


def _read_about(path: Path, tar: tarfile.TarFile) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(open_member(tar, _ABOUT).read())
    if content["format"] > _FORMAT or not known(content["tables"]):
        raise SsdptError(
            f"{path}: was made by a newer version of ssdpt ({content['ssdpt']}, tables "
            f"{content['tables']}; this one knows {newest()}); update ssdpt"
        )
    return content


def _extract(tar: tarfile.TarFile, files: Files, learnt: LearnedModelFiles) -> int:
    """Only names that a backup has are written, whatever else the .tar holds; how many files."""
    count = 0
    for member in tar:
        if not member.isreg():
            continue
        if member.name.startswith("files/"):
            write_member(tar, member, files.path(member.name.removeprefix("files/")))
            count += 1
        elif member.name.startswith(f"{MODELS}/") or member.name == MACHINES:
            learnt.take(tar, member)
    return count


def _fill(tar: tarfile.TarFile, connection: Connection, name: str) -> int:
    """Insert the rows of a table; how many."""
    if name not in metadata.tables:
        raise KeyError(f"table {name} is not known")
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


def _count_on(connection: Connection) -> None:
    """New rows are numbered after the restored ones."""
    for name in _SERIAL:
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "
                f"(SELECT coalesce(max(id), 0) + 1 FROM {name}), false)"
            )
        )
