"""Measures how fast a store with a year of many machines is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, text

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Reading
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.rollup_progress import read_progress, set_progress
from ssdpt.monitor.store.tables import BAND_COLUMNS, STATE_CODES, minutes, seconds

_BEGIN = 1_704_067_200  # 2024-01-01 UTC, seconds since 1970
_HOUR, _DAY = 3600, 86400
_SPANS = {  # seconds
    "1 hour": _HOUR,
    "5 hours": 5 * _HOUR,
    "1 day": _DAY,
    "7 days": 7 * _DAY,
    "12 days": 12 * _DAY,
    "90 days": 90 * _DAY,
    "1 year": 365 * _DAY,
}
_ALERT, _ALARM = 4.0, 5.0  # thresholds of generated scores, whose mean is 0

Columns = Mapping[str, NDArray[np.generic]]  # (rows,) each


@dataclass(frozen=True, slots=True)
class TrendTime:
    """Times to read a trend, of a random machine and time range in each repeat."""

    span: str
    seconds_per_point: float
    points: int  # the most in one trend
    median_ms: float
    worst_ms: float


@dataclass(frozen=True, slots=True)
class HistoryTimes:
    """Size of a store, and how long its operations take."""

    database: str
    machines: int
    days: int
    minutes: int  # rows
    seconds: int  # rows: the last day
    bytes_on_disk: int
    fill_seconds: float
    roll_up_seconds: float  # all minutes to hours
    second_ms: float  # to add one reading of every machine; the median
    minute_ms: float  # to roll up a minute of all machines
    trends: tuple[TrendTime, ...]


def bench_history(
    url: str,
    folder: Path,
    *,
    machines: int = 64,
    days: int = 365,
    repeats: int = 20,
    seed: int = 0,
    reporter: Reporter = SILENT,
) -> HistoryTimes:
    """Fill an empty store with generated minutes, and seconds of the last day; measure its times.

    The data stays in the database; the caller removes it.
    """
    random = np.random.default_rng(seed)
    end = _BEGIN + days * _DAY
    with Store.open(url, folder) as store:
        names = _add_machines(store, machines)
        started = time.perf_counter()
        with reporter.task("filling the store", days + 1) as task:
            for day in range(days):
                _insert(store.database, minutes, _minutes(random, machines, _BEGIN + day * _DAY))
                task.advance()
            _insert(store.database, seconds, _seconds(random, machines, end - _DAY))
            task.advance()
        filled = time.perf_counter()
        with store.database.write() as connection:
            set_progress(connection, "minutes", end * 1000)
            set_progress(connection, "seconds_removed", (end - _DAY) * 1000)
        store.roll_up(end)
        rolled_up = time.perf_counter()
        size = _optimise(store.database)
        spans = {name: span for name, span in _SPANS.items() if span <= days * _DAY}
        return HistoryTimes(
            database="SQLite" if store.database.is_sqlite else "PostgreSQL",
            machines=machines,
            days=days,
            minutes=machines * days * 1440,
            seconds=machines * _DAY,
            bytes_on_disk=size,
            fill_seconds=filled - started,
            roll_up_seconds=rolled_up - filled,
            trends=tuple(
                _time_trend(store, names, name, span, end, repeats, random)
                for name, span in spans.items()
            ),
            **_time_writes(store, names, end),
        )


def _add_machines(store: Store, count: int) -> list[str]:
    """Add machines to an empty store, which numbers them from 1."""
    with store.database.read() as connection:
        if read_progress(connection)["minutes"]:
            raise SsdptError(
                f"{store.database.name}: holds readings already; use an empty database"
            )
    names = [f"machine-{number:02d}" for number in range(1, count + 1)]
    for name in names:
        store.set_value(name, "name", name)
    return names


def _time_writes(store: Store, names: list[str], begin: int) -> dict[str, float]:
    """Write a minute as the service does."""
    times = []
    for second in range(60):
        readings = [
            Reading(
                machine=name,
                time=begin + second,
                state="normal",
                level_dbfs=-30.0,
                score=0.1,
                smoothed=0.2,
            )
            for name in names
        ]
        started = time.perf_counter()
        store.add_readings(readings)
        times.append(1000 * (time.perf_counter() - started))
    started = time.perf_counter()
    store.roll_up(begin + 90)
    return {
        "second_ms": statistics.median(times),
        "minute_ms": 1000 * (time.perf_counter() - started),
    }


def _time_trend(
    store: Store,
    names: list[str],
    name: str,
    span: int,
    end: int,
    repeats: int,
    random: np.random.Generator,
) -> TrendTime:
    """Read trends of this span (s) at random times; if it is short, within the last day."""
    range_seconds = (_DAY if span < _DAY else end - _BEGIN) - span
    times, most_points = [], 0
    for _ in range(repeats):
        machine = names[random.integers(len(names))]
        until = end - float(random.uniform(0, range_seconds))
        started = time.perf_counter()
        trend = store.trend(machine, until - span, until)
        times.append(1000 * (time.perf_counter() - started))
        most_points = max(most_points, len(trend.time))
    return TrendTime(
        name, trend.seconds_per_point, most_points, statistics.median(times), max(times)
    )


def _minutes(random: np.random.Generator, machines: int, begin: int) -> Columns:
    """Rows of a day, in the order in which the service writes them: by time, then by machine."""
    numbers, times = _grid(machines, begin, 60)
    mean = random.normal(0, 1, len(numbers))
    high = mean + random.gamma(2, 0.2, len(numbers))
    return {
        "machine": numbers,
        "time": times,
        "readings": np.full(len(numbers), 60),
        "scored": np.full(len(numbers), 60),
        "low": mean - random.gamma(2, 0.2, len(numbers)),
        "mean": mean,
        "high": high,
        "state": _states(high),
        "level": random.normal(-30, 2, len(numbers)),
        "alert_seconds": np.where(_states(high) == STATE_CODES["alert"], 10, 0),
        "alarm_seconds": np.where(_states(high) == STATE_CODES["alarm"], 10, 0),
        **_bands(random, len(numbers)),
    }


def _seconds(random: np.random.Generator, machines: int, begin: int) -> Columns:
    numbers, times = _grid(machines, begin, 1)
    score = random.normal(0, 1, len(numbers))
    return {
        "machine": numbers,
        "time": times,
        "state": _states(score),
        "level": random.normal(-30, 2, len(numbers)),
        "score": score,
        "smoothed": score,
        "p_value": random.uniform(0, 1, len(numbers)),
        **_bands(random, len(numbers)),
    }


def _bands(random: np.random.Generator, rows: int) -> Columns:
    """Levels of all bands, as stored."""
    return {name: random.integers(-6000, -2000, rows) for name in BAND_COLUMNS}


def _grid(machines: int, begin: int, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Machine numbers (rows,) and times in ms (rows,) of the rows of a day."""
    times = 1000 * np.arange(begin, begin + _DAY, step, dtype=np.int64)
    numbers = np.arange(1, machines + 1, dtype=np.int64)
    return np.tile(numbers, len(times)), np.repeat(times, machines)


