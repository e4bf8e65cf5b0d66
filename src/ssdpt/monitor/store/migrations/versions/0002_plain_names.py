"""Plain names for tables, columns and the keys of machine values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_VALUES = sa.table("machine_values", sa.column("machine"), sa.column("key"), sa.column("value"))


def upgrade() -> None:
    op.alter_column("events", "words", new_column_name="message")
    for table in ("minutes", "hours"):
        op.alter_column(table, "heard", new_column_name="scored")
    op.rename_table("marks", "rollup_progress")
    op.rename_table("memory", "machine_values")
    if op.get_context().dialect.name == "postgresql":  # names its constraints after their tables
        op.execute(
            "ALTER TABLE rollup_progress RENAME CONSTRAINT marks_pkey TO rollup_progress_pkey"
        )
        for kind in ("pkey", "machine_fkey"):
            op.execute(
                f"ALTER TABLE machine_values RENAME CONSTRAINT memory_{kind} "
                f"TO machine_values_{kind}"
            )
    _convert("marks", "block_maxima")
    _convert("learnt_from", "learned_from")
    _convert("per_week", "false_alerts_per_week", _false_alerts)
    _convert("baseline", "baseline", _baseline)
    _convert("spectra", "spectra", _spectra)


def _convert(old: str, new: str, change: Callable[[Any], Any] = lambda value: value) -> None:
    """Rename a key of all machines and change its values; null stays null."""
    connection = op.get_bind()
    query = sa.select(_VALUES.c.machine, _VALUES.c.value).where(_VALUES.c.key == old)
    for machine, text in connection.execute(query).all():
        value = json.loads(text)
        changed = text if value is None else json.dumps(change(value))
        own = (_VALUES.c.machine == machine) & (_VALUES.c.key == old)
        connection.execute(sa.update(_VALUES).where(own).values(key=new, value=changed))


def _false_alerts(value: Any) -> Any:
    """The rate that was set on the page, beside that of the configuration file at that time."""
    if not isinstance(value, dict):  # a number from before the configured rate was stored
        return None
    return {"value": value["per_week"], "configured": value["instead_of"]}


def _baseline(value: Any) -> Any:
    points = value["points"]
    if points is not None:
        own = [_rename(point, "usual", "usual_score") for point in points["points"]]
        points = _rename(points, "usual", "usual_score") | {"points": own}
    return _rename(value, "long", "long_term") | {"points": points}


def _spectra(value: Any) -> Any:
    """By operating point. What was called the square is the variance already."""
    return {point: _rename(spectrum, "square", "variance") for point, spectrum in value.items()}


def _rename(value: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: part for name, part in value.items()}
