"""Operating conditions of a recording: from the tail of its name, or from `attributes_NN.csv`."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from ssdpt.errors import SsdptError
from ssdpt.types import Attributes

_NO_VALUE = frozenset({"", "-", "nan", "none", "noattribute", "null"})
_TABLE = re.compile(r"attributes_.*\.csv", re.IGNORECASE)
_COLUMN = re.compile(r"d(\d+)p")


def parse_attributes(text: str) -> Attributes:
    """The tail of a name as pairs: `car_A1_spd_28V` gives (car, A1), (spd, 28V).

    A value before its unit is turned round: `25_mm` gives (mm, 25). A word left alone has no name
    of its own and goes under `other`: `strength_1_ambient` gives (strength, 1), (other, ambient).
    """
    words = [word for word in text.split("_") if word]
    pairs = []
    while len(words) >= 2:
        name, value = words[:2]
        if name[0].isdecimal() and not value[0].isdecimal():
            name, value = value, name
        pairs.append((name, value))
        words = words[2:]
    if words and _has_value(words[0]):
        pairs.append(("other", words[0]))
    return tuple(pairs)


def read_attribute_tables(folder: Path) -> dict[tuple[str, str], Attributes]:
    """All `attributes_NN.csv` of a machine's folder: (split folder, name without ending) -> pairs.

    The columns are file_name, d1p, d1v, d2p, d2v, …: a path such as `fan/train/section_….wav`,
    then name and value of each attribute. Fields that say nothing are left out.
    """
    tables: dict[tuple[str, str], Attributes] = {}
    for table in sorted(folder.iterdir()):
        if _TABLE.fullmatch(table.name):
            tables.update(_read_table(table))
    return tables


def _read_table(path: Path) -> dict[tuple[str, str], Attributes]:
    attributes: dict[tuple[str, str], Attributes] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, restval="")
            columns = [name for name in rows.fieldnames or () if name]
            if "file_name" not in columns:
                raise SsdptError(
                    f"{path}: no column file_name; a DCASE attribute table has the columns "
                    f"file_name, d1p, d1v, …: repair or remove it"
                )
            names = [name for name in columns if _COLUMN.fullmatch(name)]
            for row in rows:
                pairs = [(row[name], row.get(f"{name[:-1]}v", "")) for name in names]
                filled = tuple((n, v) for n, v in pairs if _has_value(n) and _has_value(v))
                if filled:
                    clip = Path(row["file_name"].replace("\\", "/"))
                    attributes[clip.parent.name.lower(), clip.stem] = filled
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SsdptError(f"{path}: not a readable attribute table ({error})") from error
    return attributes


def _has_value(text: str) -> bool:
    """The challenges write `noAttribute` or leave the field empty where there is no value."""
    return text.strip().lower() not in _NO_VALUE
