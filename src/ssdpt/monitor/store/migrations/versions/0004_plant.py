"""What a plant remembers: one step for everything that this release adds to the store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _history()
    _speeds()
    _recordings()


def _history() -> None:
    """Notes on trends; causes, work orders and faults of events."""
    for name in ("cause", "work_order", "fault", "looks_like"):
        op.add_column("events", sa.Column(name, sa.Text, nullable=False, server_default=""))
    for column in (
        sa.Column("looks_like_events", sa.Integer, nullable=False, server_default="0"),
        sa.Column("similarity", sa.Double),
        sa.Column("looks_like_rejected", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("signature", sa.Text),
    ):
        op.add_column("events", column)
    serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "notes",
        sa.Column("id", serial, primary_key=True),
        sa.Column("machine", sa.Integer, sa.ForeignKey("machines.id"), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("written_at", sa.Double, nullable=False),
    )
    op.create_index("notes_machine_at", "notes", ["machine", "at"])


def _speeds() -> None:
    """The speed of the shaft during an event, where its diagnosis lines were."""
    op.add_column("events", sa.Column("speed_rpm", sa.Double))


def _recordings() -> None:
    """Sound that someone has kept; seconds with voices that were cut out of recordings."""
    op.create_table(
        "recordings",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("machine", sa.Integer, sa.ForeignKey("machines.id"), nullable=False),
        *(sa.Column(name, sa.Double, nullable=False) for name in ("begin", "end")),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("sample_rate", sa.Integer, nullable=False),
        sa.Column("voice_seconds", sa.Double, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
    )
    op.create_index("recordings_machine_begin", "recordings", ["machine", "begin"])
    op.add_column(
        "events", sa.Column("voice_seconds", sa.Double, nullable=False, server_default="0")
    )
