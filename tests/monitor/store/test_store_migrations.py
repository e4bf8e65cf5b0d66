"""From one version's tables to the next, with a plant's history in them; all of it or nothing."""

from __future__ import annotations

import shutil

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import IntegrityError
from store_data import BEGIN, content, event, filled, readings

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store, StoreUnavailable, User, back_up, restore, schema

_HEAD = """
import sqlalchemy as sa
from alembic import op

revision = "{name}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade():
"""

# What a later version may well do: SQLite makes the tables anew for it, PostgreSQL alters them.
SECOND = """
    with op.batch_alter_table("events") as table:
        table.add_column(sa.Column("cost", sa.Integer, nullable=False, server_default="7"))
        table.alter_column("words", existing_type=sa.Text, nullable=True)
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
THIRD = """
    op.execute("UPDATE days SET rows = rows + 1000")
"""


@pytest.fixture
def version(tmp_path, monkeypatch):
    """Makes this a version of ssdpt that has more migrations; without any it is itself again."""
    own = schema._MIGRATIONS

    def become(*steps):
        place = tmp_path / f"migrations-{len(list(tmp_path.glob('migrations-*')))}%d"
        shutil.copytree(own, place)
        for number, step in enumerate(steps, 2):
            head = _HEAD.format(name=f"{number:04d}", before=f"{number - 1:04d}")
            (place / "versions" / f"{number:04d}_later.py").write_text(head + step)
        monkeypatch.setattr(schema, "_MIGRATIONS", place)

    return become


@pytest.fixture
def old(url, folder):
    """A store of the version before, with some of everything; what is in it."""
    with Store.open(url, folder, writer=True) as store:
        filled(store)
        token = store.new_token("ada", 7)
        return content(store), token


def check_upgraded(store, before, token):
    """Nothing is lost, and everything refers to what it did."""
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
def test_a_store_is_brought_up_to_date_with_all_that_is_in_it(url, folder, old, version, writer):
    before, token = old
    version(SECOND)
    with Store.open(url, folder, writer=writer) as store:
        with store.database.read() as connection:
            assert schema.revision(connection) == "0002"
        check_upgraded(store, before, token)
    with Store.open(url, folder, writer=True) as again:  # up to date, and its lock is free
        assert [one.text for one in again.event(event(0).id).comments] == ["läuft\n", "upgraded"]


def test_several_steps_are_one(url, folder, old, version):
    version(SECOND, THIRD)
    with Store.open(url, folder, writer=True) as store, store.database.read() as connection:
        assert schema.revision(connection) == "0003"
        assert min(connection.scalars(text("SELECT rows FROM days"))) > 1000


@pytest.mark.parametrize(
    "broken",
    [
        "    raise ValueError('no such thing')",
        "    op.execute('SELECT nonsense FROM nowhere')",
        "    op.execute('INSERT INTO days SELECT machine, 1 FROM days')",
        "    op.execute('DELETE FROM events')",  # comments and recordings are left alone
    ],
    ids=["python", "sql", "constraint", "references"],
)
def test_a_step_that_fails_leaves_the_store_as_it_was(url, folder, old, version, broken):
    before, token = old
    version(SECOND, broken)
    with pytest.raises(SsdptError, match="the tables cannot be brought") as refused:
        Store.open(url, folder, writer=True)
    assert "from 0001 to 0003" in str(refused.value)
    assert "nothing was changed" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not isinstance(refused.value, StoreUnavailable)  # trying again will not help
    version()
    with Store.open(url, folder, writer=True) as store:
        assert content(store) == before
        assert store.check_token(token) == User("ada", "admin")
        assert not inspect(store.database._durable).has_table("days")
    version(SECOND)
    with Store.open(url, folder, writer=True) as store:
        check_upgraded(store, before, token)


def test_the_version_before_refuses_the_newer_store(url, folder, old, version):
    version(SECOND)
    Store.open(url, folder).close()
    version()
    for writer in (True, False):
        with pytest.raises(SsdptError, match=r"newer version of ssdpt \(tables 0002.*knows 0001"):
            Store.open(url, folder, writer=writer)
    version(SECOND)
    Store.open(url, folder, writer=True).close()  # it was left alone, and nobody holds it


def test_a_backup_of_the_version_before_is_brought_up_to_date(
    url, folder, old, version, new_url, kind, tmp_path
):
    before, token = old
    path = tmp_path / "backup.tar"
    with Store.open(url, folder) as store:
        back_up(store, path)
    version(SECOND)
    restored = new_url(kind)
    restore(path, restored, tmp_path / "restored")
    with Store.open(restored, tmp_path / "restored") as store:
        check_upgraded(store, before, token)


def test_the_version_before_refuses_the_newer_backup(
    url, folder, old, version, new_url, kind, tmp_path
):
    version(SECOND)
    with Store.open(url, folder) as store:
        back_up(store, tmp_path / "backup.tar")
    version()
    with pytest.raises(SsdptError, match=r"newer version of ssdpt.*tables 0002"):
        restore(tmp_path / "backup.tar", new_url(kind), tmp_path / "restored")
