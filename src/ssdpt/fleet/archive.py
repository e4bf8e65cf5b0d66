"""Archives of any size, scored into shards.

OUT/manifest.json      what is scored: model, list of recordings, settings
OUT/part-00000.csv     scores of the first thousand clips (or .parquet), in their order
OUT/errors-00000.csv   which of these could not be scored, and why; only where there are some

A shard is there as a whole or not at all, and a part is written last: what is there is finished.
A run that was stopped continues with the shards that are missing, on either engine.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Self

from ssdpt.common.cluster import Cluster, device_of_task
from ssdpt.common.files import atomic_path, digest, printable, write_json, write_text
from ssdpt.common.progress import SILENT, Reporter, Task
from ssdpt.common.temporary import is_temporary, remove_leftovers
from ssdpt.detection.storage import (
    CALIBRATION,
    CONFIG,
    DATA,
    WEIGHTS,
    check_format,
    is_model,
    read_json,
)
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import INDEX, Fleet
from ssdpt.runtime.manifest import GRAPHS, MANIFEST, REFERENCES, is_export
from ssdpt.scoring.rows import COLUMNS, as_row
from ssdpt.types import Recording, Score
from ssdpt.version import __version__

FORMAT = 1
HEAD = "manifest.json"
ERROR_COLUMNS = ("path", "error")
SHARD_SIZE = 1000  # clips

# All that a score depends on; the card and the log may be edited.
_MODEL_FILES = frozenset(
    {CONFIG, WEIGHTS, CALIBRATION, DATA, INDEX, MANIFEST, REFERENCES}.union(*GRAPHS.values())
)
_LEVEL = COLUMNS.index("level")
_NUMBERS = frozenset({"value", "threshold", "p_value"})
_DIFFERENCES = {
    "ssdpt_version": "another version of ssdpt",
    "model": "another model",
    "recordings": "another list of recordings",
    "clips": "another list of recordings",
}

_SHARED = "put it on storage that every node of the cluster sees under this path"

Table = Literal["csv", "parquet"]


@dataclass(frozen=True, slots=True)
class Scoring:
    """How every clip of an archive is scored, on any computer."""

    model: Path  # absolute: workers have other working folders
    digest: str  # of the model
    hop: int | str | None
    strict: bool

    @classmethod
    def by(cls, model: Path, *, hop: int | str | None = None, strict: bool = False) -> Self:
        """By the model in a folder, as it is there now."""
        if not model.is_dir():
            raise SsdptError(f"{model}: no such model")
        if not (is_model(model) or is_export(model) or (model / INDEX).is_file()):
            raise SsdptError(f"{model}: not a model; give the folder that fit or export made")
        return cls(model.absolute(), model_digest(model), hop, strict)


@dataclass(slots=True)
class ShardScores:
    """The clips of one shard: those with a score, and those that could not be scored."""

    rows: list[list[Any]]  # as COLUMNS
    errors: list[tuple[str, str]]  # as ERROR_COLUMNS


@dataclass(frozen=True, slots=True)
class Summary:
    """What is in an archive's folder: clips by how they came out."""

    clips: int
    anomalous: int
    failed: int
    scored_now: int  # the others were there from a run before


Clips = Sequence[Recording]
Shards = Sequence[tuple[int, Clips]]

# Scores every shard it is given: by number, in any order, each once.
Engine = Callable[[Scoring, Shards, Task], Iterator[tuple[int, ShardScores]]]


def local_engine(device: str = "auto") -> Engine:
    """All cores of this machine, or its GPU."""

    def score(
        scoring: Scoring, shards: Shards, progress: Task
    ) -> Iterator[tuple[int, ShardScores]]:
        fleet = Fleet.load(scoring.model, device=device, hop=scoring.hop)
        # One stream over all shards: no core waits where one ends and the next begins.
        clips = (clip for _, clips in shards for clip in clips)
        stream = fleet.score_all(clips, strict=scoring.strict)
        for number, part in shards:
            yield number, _collect(islice(stream, len(part)), progress)

    return score


