"""The tables of a store, alike in SQLite and PostgreSQL.

The primary key of readings is (machine, time), so that a time range of one machine is read in one
piece: SQLite stores the rows in that order, PostgreSQL answers from an index that holds the values.
Times of readings are whole milliseconds since 1970, UTC; all other times are seconds.
"""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    false,
)

from ssdpt.monitor.messages import MachineState

# The numbers are stored, so they never change; the gaps allow for new states in between. A more
# urgent state has a higher number, in the order of ssdpt.monitor.messages.STATES.
STATE_CODES: dict[MachineState, int] = {
    "starting": 0,
    "off": 10,
    "learning": 20,
    "normal": 30,
    "lost": 40,
    "alert": 50,
    "alarm": 60,
}
STATE_OF_CODE = {code: state for state, code in STATE_CODES.items()}

# Levels of frequency bands, in hundredths of a dB: whole numbers of two bytes in both databases.
BAND_COLUMNS = tuple(f"band_{number}" for number in range(8))

metadata = MetaData()
# SQLite numbers new rows by itself only if the key is an INTEGER.
_Serial = BigInteger().with_variant(Integer(), "sqlite")
# PostgreSQL answers from an index alone only if it has vacuumed since rows were added.
_VACUUM_SOON = {"autovacuum_vacuum_insert_scale_factor": 0.01}

about = Table(  # the store itself: its id, and the service that uses it
    "about",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", Text, nullable=False),
)
rollup_progress = Table(  # in milliseconds; see rollup_progress.py
    "rollup_progress",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("time", BigInteger, nullable=False),
)
machines = Table(
    "machines",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
)
machine_values = Table(  # values that outlive a restart, as JSON
    "machine_values",
    metadata,
    Column("machine", ForeignKey("machines.id"), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)


def _bands() -> list[Column[int]]:
    """Null where a machine has fewer bands, or none."""
    return [Column(name, SmallInteger) for name in BAND_COLUMNS]


seconds = Table(
    "seconds",
    metadata,
    Column("machine", SmallInteger, nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("level", REAL, nullable=False),  # dBFS
    Column("score", Double),
    Column("smoothed", Double),
    Column("p_value", Double),
    *_bands(),
    PrimaryKeyConstraint(
        "machine", "time", name="seconds_pkey", postgresql_include=["smoothed", "state"]
    ),
    sqlite_with_rowid=False,
    postgresql_with=_VACUUM_SOON,
)


def _rolled_up(name: str) -> Table:
    """One row for the readings of a minute or an hour; `time` is its beginning."""
    return Table(
        name,
        metadata,
        Column("machine", SmallInteger, nullable=False),
        Column("time", BigInteger, nullable=False),
        Column("readings", Integer, nullable=False),
        Column("scored", Integer, nullable=False),  # readings with a smoothed score
        Column("low", REAL),  # of the smoothed score, like mean and high
        Column("mean", REAL),
        Column("high", REAL),
        Column("state", SmallInteger, nullable=False),  # the most urgent
        Column("level", REAL, nullable=False),  # mean of dBFS
        Column("alert_seconds", Integer, nullable=False, server_default="0"),  # readings in alert
        Column("alarm_seconds", Integer, nullable=False, server_default="0"),
        *_bands(),  # mean
        PrimaryKeyConstraint(
            "machine",
            "time",
            name=f"{name}_pkey",
            postgresql_include=[
                *("scored", "low", "mean", "high", "state", "alert_seconds", "alarm_seconds")
            ],
        ),
        sqlite_with_rowid=False,
        postgresql_with=_VACUUM_SOON,
    )


minutes = _rolled_up("minutes")
hours = _rolled_up("hours")

events = Table(
    "events",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("machine", ForeignKey("machines.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("level", String(16), nullable=False),
    Column("began", Double, nullable=False),
    Column("ended", Double),
    Column("message", Text, nullable=False),
    Column("peak", Double),
    Column("threshold", Double),
    Column("label", String(16), nullable=False),
    Column("labelled_by", Text),
    Column("acknowledged_by", Text),
    Column("acknowledged_at", Double),
    Column("audio_begin", Double),
    Column("voice_seconds", Double, nullable=False, server_default="0"),
    Column("top_bands_hz", Text, nullable=False),  # JSON
    Column("findings", Text, nullable=False, server_default="[]"),  # JSON
    Column("episodes", Text, nullable=False, server_default="[]"),  # JSON
    Column("may_continue", Boolean, nullable=False, server_default=false()),
    Column("baseline_learned_at", Double),
    Column("severity", Text),  # JSON
    Column("cause", Text, nullable=False, server_default=""),
    Column("work_order", Text, nullable=False, server_default=""),
    Column("fault", Text, nullable=False, server_default=""),
    Column("looks_like", Text, nullable=False, server_default=""),  # name of a fault
    Column("looks_like_events", Integer, nullable=False, server_default="0"),
    Column("similarity", Double),
    Column("looks_like_rejected", Boolean, nullable=False, server_default=false()),
    Column("signature", Text),  # JSON; see ssdpt.monitor.events.signature
    Column("speed_rpm", Double),
    Index("events_began", "began"),
    Index("events_machine_began", "machine", "began"),
)
comments = Table(
    "comments",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("event", ForeignKey("events.id"), nullable=False),
    Column("who", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("text", Text, nullable=False),
    Index("comments_event", "event"),
)
notes = Table(  # on the trend of a machine
    "notes",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("machine", ForeignKey("machines.id"), nullable=False),
    Column("at", Double, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("written_at", Double, nullable=False),
    Index("notes_machine_at", "machine", "at"),
)
attachments = Table(
    "attachments",
    metadata,
    Column("event", ForeignKey("events.id"), primary_key=True),
    Column("name", String(16), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
)
samples = Table(  # a recording of the normal sound of a machine
    "samples",
    metadata,
    Column("machine", ForeignKey("machines.id"), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
)
recordings = Table(  # sound that someone has kept
    "recordings",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("machine", ForeignKey("machines.id"), nullable=False),
    Column("begin", Double, nullable=False),
    Column("end", Double, nullable=False),
    Column("who", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("note", Text, nullable=False),
    Column("sample_rate", Integer, nullable=False),
    Column("voice_seconds", Double, nullable=False),
    Column("key", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Index("recordings_machine_begin", "machine", "begin"),
)
users = Table(
    "users",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("password", Text, nullable=False),  # scrypt, with its salt and cost
)
tokens = Table(
    "tokens",
    metadata,
    Column("digest", String(64), primary_key=True),  # SHA-256
    Column("user", ForeignKey("users.name", ondelete="CASCADE"), nullable=False),
    Column("expires", Double),
    Index("tokens_user", "user"),
)
actions = Table(
    "actions",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("who", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("what", Text, nullable=False),
    Column("about", Text, nullable=False),
)
