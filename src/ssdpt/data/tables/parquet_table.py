"""Parquet files: every column of numbers or times; needs pyarrow."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.data.audio_error import AudioError
from ssdpt.data.sensor import Sensor
from ssdpt.data.tables.base import Column, Table, TableFormat, name_and_unit, unpacked_bytes
from ssdpt.errors import SsdptError


def _read(path: Path, sensor: Sensor) -> Table:
    arrow, parquet = _pyarrow(path)
    try:
        about = parquet.read_metadata(path)
        promised = 8 * about.num_rows * about.num_columns
        if promised > unpacked_bytes(path.stat().st_size):
            raise ValueError(f"it promises {promised} bytes of values and holds far fewer")
        content = parquet.read_table(path, partitioning=None)
    except (arrow.ArrowException, OSError, ValueError, LookupError, ArithmeticError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise AudioError(
            path,
            "cut short",
            f"damaged or cut short, or not a Parquet file ({reason}); copy or save it again",
        ) from error
    columns = []
    for number, field in enumerate(content.schema):
        name, unit = name_and_unit(field.name)
        unit = (field.metadata or {}).get(b"unit", unit.encode()).decode("utf-8", "replace")
        array = content.column(number)
        if arrow.types.is_timestamp(field.type):
            seconds = array.cast(arrow.timestamp("ns")).cast(arrow.int64()).to_numpy() / 1e9
            columns.append(Column("time", seconds, number=number))
        elif _is_number(arrow, field.type):
            values = array.cast(arrow.float64(), safe=False).to_numpy()  # nulls become NaN
            columns.append(Column(name, np.asarray(values), unit, number=number))
    return Table(tuple(columns))


def _is_recording(path: Path, sensor: Sensor) -> bool:
    """Whether no column is text, as in tables of results; without pyarrow nobody can tell."""
    try:
        arrow, parquet = _pyarrow(path)
        schema = parquet.read_schema(path)
    except (SsdptError, OSError, ValueError):
        return True  # what is wrong with it is said when it is read
    names = [name_and_unit(field.name)[0] for field in schema]
    if sensor.columns and all(wanted in names for wanted in sensor.columns):
        return True
    return all(
        _is_number(arrow, field.type) or arrow.types.is_timestamp(field.type) for field in schema
    )


def _is_number(arrow: Any, kind: Any) -> bool:
    return bool(arrow.types.is_floating(kind) or arrow.types.is_integer(kind))


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise SsdptError(
            f"{path}: Parquet files need the package pyarrow; install it with: "
            "pip install 'ssdpt[sensors]'"
        ) from error


FORMAT = TableFormat((".parquet",), _read, _is_recording)
