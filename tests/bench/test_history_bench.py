"""The benchmark of a store: trends are read from what it has written."""

from __future__ import annotations

import json
import os
import uuid

import pytest
from sqlalchemy import create_engine, make_url, text
from typer.testing import CliRunner

from ssdpt.bench.history import bench_history
from ssdpt.cli import app
from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store

POSTGRES = os.environ.get("SSDPT_TEST_POSTGRES", "postgresql+psycopg://root@localhost/test")


@pytest.fixture(params=["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.needs_postgres)])
def kind(request):
    return request.param


@pytest.fixture
def url(kind, tmp_path):
    """An empty database."""
    if kind == "SQLite":
        yield f"sqlite:///{tmp_path}/history.db"
        return
    server, schema = create_engine(POSTGRES), f"ssdpt_{uuid.uuid4().hex}"
    with server.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    own = make_url(POSTGRES).update_query_dict({"options": f"-csearch_path={schema}"})
    yield own.render_as_string(hide_password=False)
    with server.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    server.dispose()


def test_it_fills_a_store_and_measures_its_trends(url, kind, tmp_path):
    times = bench_history(url, tmp_path / "files", machines=2, days=2, repeats=2)
    assert (times.database, times.minutes, times.seconds) == (kind, 5760, 172800)
    assert times.bytes_on_disk > 1e6
    assert [trend.span for trend in times.trends] == ["1 hour", "5 hours", "1 day"]
    assert [trend.seconds_per_point for trend in times.trends] == [10, 30, 300]
    for trend in times.trends:
        assert trend.points >= 288
        assert 0 < trend.median_ms <= trend.worst_ms
    assert min(times.second_ms, times.minute_ms, times.fill_seconds, times.roll_up_seconds) > 0
    with Store.open(url, tmp_path / "files") as store:
        trend = store.trend("machine-02", 1_704_067_200, 1_704_067_200 + 2 * 86400, points=48)
        assert (trend.seconds_per_point, len(trend.time)) == (3600, 48)
        assert (trend.low < trend.mean).all()
        assert (trend.mean < trend.high).all()
    with pytest.raises(SsdptError, match="use an empty database"):
        bench_history(url, tmp_path / "files", machines=2, days=2, repeats=2)


def test_the_command_prints_a_table_of_trends():
    command = ["bench", "history", "--machines", "1", "--days", "1"]
    printed = CliRunner().invoke(app, command).stdout.splitlines()
    assert printed[0] == "database  SQLite"
    heading = next(n for n, line in enumerate(printed) if line.startswith("trend of"))
    assert printed[heading].split("  ")[0] == "trend of"
    assert [line.split("  ")[0] for line in printed[heading + 1 :]] == [
        *("1 hour", "5 hours", "1 day"),
    ]
    times = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert [trend["span"] for trend in times["trends"]] == ["1 hour", "5 hours", "1 day"]
