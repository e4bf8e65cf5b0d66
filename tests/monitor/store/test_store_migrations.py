"""Upgrades of stores that hold data: everything is kept, and a failed upgrade changes nothing."""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.exc import IntegrityError
from store_data import BEGIN, content, event, fill, readings

from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.spectrum import SpectrumBaseline
from ssdpt.monitor.store import Store, StoreUnavailable, User, back_up, backup, restore, schema
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.rollup_progress import read_progress
from ssdpt.monitor.store.tables import metadata

# Written by the version of ssdpt that had revision 0001.
BACKUP_0001 = Path(__file__).with_name("backup_0001.tar.xz")
NEWEST = schema.newest_revision()
NEXT, AFTER_NEXT = (f"{int(NEWEST) + n:04d}" for n in (1, 2))

_HEAD = """
import sqlalchemy as sa
from alembic import op

revision = "{name}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade():
"""

# What a later version may do: SQLite replaces the tables for it, PostgreSQL alters them.
FIRST_STEP = """
    with op.batch_alter_table("events") as table:
        table.add_column(sa.Column("cost", sa.Integer, nullable=False, server_default="7"))
        table.alter_column("message", existing_type=sa.Text, nullable=True)
    with op.batch_alter_table("users") as table:
        table.alter_column("role", existing_type=sa.String(16), type_=sa.String(20))
    with op.batch_alter_table("machines") as table:
        table.add_column(sa.Column("title", sa.Text))
    op.execute("UPDATE machines SET title = upper(name)")
    op.create_table(
        "days",
        sa.Column("machine", sa.SmallInteger, primary_key=True),
        sa.Column("rows", sa.BigInteger, nullable=False),
    )
    op.execute("INSERT INTO days SELECT machine, count(*) FROM minutes GROUP BY machine")
"""
SECOND_STEP = """
    op.execute("UPDATE days SET rows = rows + 1000")
"""


@pytest.fixture
def version(tmp_path, monkeypatch):
    """Simulates a later version of ssdpt with more migrations; without any, the present one."""
    own = schema._MIGRATIONS

    def become(*steps):
        folder = tmp_path / f"migrations-{len(list(tmp_path.glob('migrations-*')))}%d"
        shutil.copytree(own, folder)
        for number, step in enumerate(steps, int(NEWEST) + 1):
            head = _HEAD.format(name=f"{number:04d}", before=f"{number - 1:04d}")
            (folder / "versions" / f"{number:04d}_later.py").write_text(head + step)
        monkeypatch.setattr(schema, "_MIGRATIONS", folder)

    return become


@pytest.fixture
def old(url, folder):
    """A store of the present version with some rows in every table; its content and a token."""
    with Store.open(url, folder, writer=True) as store:
        fill(store)
        token = store.new_token("ada", 7)
        return content(store), token


def check_upgraded(store, before, token):
    """Nothing is lost, and all references are kept."""
    assert content(store) == before
    with store.database.read() as connection:
        assert set(connection.scalars(text("SELECT cost FROM events"))) == {7}
        titles = list(connection.scalars(text("SELECT title FROM machines ORDER BY name")))
        assert titles == ["FAN-1", "PUMP-1"]
        assert sum(connection.scalars(text("SELECT rows FROM days"))) == len(before["minutes"])
    assert store.check_token(token) == User("ada", "admin")
    assert store.attachment(event(0).id, "audio").read_bytes() == b"sound"
    store.add_readings(readings("fan-1", BEGIN + 8 * 86400, [1.0]))
    store.comment(event(0).id, "Bo", BEGIN + 6, "upgraded")
    orphan = "INSERT INTO comments (event, who, at, text) VALUES ('none', 'Bo', 1, 'x')"
    with pytest.raises(IntegrityError), store.database.write() as connection:
        connection.execute(text(orphan))


@pytest.mark.parametrize("writer", [True, False])
def test_a_store_is_upgraded_with_all_its_data(url, folder, old, version, writer):
    before, token = old
    version(FIRST_STEP)
    with Store.open(url, folder, writer=writer) as store:
        with store.database.read() as connection:
            assert schema.current_revision(connection) == NEXT
        check_upgraded(store, before, token)
    with Store.open(url, folder, writer=True) as again:  # upgraded, and its lock is free
        assert [one.text for one in again.event(event(0).id).comments] == ["läuft\n", "upgraded"]


