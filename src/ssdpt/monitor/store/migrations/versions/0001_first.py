"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _readings(name: str, values: list[sa.Column[object]], carried: list[str]) -> None:
    op.create_table(
        name,
        sa.Column("machine", sa.SmallInteger, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        *values,
        sa.PrimaryKeyConstraint("machine", "time", name=f"{name}_pkey", postgresql_include=carried),
        sqlite_with_rowid=False,
        postgresql_with={"autovacuum_vacuum_insert_scale_factor": 0.01},
    )


def _rolled(name: str) -> None:
    values = [
        sa.Column("readings", sa.Integer, nullable=False),
        sa.Column("heard", sa.Integer, nullable=False),
        sa.Column("low", sa.REAL),
        sa.Column("mean", sa.REAL),
        sa.Column("high", sa.REAL),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("level", sa.REAL, nullable=False),
    ]
    _readings(name, values, ["heard", "low", "mean", "high", "state"])


def upgrade() -> None:
    op.create_table(
        "about",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    marks = op.create_table(
        "marks",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("time", sa.BigInteger, nullable=False),
    )
    names = ("minutes", "hours", "seconds_removed", "minutes_removed")
    op.bulk_insert(marks, [{"name": name, "time": 0} for name in names])
    op.create_table(
        "machines",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
    )
    op.create_table(
        "memory",
        sa.Column("machine", sa.Integer, sa.ForeignKey("machines.id"), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    values = [
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("level", sa.REAL, nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("smoothed", sa.Double),
        sa.Column("p_value", sa.Double),
    ]
    _readings("seconds", values, ["smoothed", "state"])
    _rolled("minutes")
    _rolled("hours")
    _events()
    _people()


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("machine", sa.Integer, sa.ForeignKey("machines.id"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("level", sa.String(16), nullable=False),
        sa.Column("began", sa.Double, nullable=False),
        sa.Column("ended", sa.Double),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("peak", sa.Double),
        sa.Column("threshold", sa.Double),
        sa.Column("label", sa.String(16), nullable=False),
        sa.Column("labelled_by", sa.Text),
        sa.Column("acknowledged_by", sa.Text),
        sa.Column("acknowledged_at", sa.Double),
        sa.Column("audio_begin", sa.Double),
        sa.Column("top_bands_hz", sa.Text, nullable=False),
    )
    op.create_index("events_began", "events", ["began"])
    op.create_index("events_machine_began", "events", ["machine", "began"])
    op.create_table(
        "comments",
        sa.Column("id", _SERIAL, primary_key=True),
        sa.Column("event", sa.String(32), sa.ForeignKey("events.id"), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("comments_event", "comments", ["event"])
    op.create_table(
        "attachments",
        sa.Column("event", sa.String(32), sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("name", sa.String(16), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "samples",
        sa.Column("machine", sa.Integer, sa.ForeignKey("machines.id"), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
    )


def _people() -> None:
    op.create_table(
        "users",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("password", sa.Text, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column(
            "user", sa.String(64), sa.ForeignKey("users.name", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("expires", sa.Double),
    )
    op.create_index("tokens_user", "tokens", ["user"])
    op.create_table(
        "actions",
        sa.Column("id", _SERIAL, primary_key=True),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
    )
