"""A CSV table of recordings: one's own data in any folders, described row by row.

Columns, in any order; only `path` must be there and a field may be empty:

    path        relative to the CSV file, or absolute
    machine     name of the machine (type); the CSV's folder gives it otherwise
    section     machine ID
    domain      source or target
    split       train, test or supplemental
    label       normal or anomaly
    attributes  operating conditions, `speed=2;load=high`
    fault       name of the anomaly
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from ssdpt.common.files import is_file
from ssdpt.errors import SsdptError, one_line
from ssdpt.types import Domain, Label, Recording, Split

COLUMNS = ("path", "machine", "section", "domain", "split", "label", "attributes", "fault")

_DOMAINS: dict[str, Domain] = {"": "source", "source": "source", "target": "target"}
_SPLITS: dict[str, Split] = {
    "": "",
    "train": "train",
    "test": "test",
    "supplemental": "supplemental",
}
_LABELS: dict[str, Label] = {
    "": "",
    "normal": "normal",
    "anomaly": "anomaly",
    "anomalous": "anomaly",
    "abnormal": "anomaly",
}

Choice = TypeVar("Choice", bound=str)


def read_manifest(path: Path) -> tuple[list[Recording], tuple[str, ...]]:
    """The recordings of a manifest, in its order, and notes on what was passed over."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SsdptError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    header = text.partition("\n")[0]
    delimiter = ";" if ";" in header and "," not in header else ","
    table = csv.reader(text.splitlines(), delimiter=delimiter, strict=True)
    recordings: list[Recording] = []
    seen: dict[Path, int] = {}
    try:
        columns = [name.strip().lower() for name in next(table, [])]
        _check_columns(path, columns)
        for cells in table:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{path}, line {table.line_num}"
            if len(cells) > len(columns):
                raise SsdptError(
                    f"{where}: {len(cells)} fields, but the header has {len(columns)}; put fields "
                    f"that hold the separator in quotes"
                )
            row = {name: cell.strip() for name, cell in zip(columns, cells, strict=False)}
            recording = _recording(path, where, row)
            if first := seen.get(recording.path):
                raise SsdptError(f"{where}: the same file as in line {first}; keep one of the two")
            seen[recording.path] = table.line_num
            recordings.append(recording)
    except csv.Error as error:
        raise SsdptError(f"{path}, line {table.line_num}: not valid CSV ({error})") from error
    if not recordings:
        raise SsdptError(f"{path}: no recordings; add a row for each sound file")
    unknown = [name for name in columns if name not in COLUMNS]
    notes = (one_line(f"columns passed over: {', '.join(unknown)}"),) if unknown else ()
    return recordings, notes


def _check_columns(path: Path, columns: list[str]) -> None:
    if "path" not in columns:
        raise SsdptError(
            f"{path}: no column named path in the first line; a manifest has the columns "
            f"{', '.join(COLUMNS)} (only path must be there)"
        )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise SsdptError(f"{path}: the column {twice[0]} is there twice; keep one of the two")


def _recording(manifest: Path, where: str, row: Mapping[str, str]) -> Recording:
    if not row.get("path"):
        raise SsdptError(f"{where}: no path; name the sound file")
    path = manifest.parent / row["path"]
    if not is_file(path):
        raise SsdptError(f"{where}: no such file: {path}; check the path")
    label = _choice(where, "label", row, _LABELS)
    fault = row.get("fault", "")
    if fault and label == "normal":
        raise SsdptError(f"{where}: labelled normal, yet with the fault {fault}; which is it?")
    return Recording(
        path=path,
        machine=_name(where, "machine", row) or manifest.absolute().parent.name or "machine",
        section=_name(where, "section", row),
        domain=_choice(where, "domain", row, _DOMAINS),
        split=_choice(where, "split", row, _SPLITS),
        label="anomaly" if fault else label,
        attributes=_attributes(where, row.get("attributes", "")),
        fault=fault,
    )


def _choice(
    where: str, column: str, row: Mapping[str, str], choices: Mapping[str, Choice]
) -> Choice:
    text = row.get(column, "")
    try:
        return choices[text.lower()]
    except KeyError:
        allowed = ", ".join(choice for choice in dict.fromkeys(choices.values()) if choice)
        raise SsdptError(f"{where}: {column} is {text!r}; write one of {allowed}") from None


def _name(where: str, column: str, row: Mapping[str, str]) -> str:
    """A name that can also name a folder of results."""
    text = row.get(column, "")
    if text.startswith(".") or any(sign in text for sign in "/\\\0"):
        raise SsdptError(
            f"{where}: {column} is {text!r}; write a name without slashes or a leading dot"
        )
    return text


def _attributes(where: str, text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, sign, value = part.partition("=")
        if not sign or not name.strip():
            raise SsdptError(f"{where}: attribute {part!r}; write name=value;name=value")
        pairs.append((name.strip(), value.strip()))
    return tuple(pairs)
