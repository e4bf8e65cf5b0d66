"""Tables as text: columns divided by comma, semicolon, tab or blanks, with or without names.

The line above the first numbers may name the columns (`time [s], acc_x [g]`); further lines above
it are passed over. A file is a recording if all its columns are numbers or times, or if
`sensor.yaml` names some that are: lists of files, results and notes are none.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np

from ssdpt.data.audio_error import AudioError
from ssdpt.data.sensor import Sensor, unit_of
from ssdpt.data.tables.base import Column, Table, TableFormat, name_and_unit

_OTHER_FILES = frozenset({"times.csv"})  # our own table beside recordings
_MOST_HEADER_LINES = 100
_ALIKE = 3  # lines of the same kinds of cells, which begin the numbers
_SNIFFED = 1 << 14  # bytes
_LEAST_ROWS = 16  # of a recording; a few numbers in a note are none
_MOST_ENDINGS = 100  # rows whose last cells say how many digits are usual
_DELIMITERS = ("\t", ";", ",", None)  # None: blanks

Kind = Literal["number", "time", "text"]


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the text is divided, and where its numbers begin."""

    delimiter: str | None
    first: int  # line of the first numbers, from 0
    kinds: tuple[Kind, ...]  # of the columns
    names: tuple[str, ...]  # of the columns; empty where they have none


def _read(path: Path, sensor: Sensor) -> Table:
    text = _text(path.read_bytes())
    lines = text.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise AudioError(path, "empty", "an empty file (no lines); record it again")
    shape = _shape(lines)
    if shape is None:
        raise AudioError(
            path,
            "unreadable",
            "no rows of numbers in it; a table has a column for each channel, divided by commas, "
            "semicolons, tabs or blanks",
        )
    _check_line_above(path, lines, shape)
    rows = lines[shape.first :]
    numbers = [place for place, kind in enumerate(shape.kinds) if kind == "number"]
    values = _numbers(path, rows, shape, numbers)  # (rows, number columns)
    if not text.endswith(("\n", "\r")):
        _check_last_digits(path, rows, shape)
    columns = []
    for place, kind in enumerate(shape.kinds):
        name, unit = name_and_unit(shape.names[place] if shape.names else "")
        if kind == "number":
            of_column = values[:, numbers.index(place)]
            columns.append(Column(name, of_column, unit, number=place))
        elif kind == "time":
            columns.append(Column("time", _times(path, rows, shape, place), number=place))
    return Table(tuple(columns), row_name="line", first_row=shape.first + 1)


