"""Readings, events, filled stores and changed backups for the tests of stores."""

from __future__ import annotations

import io
import tarfile

from sqlalchemy import select

from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.messages import Acknowledgement, Comment, Episode, Event, KeptRecording, Reading
from ssdpt.monitor.store.tables import about, metadata

BEGIN = 1_700_002_800.0  # a whole hour
EPISODES = (Episode(began=BEGIN, ended=BEGIN + 5, level="alert", peak=0.1),)


def reading(machine="fan-1", time=BEGIN, state="normal", level_dbfs=-30.0, **values):
    return Reading(machine=machine, time=time, state=state, level_dbfs=level_dbfs, **values)


def readings(machine, begin, scores, state="normal", **values):
    """One per second; None is a second without a score."""
    return [
        reading(machine, begin + n, state, score=score, smoothed=score, p_value=0.5, **values)
        for n, score in enumerate(scores)
    ]


def event(number=0, **changes):
    values = {
        "id": f"{number:032x}",
        "machine": "fan-1",
        "kind": "anomaly",
        "level": "alert",
        "began": BEGIN + number,
        "message": "Louder than ever between 1 and 2 kHz.",
    }
    return Event(**(values | changes))


def acknowledged(who="Ada", at=BEGIN + 5):
    return Acknowledgement(who=who, at=at)


def comment(who, at, text):
    return Comment(who=who, at=at, text=text)


def recording(number=0, **changes):
    fields = {
        "id": f"{number:032x}",
        "machine": "fan-1",
        "begin": BEGIN + number,
        "end": BEGIN + number + 600,
        "who": "Ada",
        "at": BEGIN + number + 601,
        "note": "knocks",
        "bytes": 4,
        "sample_rate": 16000,
        "voice_seconds": 1.5,
    }
    return KeptRecording(**fields | changes)


def content(store):
    """All rows; the single precision of PostgreSQL is read as SQLite would."""
    with store.database.read() as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in metadata.sorted_tables
            if table is not about
        }


def fill(store):
    """Add some rows to every table."""
    store.add_readings(readings("fan-1", BEGIN, [0.5, None] * 300))
    bands = (-30.5, -31.25, -120.0)
    store.add_readings(readings("pump-1", BEGIN, [-1.25] * 60, state="alarm", bands_db=bands))
    store.retain(BEGIN + 7 * 86400 + 3600, RetentionSettings(), lambda: 10**12)
    store.save_event(
        event(0, comments=(comment("Ada", BEGIN, "läuft\n"),), peak=0.1, episodes=EPISODES)
    )
    store.acknowledge(event(0).id, "Ada", BEGIN + 5)
    store.attach(event(0).id, "audio", b"sound", ".flac")
    store.keep_sample("pump-1", b"fine", ".flac")
    store.set_value("fan-1", "baseline", {"mean": [0.1]})
    store.add_user("ada", "admin", "correct horse")


def rewrite(path, change):
    """The same .tar with other members; `change` returns the new content, or None to omit it."""
    with tarfile.open(path) as tar:
        members = [(member.name, tar.extractfile(member).read()) for member in tar]
    with tarfile.open(path, "w") as tar:
        for old_name, old in members:
            name, data = change(old_name, old)
            if data is not None:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