def test_several_migrations_run_together(url, folder, old, version):
    version(FIRST_STEP, SECOND_STEP)
    with Store.open(url, folder, writer=True) as store, store.database.read() as connection:
        assert schema.current_revision(connection) == AFTER_NEXT
        assert min(connection.scalars(text("SELECT rows FROM days"))) > 1000


@pytest.mark.parametrize(
    "broken",
    [
        "    raise ValueError('no such thing')",
        "    op.execute('SELECT nonsense FROM nowhere')",
        "    op.execute('INSERT INTO days SELECT machine, 1 FROM days')",
        "    op.execute('DELETE FROM events')",  # their comments and recordings stay
    ],
    ids=["python", "sql", "constraint", "references"],
)
def test_a_failed_migration_leaves_the_store_as_it_was(url, folder, old, version, broken):
    before, token = old
    version(FIRST_STEP, broken)
    with pytest.raises(SsdptError, match="the tables cannot be upgraded") as refused:
        Store.open(url, folder, writer=True)
    assert f"from {NEWEST} to {AFTER_NEXT}" in str(refused.value)
    assert "nothing was changed" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not isinstance(refused.value, StoreUnavailable)  # trying again does not help
    version()
    with Store.open(url, folder, writer=True) as store:
        assert content(store) == before
        assert store.check_token(token) == User("ada", "admin")
        assert not inspect(store.database._durable).has_table("days")
    version(FIRST_STEP)
    with Store.open(url, folder, writer=True) as store:
        check_upgraded(store, before, token)


def test_the_previous_version_refuses_the_newer_store(url, folder, old, version):
    version(FIRST_STEP)
    Store.open(url, folder).close()
    version()
    for writer in (True, False):
        with pytest.raises(
            SsdptError, match=rf"newer version of ssdpt \(tables {NEXT}.*supports {NEWEST}"
        ):
            Store.open(url, folder, writer=writer)
    version(FIRST_STEP)
    Store.open(url, folder, writer=True).close()  # it was not changed, and its lock is free


def test_a_backup_of_the_previous_version_is_upgraded(
    url, folder, old, version, new_url, kind, tmp_path
):
    before, token = old
    path = tmp_path / "backup.tar"
    with Store.open(url, folder) as store:
        back_up(store, path)
    version(FIRST_STEP)
    restored = new_url(kind)
    restore(path, restored, tmp_path / "restored")
    with Store.open(restored, tmp_path / "restored") as store:
        check_upgraded(store, before, token)


def test_the_previous_version_refuses_the_newer_backup(
    url, folder, old, version, new_url, kind, tmp_path
):
    version(FIRST_STEP)
    with Store.open(url, folder) as store:
        back_up(store, tmp_path / "backup.tar")
    version()
    with pytest.raises(SsdptError, match=f"newer version of ssdpt.*tables {NEXT}"):
        restore(tmp_path / "backup.tar", new_url(kind), tmp_path / "restored")


# --- From 0001 to 0002 ----------------------------------------------------------------------------


@pytest.fixture
def backup_0001(tmp_path):
    path = tmp_path / "backup_0001.tar"
    path.write_bytes(lzma.decompress(BACKUP_0001.read_bytes()))
    return path


@pytest.fixture
def store_0001(backup_0001, url, folder, monkeypatch):
    """A store with the tables of revision 0001 at `url`, with some rows in every table."""
    upgrade = schema.upgrade
    monkeypatch.setattr(backup, "upgrade", lambda connection, to="0001": upgrade(connection, to))
    monkeypatch.setattr(backup, "check_rows", lambda connection: None)  # it reads today's tables
    restore(backup_0001, url, folder)
    monkeypatch.undo()


def check_0002(store):
    """All data of the backup, with the names of revision 0002."""
    [saved] = store.events()
    assert saved.message == "Fan 1: louder between 1 and 2 kHz"
    assert (saved.acknowledged.who, saved.acknowledged.at) == ("Ada", BEGIN + 5)
    assert [one.text for one in saved.comments] == ["läuft\n"]
    assert store.attachment(saved.id, "audio").read_bytes() == b"sound"
    assert store.sample("fan-1").read_bytes() == b"fine"
    assert store.check_password("ada", "correct horse") == User("ada", "admin")
    with store.database.read() as connection:
        tables = set(inspect(connection).get_table_names())
        assert tables == {*metadata.tables, "alembic_version"}
        rows = connection.execute(text("SELECT readings, scored FROM minutes")).all()
        assert [tuple(row) for row in rows] == [(60, 30)] * 3
        assert read_progress(connection)["seconds_removed"] > BEGIN * 1000
    trend = store.trend("fan-1", BEGIN, BEGIN + 180)
    assert (trend.seconds_per_point, trend.mean.tolist()) == (60, [0.5, 0.5, 0.5])
    check_values(store)