def ray_engine(cluster: Cluster, *, gpus: float = 0.0, device: str = "auto") -> Engine:
    """The nodes of a Ray cluster, which find model and recordings at the paths they have here."""
    chosen = device_of_task(device, gpus)

    def score(
        scoring: Scoring, shards: Shards, progress: Task
    ) -> Iterator[tuple[int, ShardScores]]:
        work = functools.partial(_on_worker, scoring, chosen)
        for position, result in cluster.run(work, (clips for _, clips in shards), gpus=gpus):
            number, clips = shards[position]
            if isinstance(result, SsdptError):
                raise result
            progress.advance(len(clips))
            yield number, result

    return score


def score_archive(
    recordings: Iterable[Recording],
    scoring: Scoring,
    out: Path,
    engine: Engine,
    *,
    table: Table = "csv",
    shard_size: int = SHARD_SIZE,
    reporter: Reporter = SILENT,
) -> Summary:
    """Score every recording into `out`, or continue where an earlier run was stopped.

    The same model, recordings and settings are needed to continue; anything else is refused.
    """
    if table == "parquet":
        import pyarrow.parquet  # noqa: F401  says at once that it is missing
    clips = _each_once(recordings, reporter)
    parts = [clips[start : start + shard_size] for start in range(0, len(clips), shard_size)]
    _begin(
        out,
        {
            "format": FORMAT,
            "ssdpt_version": __version__,
            "model": scoring.digest,
            "recordings": _list_digest(clips),
            "clips": len(clips),
            "shard_size": shard_size,
            "shards": len(parts),
            "table": table,
            "hop": None if scoring.hop is None else str(scoring.hop),
            "strict": scoring.strict,
        },
    )
    remove_leftovers(out)
    missing, anomalous, failed = [], 0, 0
    for number, part in enumerate(parts):
        if before := _read_counts(out, number, table, len(part)):
            anomalous, failed = anomalous + before[0], failed + before[1]
        else:
            missing.append((number, part))
    left = sum(len(part) for _, part in missing)
    if left < len(clips):
        reporter.say(f"{len(clips) - left} of {len(clips)} clips are scored already")
    if missing:
        with reporter.task("scoring", total=left) as progress:
            for number, shard in engine(scoring, missing, progress):
                _write_shard(out, number, table, shard)
                anomalous += sum(row[_LEVEL] != "normal" for row in shard.rows)
                failed += len(shard.errors)
    return Summary(len(clips), anomalous, failed, left)


def model_digest(model: Path) -> str:
    """Of every file that scores depend on, in a model folder or in a folder of models."""
    total = hashlib.blake2b(digest_size=16)
    for path in sorted(model.rglob("*")):
        if path.name in _MODEL_FILES and path.is_file():
            total.update(f"{path.relative_to(model).as_posix()} {digest(path)}\n".encode())
    return total.hexdigest()


def _on_worker(scoring: Scoring, device: str, clips: Clips) -> ShardScores:
    """One shard, on another machine."""
    host = socket.gethostname()
    if not scoring.model.is_dir():
        raise SsdptError(f"{scoring.model}: no such model on {host}; {_SHARED}")
    if not any(clip.path.exists() for clip in clips):
        raise SsdptError(f"{clips[0].path}: no such file on {host}; {_SHARED}")
    fleet = _loaded(scoring.model, scoring.digest, scoring.hop, device)
    return _collect(fleet.score_all(clips, strict=scoring.strict), Task())


@functools.lru_cache(maxsize=1)
def _loaded(model: Path, expected: str, hop: int | str | None, device: str) -> Fleet:
    """The model, read once in the life of a worker process."""
    if model_digest(model) != expected:
        host = socket.gethostname()
        raise SsdptError(f"{model}: another model on {host} than here; {_SHARED}")
    return Fleet.load(model, device=device, hop=hop)


def _collect(
    results: Iterable[tuple[Recording, Score | SsdptError]], progress: Task
) -> ShardScores:
    shard = ShardScores([], [])
    for recording, result in results:
        if isinstance(result, SsdptError):
            shard.errors.append((printable(str(recording.path)), printable(str(result))))
        else:
            shard.rows.append(as_row(replace(result, path=printable(result.path))))
        progress.advance()
    return shard


