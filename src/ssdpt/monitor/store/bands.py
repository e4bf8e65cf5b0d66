"""Band levels as the tables hold them: whole hundredths of a dB, one column per band."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from ssdpt.monitor.store.tables import BAND_COLUMNS

DB_PER_UNIT = 0.01
_LOWEST_DB, _HIGHEST_DB = -300.0, 300.0  # silence has no finite level


def band_row(levels_db: Sequence[float]) -> dict[str, int | None]:
    """The columns of a reading; bands that it does not have are null."""
    units = [_unit(level) for level in levels_db[: len(BAND_COLUMNS)]]
    return dict(zip(BAND_COLUMNS, [*units, *[None] * len(BAND_COLUMNS)], strict=False))


def bands_of(row: Row[Any]) -> tuple[float, ...]:
    """The reverse of `band_row`."""
    units = [getattr(row, name) for name in BAND_COLUMNS]
    return tuple(round(unit * DB_PER_UNIT, 2) for unit in units if unit is not None)


def _unit(level_db: float) -> int | None:
    if math.isnan(level_db):
        return None
    return round(min(max(level_db, _LOWEST_DB), _HIGHEST_DB) / DB_PER_UNIT)