def _states(score: NDArray[np.float64]) -> NDArray[np.int64]:
    codes = [STATE_CODES["alarm"], STATE_CODES["alert"]]
    return np.select([score > _ALARM, score > _ALERT], codes, STATE_CODES["normal"])


def _insert(database: Database, table: Table, columns: Columns) -> None:
    with database.write(durable=False) as connection:
        if database.is_sqlite:
            placeholders = ", ".join("?" * len(columns))
            rows = list(zip(*(values.tolist() for values in columns.values()), strict=True))
            names = ", ".join(columns)
            insert = f"INSERT INTO {table.name} ({names}) VALUES ({placeholders})"
            connection.exec_driver_sql(insert, rows)
        else:
            _copy(connection, table, columns)


def _copy(connection: Connection, table: Table, columns: Columns) -> None:
    """Binary COPY of PostgreSQL: each value follows its length in bytes, big-endian."""
    formats = {"SMALLINT": ">i2", "INTEGER": ">i4", "BIGINT": ">i8", "REAL": ">f4", "DOUBLE": ">f8"}
    layout: list[tuple[str, str]] = [("fields", ">i2")]
    for name in columns:
        layout += [(f"length {name}", ">i4"), (name, formats[str(table.c[name].type)])]
    rows = np.zeros(len(next(iter(columns.values()))), dtype=layout)
    rows["fields"] = len(columns)
    for name, values in columns.items():
        rows[f"length {name}"] = rows.dtype[name].itemsize
        rows[name] = values
    driver = connection.connection.driver_connection
    assert driver is not None
    statement = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        copy.write(rows.tobytes())
        copy.write(b"\xff\xff")


def _optimise(database: Database) -> int:
    """Run the maintenance that the database does by itself over time; returns its size (bytes)."""
    with database.write() as connection:
        if database.is_sqlite:
            connection.execute(text("ANALYZE"))
        else:
            # VACUUM cannot run inside a transaction.
            driver = connection.connection.driver_connection
            assert driver is not None
            driver.rollback()
            driver.autocommit = True
            driver.execute("VACUUM ANALYZE seconds, minutes, hours")
            driver.autocommit = False
    with database.read() as connection:
        if database.is_sqlite:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            return int(pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one())
        size = "SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables"
        return int(connection.scalar(text(f"{size} WHERE schemaname = current_schema()")) or 0)