def _each_once(recordings: Iterable[Recording], reporter: Reporter) -> list[Recording]:
    """The recordings by absolute path, which holds on every machine and from every folder."""
    by_path: dict[Path, Recording] = {}
    count = 0
    for recording in recordings:
        path = recording.path.absolute()
        snapshots = tuple(file.absolute() for file in recording.snapshots)
        by_path.setdefault(path, replace(recording, path=path, snapshots=snapshots))
        count += 1
    if count > len(by_path):
        reporter.warn(f"{count - len(by_path)} recordings were given more than once")
    return list(by_path.values())


def _list_digest(clips: Clips) -> str:
    total = hashlib.blake2b(digest_size=16)
    for clip in clips:
        for text in (str(clip.path), clip.machine, clip.section):
            total.update(os.fsencode(text) + b"\0")
    return total.hexdigest()


def _begin(out: Path, head: dict[str, Any]) -> None:
    """Take a new or empty folder, or one that was begun with just this."""
    if out.exists() and not out.is_dir():
        raise SsdptError(f"{out}: is a file; shards go into a folder, choose another name")
    begun = read_json(out / HEAD) if (out / HEAD).is_file() else None
    if begun is not None and "shard_size" in begun:
        check_format(out, begun, HEAD, FORMAT)
    elif out.is_dir() and (foreign := sorted(_names(out))):
        raise SsdptError(
            f"{out}: holds other files ({foreign[0]}); choose an empty or a new folder"
        )
    if begun is None or not any(out.glob("part-*")):
        # Nothing is finished, so nothing of an earlier attempt is lost.
        write_json(out / HEAD, head)
        return
    for name, value in head.items():
        if begun.get(name) != value:
            what = _DIFFERENCES.get(name) or f"{name.replace('_', ' ')} {begun.get(name)}"
            raise SsdptError(
                f"{out}: these shards were begun with {what}; choose another --out, or continue "
                "with what they were begun with"
            )


def _names(out: Path) -> list[str]:
    """What is in a folder, without what a killed run left unfinished."""
    return [entry.name for entry in out.iterdir() if not is_temporary(entry.name)]


def _part(out: Path, number: int, table: Table) -> Path:
    return out / f"part-{number:05d}.{table}"


def _errors(out: Path, number: int) -> Path:
    return out / f"errors-{number:05d}.csv"


def _write_shard(out: Path, number: int, table: Table, shard: ShardScores) -> None:
    errors = _errors(out, number)
    if shard.errors:
        write_text(errors, _csv_text(ERROR_COLUMNS, shard.errors))
    else:
        errors.unlink(missing_ok=True)  # of a run that was stopped before it wrote the part
    part = _part(out, number, table)
    if table == "csv":
        write_text(part, _csv_text(COLUMNS, shard.rows))
        return
    import pyarrow
    import pyarrow.parquet

    kinds = {name: pyarrow.float64() if name in _NUMBERS else pyarrow.string() for name in COLUMNS}
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in shard.rows]
    with atomic_path(part) as temporary:
        content = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(list(kinds.items())))
        pyarrow.parquet.write_table(content, temporary)


def _read_counts(out: Path, number: int, table: Table, clips: int) -> tuple[int, int] | None:
    """(anomalous, failed) of a finished shard of `clips`; None for one that is not there."""
    part, errors = _part(out, number, table), _errors(out, number)
    if not part.is_file():
        return None
    if table == "csv":
        levels = [row[_LEVEL] for row in _csv_rows(part, COLUMNS)]
    else:
        import pyarrow.parquet

        try:
            levels = pyarrow.parquet.read_table(part, columns=["level"])["level"].to_pylist()
        except (OSError, ValueError) as error:
            raise _damaged(part) from error
    failed = sum(1 for _ in _csv_rows(errors, ERROR_COLUMNS)) if errors.is_file() else 0
    if len(levels) + failed != clips:
        raise _damaged(part)
    return sum(level != "normal" for level in levels), failed


def _csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _csv_rows(path: Path, columns: Sequence[str]) -> Iterator[list[str]]:
    """The rows below the heading, which must name these columns."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            if next(reader, []) != list(columns):
                raise _damaged(path)
            for row in reader:
                if len(row) != len(columns):
                    raise _damaged(path)
                yield row
    except (OSError, ValueError, csv.Error) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> SsdptError:
    return SsdptError(f"{path}: damaged; delete this file, and it is scored again")
