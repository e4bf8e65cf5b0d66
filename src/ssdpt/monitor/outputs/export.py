"""Scores and events as CSV or Parquet, written piece by piece."""

from __future__ import annotations

import csv
import importlib
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Comment, Episode, Event, MachineState
from ssdpt.sentences import Sentence

Format = Literal["csv", "parquet"]
_ROWS = 5000  # in a piece, which is a row group of Parquet
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Kind = Literal["text", "number", "count"]
Columns = Sequence[tuple[str, Kind]]
Row = Sequence[str | float | int | None]


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """The smoothed score of one machine over an interval."""

    machine: str
    time: float  # start of the interval, seconds since 1970
    low: float | None  # lowest score; None where nothing was scored, like mean and high
    mean: float | None
    high: float | None
    state: MachineState  # the most urgent
    alert_seconds: float  # in alert, not counting alarm
    alarm_seconds: float


_TREND: Columns = (
    *(("machine", "text"), ("time", "number"), ("time_utc", "text")),
    *(("low", "number"), ("mean", "number"), ("high", "number"), ("state", "text")),
    *(("alert_seconds", "number"), ("alarm_seconds", "number")),
)
_EVENTS: Columns = (
    *(("id", "text"), ("machine", "text"), ("kind", "text"), ("level", "text")),
    *(("state", "text"), ("began", "number"), ("began_utc", "text"), ("ended", "number")),
    *(("ended_utc", "text"), ("peak", "number"), ("threshold", "number"), ("label", "text")),
    *(("acknowledged_by", "text"), ("acknowledged_at", "number"), ("comments", "count")),
    *(("comment_texts", "text"), ("message", "text"), ("episodes", "count")),
    *(("episode_times", "text"), ("findings", "text"), ("baseline_learned_at", "number")),
    *(("cause", "text"), ("work_order", "text"), ("fault", "text"), ("looks_like", "text")),
)


def export_trend(rows: Iterable[TrendPoint], format: str) -> Iterator[bytes]:
    """A file in pieces, each made when it is asked for. SsdptError at once, not later."""
    return _writer(format)(_TREND, map(_trend_row, rows))


def export_events(events: Iterable[Event], format: str) -> Iterator[bytes]:
    """A file in pieces, each made when it is asked for. SsdptError at once, not later."""
    return _writer(format)(_EVENTS, map(_event_row, events))


def _trend_row(point: TrendPoint) -> Row:
    return (
        *(point.machine, point.time, _utc(point.time)),
        *(point.low, point.mean, point.high, point.state),
        *(point.alert_seconds, point.alarm_seconds),
    )


def _event_row(event: Event) -> Row:
    acknowledged = event.acknowledged
    return (
        *(event.id, event.machine, event.kind, event.level, event.state),
        *(event.began, _utc(event.began), event.ended, _utc(event.ended)),
        *(event.peak, event.threshold, event.label),
        *((acknowledged.who, acknowledged.at) if acknowledged else (None, None)),
        *(len(event.comments), " | ".join(map(_comment_text, event.comments)), event.message),
        *(len(event.episodes), " | ".join(map(_episode_text, event.episodes))),
        *("; ".join(finding.text for finding in event.findings), event.baseline_learned_at),
        *(event.cause, event.work_order, event.fault),
        event.looks_like.fault if event.looks_like else "",
    )


def _comment_text(comment: Comment) -> str:
    """When, who and what, on one line."""
    at = datetime.fromtimestamp(comment.at, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%SZ} {comment.who}: {' '.join(comment.text.split())}"


def _episode_text(episode: Episode) -> str:
    """Level, and from when to when."""
    return f"{episode.level} {_utc(episode.began)} to {_utc(episode.ended) or 'now'}"


def _utc(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _writer(format: str) -> Callable[[Columns, Iterator[Row]], Iterator[bytes]]:
    if format not in get_args(Format):
        raise SsdptError(Sentence("outputs.noFormat", format=format, formats=get_args(Format)))
    if format == "csv":
        return _csv
    arrow, parquet = _pyarrow()
    return lambda columns, rows: _parquet(arrow, parquet, columns, rows)


def _pieces(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while piece := list(itertools.islice(rows, _ROWS)):
        yield piece


def _csv(columns: Columns, rows: Iterator[Row]) -> Iterator[bytes]:
    """RFC 4180; missing values are empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(name for name, _ in columns)
    yield text.getvalue().encode()
    for piece in _pieces(rows):
        text.seek(0)
        text.truncate()
        writer.writerows([_harmless(value) for value in row] for row in piece)
        yield text.getvalue().encode()


def _harmless(value: str | float | None) -> str | float | None:
    """Text that a spreadsheet would run as a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _parquet(arrow: Any, parquet: Any, columns: Columns, rows: Iterator[Row]) -> Iterator[bytes]:
    types = {"text": arrow.string(), "number": arrow.float64(), "count": arrow.int64()}
    schema = arrow.schema([(name, types[kind]) for name, kind in columns])
    sink = _Sink()
    with parquet.ParquetWriter(arrow.PythonFile(sink, mode="w"), schema) as writer:
        for piece in _pieces(rows):
            arrays = [
                arrow.array(values, field.type)
                for values, field in zip(zip(*piece, strict=True), schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file that holds only what was not taken yet."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self._bytes += data
        self._position += size
        return size

    def tell(self) -> int:
        return self._position

    def taken(self) -> bytes:
        """What was written since the last time."""
        piece = bytes(self._bytes)
        self._bytes.clear()
        return piece


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise SsdptError(Sentence("outputs.needsPyarrow")) from error
