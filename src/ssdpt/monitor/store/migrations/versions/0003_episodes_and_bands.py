"""Episodes and findings of events; seconds in alert and alarm, and band levels, of readings."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_BANDS = tuple(f"band_{number}" for number in range(8))
_ALERT, _ALARM = 50, 60  # codes of states
_HOUR = 3_600_000  # milliseconds
_HELD = "scored, low, mean, high, state, alert_seconds, alarm_seconds"  # by PostgreSQL's index


def upgrade() -> None:
    _events()
    for table in ("seconds", "minutes", "hours"):
        for name in _BANDS:
            op.add_column(table, sa.Column(name, sa.SmallInteger))
    for table in ("minutes", "hours"):
        for name in ("alert_seconds", "alarm_seconds"):
            op.add_column(table, sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    _count_seconds()
    if op.get_context().dialect.name == "postgresql":
        for table in ("minutes", "hours"):
            op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey")
            op.execute(
                f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey "
                f"PRIMARY KEY (machine, time) INCLUDE ({_HELD})"
            )


def _count_seconds() -> None:
    """Seconds in alert and alarm: counted where the finer rows exist.

    Otherwise a row counts as a whole in its most urgent state, as it was shown before.
    """
    for table in ("minutes", "hours"):
        for column, state in (("alert_seconds", _ALERT), ("alarm_seconds", _ALARM)):
            op.execute(f"UPDATE {table} SET {column} = readings WHERE state = {state}")
    for column, state in (("alert_seconds", _ALERT), ("alarm_seconds", _ALARM)):
        seconds = (
            "FROM seconds WHERE seconds.machine = minutes.machine "
            "AND seconds.time >= minutes.time AND seconds.time < minutes.time + 60000"
        )
        # Only minutes whose seconds are all there: retention may have removed some.
        op.execute(
            f"UPDATE minutes SET {column} = (SELECT count(*) {seconds} AND state = {state}) "
            f"WHERE minutes.state >= {_ALERT} AND readings = (SELECT count(*) {seconds})"
        )
    for column in ("alert_seconds", "alarm_seconds"):
        minutes = (
            f"FROM minutes WHERE minutes.machine = hours.machine "
            f"AND minutes.time >= hours.time AND minutes.time < hours.time + {_HOUR}"
        )
        op.execute(
            f"UPDATE hours SET {column} = (SELECT sum(minutes.{column}) {minutes}) "
            f"WHERE hours.state >= {_ALERT} "
            f"AND readings = (SELECT sum(minutes.readings) {minutes})"
        )


def _events() -> None:
    for column in (
        sa.Column("findings", sa.Text, nullable=False, server_default="[]"),
        sa.Column("episodes", sa.Text, nullable=False, server_default="[]"),
        sa.Column("may_continue", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("baseline_learned_at", sa.Double),
        sa.Column("severity", sa.Text),
    ):
        op.add_column("events", column)
    names = ("id", "began", "ended", "level", "peak", "kind", "episodes")
    events = sa.table("events", *(sa.column(name) for name in names))
    connection = op.get_bind()
    for row in connection.execute(sa.select(events).where(events.c.kind == "anomaly")).all():
        episode = {name: getattr(row, name) for name in ("began", "ended", "level", "peak")}
        own = sa.update(events).where(events.c.id == row.id)
        connection.execute(own.values(episodes=json.dumps([episode])))
