"""Sensor values in files of numbers: CSV, MATLAB, Parquet.

One file = one format. A module called `NAME_table.py` in this package has a `FORMAT`; nothing else
knows its name. What a format reads is a `Table`; `measurement.py` makes samples of it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from pathlib import Path

from ssdpt.data.tables.base import TableFormat


@functools.cache
def _formats() -> dict[str, TableFormat]:
    """The formats by file name ending, in lower case."""
    names = [item.name for item in pkgutil.iter_modules(__path__) if item.name.endswith("_table")]
    formats = [importlib.import_module(f"{__name__}.{name}").FORMAT for name in names]
    return {suffix: form for form in formats for suffix in form.suffixes}


def table_suffixes() -> frozenset[str]:
    """File name endings of tables, in lower case."""
    return frozenset(_formats())


def table_format(path: Path) -> TableFormat | None:
    """How a file with this name is read; None where it is no table."""
    return _formats().get(path.suffix.lower())