def _is_recording(path: Path, sensor: Sensor) -> bool:
    if path.name.lower() in _OTHER_FILES:
        return False
    try:
        status = path.stat()
    except OSError:
        return False
    return _looks_like_numbers(path, sensor, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def _looks_like_numbers(path: Path, sensor: Sensor, changed: int, size: int) -> bool:
    """`changed` and `size`, so that a changed file is looked at again."""
    if not size:
        return sensor != Sensor()  # nothing in it says that it is none
    try:
        with path.open("rb") as file:
            beginning = file.read(_SNIFFED)
    except OSError:
        return False
    lines = _text(beginning).splitlines()
    shape = _shape(lines[:-1] if size > _SNIFFED else lines)  # the last one may be cut
    if shape is None or len(lines) - shape.first < _LEAST_ROWS:
        return False
    if sensor.columns:
        names = [name_and_unit(name)[0] for name in shape.names]
        places = [
            wanted if isinstance(wanted, int) else names.index(wanted) if wanted in names else -1
            for wanted in sensor.columns
        ]
        if all(0 <= place < len(shape.kinds) for place in places):
            return all(shape.kinds[place] == "number" for place in places)
    return "text" not in shape.kinds and "number" in shape.kinds


def _text(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:  # what spreadsheets on Windows write: ² and µ are single bytes
        return content.decode("cp1252", errors="replace")


def _shape(lines: Sequence[str]) -> _Shape | None:
    """Where the numbers begin: at the first lines that are alike and hold a number."""
    for first in range(min(len(lines), _MOST_HEADER_LINES)):
        shapes = [
            _shape_from(lines, first, delimiter)
            for delimiter in _DELIMITERS
            if delimiter is None or delimiter in lines[first]
        ]
        found = [shape for shape in shapes if shape is not None]
        if found:  # decimal commas look like text where commas are taken to divide
            return min(found, key=lambda shape: shape.kinds.count("text"))
    return None


def _shape_from(lines: Sequence[str], first: int, delimiter: str | None) -> _Shape | None:
    kinds = [_kinds(_cells(line, delimiter)) for line in lines[first : first + _ALIKE]]
    # The last line of a file may be cut short; what is wrong with it is said later.
    alike = all(kind == kinds[0] for kind in kinds[: max(1, len(kinds) - 1)])
    if "number" in kinds[0] and alike and kinds[-1][:1] == kinds[0][:1]:
        return _Shape(delimiter, first, kinds[0], _names(lines[:first], delimiter, len(kinds[0])))
    return None


def _cells(line: str, delimiter: str | None) -> list[str]:
    """The cells of a line; decimal commas become points where commas do not divide them."""
    if delimiter != ",":
        line = line.replace(",", ".")
    if delimiter is None:
        return line.split()
    cells = [cell.strip().strip('"') for cell in line.split(delimiter)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _kinds(cells: Sequence[str]) -> tuple[Kind, ...]:
    return tuple(_kind(cell) for cell in cells)


def _kind(cell: str) -> Kind:
    if not cell:
        return "number"  # one that is missing
    try:
        float(cell)
    except ValueError:
        return "text" if _seconds(cell) is None else "time"
    return "number"


def _seconds(cell: str) -> float | None:
    """Seconds of a date and time, or of a time of day; None where it is neither."""
    text = cell if "-" in cell[1:] else f"2000-01-01T{cell}"
    try:
        return datetime.fromisoformat(text).timestamp() if ":" in cell else None
    except ValueError:
        return None


def _names(above: Sequence[str], delimiter: str | None, count: int) -> tuple[str, ...]:
    """The names of the columns, from the lines above the numbers; a line of units may follow."""
    rows = [_header_cells(line, delimiter) for line in above[-2:]]
    rows = [row for row in rows if len(row) == count and "number" not in _kinds(row)]
    if not rows:
        return ()
    names, units = rows[0], rows[-1]
    if len(rows) == 2 and all(_is_unit(cell) for cell in units):
        return tuple(f"{name} [{unit}]" for name, unit in zip(names, units, strict=True))
    return tuple(rows[-1])


def _header_cells(line: str, delimiter: str | None) -> list[str]:
    line = line.lstrip("#% ")
    if delimiter is None:  # a unit stays with its name
        return re.sub(r"\s+([\[(])", r"\1", line).split()
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _is_unit(cell: str) -> bool:
    text = cell.strip("[]() ")
    return text in {"s", "ms", "us", "µs", "ns"} or bool(unit_of(text))


def _check_line_above(path: Path, lines: Sequence[str], shape: _Shape) -> None:
    """A line with numbers, and one that follows numbers, is a row and no header."""
    above = [_cells(line, shape.delimiter) for line in lines[: shape.first][-2:]]
    of_rows = [len(cells) == len(shape.kinds) and "number" in _kinds(cells) for cells in above]
    if any(of_rows):
        wrong = next((cell for cell in above[-1] if _kind(cell) == "text"), "")
        raise AudioError(
            path, "not numbers", f"line {shape.first}: '{wrong}' is not a number; correct it"
        )


def _numbers(path: Path, rows: list[str], shape: _Shape, numbers: Sequence[int]) -> np.ndarray:
    """The columns of numbers, (rows, columns) float64."""
    text = rows if shape.delimiter == "," else [row.replace(",", ".") for row in rows]
    try:
        return np.loadtxt(
            text, delimiter=shape.delimiter, usecols=numbers, ndmin=2, comments=None, quotechar='"'
        )
    except ValueError:
        return np.array(
            [_row(path, rows, shape, numbers, number) for number in range(len(rows))], np.float64
        )


def _row(
    path: Path, rows: Sequence[str], shape: _Shape, numbers: Sequence[int], number: int
) -> list[float]:
    """The numbers of one line; AudioError where it is not like the others."""
    cells = _cells(rows[number], shape.delimiter)
    line, last = shape.first + number + 1, number == len(rows) - 1
    if len(cells) < len(shape.kinds):
        there = f"line {line} holds {len(cells)} of {len(shape.kinds)} values"
        if last:
            raise AudioError(path, "cut short", f"cut short: {there}; copy or record it again")
        raise AudioError(path, "not numbers", f"{there}: not numbers in a table; correct it")
    values = []
    for place in numbers:
        try:
            values.append(float(cells[place]) if cells[place] else np.nan)
        except ValueError as error:
            if last:
                raise AudioError(
                    path,
                    "cut short",
                    f"cut short: line {line}, the last, ends in '{cells[place]}'; copy or record "
                    f"it again",
                ) from error
            raise AudioError(
                path, "not numbers", f"line {line}: '{cells[place]}' is not a number; correct it"
            ) from error
    return values


def _check_last_digits(path: Path, rows: Sequence[str], shape: _Shape) -> None:
    """A file that was cut within its last number: it has fewer digits than all before it."""
    *before, last = (_decimals(_cells(row, shape.delimiter)[-1]) for row in rows[-_MOST_ENDINGS:])
    if len(before) >= _LEAST_ROWS and set(before) == {max(before)} and last < before[0]:
        ending = _cells(rows[-1], shape.delimiter)[-1]
        raise AudioError(
            path,
            "cut short",
            f"cut short: line {shape.first + len(rows)}, the last, ends within the number "
            f"'{ending}'; copy or record it again",
        )


def _decimals(cell: str) -> int:
    """How many characters follow the decimal point."""
    return len(cell.partition(".")[2])


def _times(path: Path, rows: Sequence[str], shape: _Shape, place: int) -> np.ndarray:
    """A column of dates and times, in seconds."""
    times = []
    for number, row in enumerate(rows):
        cells = _cells(row, shape.delimiter)
        seconds = _seconds(cells[place]) if place < len(cells) else None
        if seconds is None:
            raise AudioError(
                path,
                "times out of order",
                f"line {shape.first + number + 1}: no date and time like those of the other lines; "
                f"correct it",
            )
        times.append(seconds)
    return np.array(times)


FORMAT = TableFormat((".csv", ".tsv", ".txt"), _read, _is_recording)
