"""How fast a store answers when it holds a year of many machines."""

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
from ssdpt.monitor.store.tables import STATE_CODES, minutes, seconds

_BEGIN = 1_704_067_200  # 2024-01-01, UTC
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
_ALERT, _ALARM = 4.0, 5.0  # of generated scores, which lie around 0

Columns = Mapping[str, NDArray[np.generic]]  # (rows,) each


@dataclass(frozen=True, slots=True)
class TrendTime:
    """What reading a trend takes, each time of another machine and another part of the history."""

    span: str
    seconds_per_point: float
    points: int  # the most
    median_ms: float
    worst_ms: float


@dataclass(frozen=True, slots=True)
class HistoryTimes:
    """What a store takes to hold and to answer."""

    database: str
    machines: int
    days: int
    minutes: int  # rows
    seconds: int  # rows: the last day
    bytes_on_disk: int
    fill_seconds: float
    roll_up_seconds: float  # all minutes to hours
    second_ms: float  # to add a reading of every machine; the median
    minute_ms: float  # to sum up a minute of them
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
    """Fill an empty store with generated minutes, and seconds of the last day; time its trends.

    The data stays; whoever has made the database drops it.
    """
    random = np.random.default_rng(seed)
    end = _BEGIN + days * _DAY
    with Store.open(url, folder) as store:
        names = _name_machines(store, machines)
        begun = time.perf_counter()
        with reporter.task("filling the store", days + 1) as task:
            for day in range(days):
                _add(store.database, minutes, _minutes(random, machines, _BEGIN + day * _DAY))
                task.advance()
            _add(store.database, seconds, _seconds(random, machines, end - _DAY))
            task.advance()
        filled = time.perf_counter()
        with store.database.write() as connection:
            set_progress(connection, "minutes", end * 1000)
            set_progress(connection, "seconds_removed", (end - _DAY) * 1000)
        store.roll_up(end)
        rolled = time.perf_counter()
        size = _settle(store.database)
        spans = {name: span for name, span in _SPANS.items() if span <= days * _DAY}
        return HistoryTimes(
            database="SQLite" if store.database.is_sqlite else "PostgreSQL",
            machines=machines,
            days=days,
            minutes=machines * days * 1440,
            seconds=machines * _DAY,
            bytes_on_disk=size,
            fill_seconds=filled - begun,
            roll_up_seconds=rolled - filled,
            trends=tuple(
                _time_trend(store, names, name, span, end, repeats, random)
                for name, span in spans.items()
            ),
            **_time_live(store, names, end),
        )


def _name_machines(store: Store, count: int) -> list[str]:
    """Machines of an empty store, which numbers them from 1."""
    with store.database.read() as connection:
        if read_progress(connection)["minutes"]:
            raise SsdptError(f"{store.database.name}: holds readings already; give an empty store")
    names = [f"machine-{number:02d}" for number in range(1, count + 1)]
    for name in names:
        store.remember(name, "name", name)
    return names


def _time_live(store: Store, names: list[str], begin: int) -> dict[str, float]:
    """A minute as a service writes it."""
    taken = []
    for second in range(60):
        readings = [Reading(name, begin + second, "normal", -30.0, 0.1, 0.2) for name in names]
        begun = time.perf_counter()
        store.add_readings(readings)
        taken.append(1000 * (time.perf_counter() - begun))
    begun = time.perf_counter()
    store.roll_up(begin + 90)
    return {
        "second_ms": statistics.median(taken),
        "minute_ms": 1000 * (time.perf_counter() - begun),
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
    """Short spans lie in the last day, where there are seconds."""
    room = (_DAY if span < _DAY else end - _BEGIN) - span
    taken, most = [], 0
    for _ in range(repeats):
        machine = names[random.integers(len(names))]
        until = end - float(random.uniform(0, room)) if room else float(end)
        begun = time.perf_counter()
        trend = store.trend(machine, until - span, until)
        taken.append(1000 * (time.perf_counter() - begun))
        most = max(most, len(trend.time))
    return TrendTime(name, trend.seconds_per_point, most, statistics.median(taken), max(taken))


def _minutes(random: np.random.Generator, machines: int, begin: int) -> Columns:
    """A day, in the order in which a service would write it: all machines of a minute."""
    number, moment = _grid(machines, begin, 60)
    mean = random.normal(0, 1, len(number))
    high = mean + random.gamma(2, 0.2, len(number))
    return {
        "machine": number,
        "time": moment,
        "readings": np.full(len(number), 60),
        "heard": np.full(len(number), 60),
        "low": mean - random.gamma(2, 0.2, len(number)),
        "mean": mean,
        "high": high,
        "state": _states(high),
        "level": random.normal(-30, 2, len(number)),
    }


def _seconds(random: np.random.Generator, machines: int, begin: int) -> Columns:
    number, moment = _grid(machines, begin, 1)
    score = random.normal(0, 1, len(number))
    return {
        "machine": number,
        "time": moment,
        "state": _states(score),
        "level": random.normal(-30, 2, len(number)),
        "score": score,
        "smoothed": score,
        "p_value": random.uniform(0, 1, len(number)),
    }


def _grid(machines: int, begin: int, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of machines, and times in milliseconds of a day's rows."""
    moments = 1000 * np.arange(begin, begin + _DAY, step, dtype=np.int64)
    numbers = np.arange(1, machines + 1, dtype=np.int64)
    return np.tile(numbers, len(moments)), np.repeat(moments, machines)


def _states(score: NDArray[np.float64]) -> NDArray[np.int64]:
    codes = [STATE_CODES["alarm"], STATE_CODES["alert"]]
    return np.select([score > _ALARM, score > _ALERT], codes, STATE_CODES["normal"])


def _add(database: Database, table: Table, columns: Columns) -> None:
    with database.write(durable=False) as connection:
        if database.is_sqlite:
            marks = ", ".join("?" * len(columns))
            rows = list(zip(*(values.tolist() for values in columns.values()), strict=True))
            names = ", ".join(columns)
            insert = f"INSERT INTO {table.name} ({names}) VALUES ({marks})"
            connection.exec_driver_sql(insert, rows)
        else:
            _copy(connection, table, columns)


def _copy(connection: Connection, table: Table, columns: Columns) -> None:
    """PostgreSQL's binary COPY: every value after its length in bytes, highest byte first."""
    kinds = {"SMALLINT": ">i2", "INTEGER": ">i4", "BIGINT": ">i8", "REAL": ">f4", "DOUBLE": ">f8"}
    layout: list[tuple[str, str]] = [("fields", ">i2")]
    for name in columns:
        layout += [(f"length {name}", ">i4"), (name, kinds[str(table.c[name].type)])]
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


def _settle(database: Database) -> int:
    """Do at once what the database does by itself in a year; how many bytes it takes then."""
    with database.write() as connection:
        if database.is_sqlite:
            connection.execute(text("ANALYZE"))
        else:
            # VACUUM runs outside of transactions only.
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
        own = connection.scalar(text(f"{size} WHERE schemaname = current_schema()"))
        return int(own or 0)