def check_values(store):
    point = {"spectrum": [-30.0, -40.0], "radius": 2.0, "share": 1.0, "level_dbfs": -30.0}
    point |= {"usual_score": 0.5, "spread": 0.1, "name": "half load"}
    values = {
        ("fan-1", "block_maxima"): {
            "highest": [1.5, 2.0],
            "means": [0.5, 0.25],
            "times": [BEGIN, BEGIN + 600],
        },
        ("fan-1", "learned_from"): "abc",
        ("fan-1", "false_alerts_per_week"): {"value": 2.0, "configured": 1.0},
        ("fan-1", "baseline"): {
            "model": "def",
            "shift": 0.25,
            "long_term": [0.5, 3600.0],
            "points": {"usual_score": 0.5, "spread": 0.1, "points": [point]},
        },
        ("fan-1", "spectra"): {
            "1": {"mean": [-30.0, -40.0], "variance": [1.0, 4.0], "seconds": 90}
        },
        ("fan-1", "usual_dbfs"): -30.0,
        ("pump-1", "learned_from"): None,
        ("pump-1", "false_alerts_per_week"): None,
        ("pump-1", "baseline"): {
            "model": "def",
            "shift": 0.0,
            "long_term": [0.0, 0.0],
            "points": None,
        },
    }
    assert {key: store.get_value(*key) for key in values} == values
    with store.database.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM machine_values")) == len(values)


@pytest.mark.parametrize("writer", [True, False])
def test_a_store_of_revision_0001_is_upgraded(store_0001, url, folder, writer):
    with Store.open(url, folder, writer=writer) as store:
        check_0002(store)
        assert compare(store) == []
        store.add_readings(readings("fan-1", BEGIN + 8 * 86400, [1.0] * 60))
        store.roll_up(BEGIN + 8 * 86400 + 7200)
        store.set_value("fan-1", "baseline", {"shift": 1.0})


def compare(store):
    """How the tables differ from those that the code expects."""
    with store.database.read() as connection:
        return compare_metadata(MigrationContext.configure(connection), metadata)


def test_events_of_before_0003_have_one_episode(store_0001, url, folder):
    with Store.open(url, folder) as store:
        [saved] = store.events()
    (episode,) = saved.episodes
    assert (episode.began, episode.ended) == (saved.began, saved.ended)
    assert (episode.level, episode.peak) == (saved.level, saved.peak)
    assert (saved.findings, saved.may_continue, saved.severity) == ((), False, None)


# --- From 0002 to 0003 ----------------------------------------------------------------------------


@pytest.fixture
def store_0002(url):
    """A store with the tables of revision 0002: two hours of minutes, seconds of the last two.

    The first hour is older than the seconds that are kept, and minutes of the hour before that
    are removed too.
    """
    database = Database(url)
    begin = int(BEGIN) * 1000
    minute = (
        "INSERT INTO {} (machine, time, readings, scored, state, level) "
        "VALUES (1, {}, {}, 0, {}, -30)"
    )
    with database.write(makes_tables=True) as connection:
        schema.upgrade(connection, "0002")
        connection.execute(text("INSERT INTO machines (id, name) VALUES (1, 'fan-1')"))
        connection.execute(text(minute.format("hours", begin - 3_600_000, 3600, 50)))
        for hour in (0, 1):
            connection.execute(text(minute.format("hours", begin + hour * 3_600_000, 3600, 60)))
            for number in range(60):
                state = {10: 50, 59: 60}.get(number, 30)
                time = begin + hour * 3_600_000 + number * 60_000
                connection.execute(text(minute.format("minutes", time, 60, state)))
        last = begin + 3_600_000 + 59 * 60_000
        for second in range(60):
            state = 30 if second < 40 else 50 if second < 47 else 60
            connection.execute(
                text(
                    "INSERT INTO seconds (machine, time, state, level) "
                    f"VALUES (1, {last + 1000 * second}, {state}, -30)"
                )
            )
        progress = {"minutes": 7_200_000, "hours": 7_200_000, "minutes_removed": 0}
        progress["seconds_removed"] = 3_600_000 + 58 * 60_000
        for name, time in progress.items():
            connection.execute(
                text(f"UPDATE rollup_progress SET time = {begin + time} WHERE name = '{name}'")
            )
        connection.execute(
            text(
                "INSERT INTO events (id, machine, kind, level, began, ended, message, peak, label, "
                "top_bands_hz) VALUES ('a', 1, 'anomaly', 'alarm', 10.5, NULL, 'loud', 3.5, '', "
                "'[]'), ('b', 1, 'drift', 'alert', 5.5, 6.5, 'slow', NULL, '', '[]')"
            )
        )
    database.close()


