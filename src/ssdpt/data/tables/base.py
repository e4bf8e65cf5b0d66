"""The contract of a file format for sensor values, and what a format gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.data.sensor import Sensor

_LARGEST_RATIO = 1100  # of compression
_ALWAYS_ALLOWED = 10_000_000  # bytes
_NAME_AND_UNIT = re.compile(r"(?P<name>.*?)\s*[\[(](?P<unit>[^\])]*)[\])]\s*")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a table."""

    name: str  # empty where the file has no names
    values: np.ndarray  # (rows,) float64; NaN where a cell holds no number
    unit: str = ""  # as the file writes it
    variable: str = ""  # which one it belongs to, where a file holds several
    number: int = 0  # its place in the file, from 0


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The numbers of a file; columns of one variable have the same length."""

    columns: tuple[Column, ...]
    sample_rate: float | None = None  # Hz, where the file itself says it
    row_name: str = "row"  # what a person would look for: a row, a line
    first_row: int = 1  # its number for the first of the values

    def where(self, row: int) -> str:
        """The place of a value in the file."""
        return f"{self.row_name} {self.first_row + row}"


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How files of one format are read. Both functions get what `sensor.yaml` says.

    `read` ends in an AudioError where a file cannot be used. `is_recording` is quick and never
    fails: it tells recordings from other files with the same ending.
    """

    suffixes: tuple[str, ...]  # file name endings, in lower case
    read: Callable[[Path, Sensor], Table]
    is_recording: Callable[[Path, Sensor], bool]


def unpacked_bytes(stored: int) -> int:
    """The most bytes that values can have which take `stored` bytes in a file.

    Some bytes can promise more values than there is memory for.
    """
    return _LARGEST_RATIO * stored + _ALWAYS_ALLOWED


def name_and_unit(text: str) -> tuple[str, str]:
    """The name of a column without its unit, and the unit: `acc_x [g]` gives acc_x and g."""
    match = _NAME_AND_UNIT.fullmatch(text)
    return (match["name"], match["unit"].strip()) if match else (text.strip(), "")