def test_time_in_alert_and_alarm_of_before_0003_is_counted_where_it_can_be(store_0002, url, folder):
    with Store.open(url, folder, writer=True) as store:
        assert compare(store) == []
        with store.database.read() as connection:
            rows = connection.execute(
                text(
                    "SELECT alert_seconds, alarm_seconds FROM minutes WHERE state > 30 "
                    "ORDER BY time"
                )
            ).all()
            hours = connection.execute(
                text("SELECT alert_seconds, alarm_seconds FROM hours ORDER BY time")
            ).all()
        # Seconds of the last minute are there; the others count as a whole, as they were shown.
        assert [tuple(row) for row in rows] == [(60, 0), (0, 60), (60, 0), (7, 13)]
        assert [tuple(row) for row in hours] == [(3600, 0), (60, 60), (67, 13)]
        trend = store.trend("fan-1", BEGIN, BEGIN + 7200, points=2)
        assert (trend.alert_seconds.tolist(), trend.alarm_seconds.tolist()) == ([60, 67], [60, 13])


def test_a_store_of_revision_0002_goes_on(store_0002, url, folder):
    with Store.open(url, folder, writer=True) as store:
        ongoing, over = store.event("a"), store.event("b")
        (episode,) = ongoing.episodes
        assert (episode.began, episode.ended, episode.peak) == (10.5, None, 3.5)
        assert over.episodes == ()
        store.save_event(ongoing.model_copy(update={"ended": 20.0, "may_continue": True}))
        assert store.event("a").may_continue
        later = readings("fan-1", BEGIN + 7200, [1.0] * 60, "alert", bands_db=(-20.0,) * 8)
        store.add_readings(later)
        store.roll_up(BEGIN + 9000)
        assert store.trend("fan-1", BEGIN + 7200, BEGIN + 9000, 1).alert_seconds.tolist() == [60]
        assert (
            store.band_trend("fan-1", BEGIN, BEGIN + 9000, 3).levels_db[-1].tolist() == [-20.0] * 8
        )


# --- What was learned -----------------------------------------------------------------------------


def test_what_was_learned_before_0002_is_restored_by_the_alarm_logic(store_0001, url, folder):
    with Store.open(url, folder) as store:
        points = OperatingPoints.from_json(store.get_value("fan-1", "baseline")["points"])
        assert (points.points[0].name, points.points[0].usual_score) == ("half load", 0.5)
        spectra = SpectrumBaseline()
        spectra.restore(store.get_value("fan-1", "spectra"))
        assert spectra.to_json() == store.get_value("fan-1", "spectra")


def test_a_failed_upgrade_from_0001_changes_nothing(store_0001, url, folder, version):
    version("    raise ValueError('no such thing')")
    with pytest.raises(SsdptError, match=f"from 0001 to {NEXT}"):
        Store.open(url, folder, writer=True)
    version()
    with Store.open(url, folder, writer=True) as store:
        check_0002(store)


@pytest.mark.needs_postgres
def test_constraints_of_renamed_tables_are_renamed_too(backup_0001, new_url, folder):
    url = new_url("postgresql")
    restore(backup_0001, url, folder)
    query = "SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace"
    with Store.open(url, folder) as store, store.database.read() as connection:
        names = set(connection.scalars(text(query)))
    assert {"rollup_progress_pkey", "machine_values_pkey", "machine_values_machine_fkey"} <= names
    assert not [name for name in names if name.startswith(("marks", "memory"))]


def test_a_backup_of_revision_0001_is_restored(backup_0001, url, folder):
    restore(backup_0001, url, folder)
    assert (folder / "models" / "fan-1" / "config.json").read_text() == "{}"
    with Store.open(url, folder, writer=True) as store:
        check_0002(store)
