"""Scores and events as files."""

from __future__ import annotations

import csv
import io
import sys

import numpy as np
import pyarrow.parquet
import pytest
from sample_messages import acknowledgement

from receivers import an_event
from ssdpt.alarms.findings import Finding
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Comment, Episode
from ssdpt.monitor.outputs.export import TrendPoint, export_events, export_trend

FORMATS = ("csv", "parquet")


def points(count):
    for number in range(count):
        score = np.float64(number / 7)
        yield TrendPoint("fan", 1.7e9 + number, score - 1, score, score + 1, "normal", 0.0, 0.25)


def read(content, format):
    if format == "parquet":
        return pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.mark.parametrize("format", FORMATS)
def test_every_score_comes_back_as_it_was(format):
    rows = read(b"".join(export_trend(points(12_345), format)), format)
    assert len(rows) == 12_345
    assert [float(row["mean"]) for row in rows] == [number / 7 for number in range(12_345)]
    assert float(rows[-1]["time"]) == 1.7e9 + 12_344
    assert rows[0]["time_utc"] == "2023-11-14T22:13:20.000+00:00"
    assert (rows[0]["machine"], rows[0]["state"]) == ("fan", "normal")
    assert [float(rows[0][name]) for name in ("alert_seconds", "alarm_seconds")] == [0.0, 0.25]


@pytest.mark.parametrize(("format", "missing"), [("csv", ""), ("parquet", None)])
def test_what_was_not_judged_is_missing(format, missing):
    gap = TrendPoint("fan", 0.0, None, None, None, "off", 0.0, 0.0)
    rows = read(b"".join(export_trend([gap], format)), format)
    assert [rows[0][name] for name in ("low", "mean", "high")] == [missing] * 3


@pytest.mark.parametrize("format", FORMATS)
def test_pieces_come_while_rows_do(format):
    """A year of scores never lies in memory as a whole."""
    asked = 0

    def counted():
        nonlocal asked
        for point in points(50_000):
            asked += 1
            yield point

    pieces = export_trend(counted(), format)
    assert asked == 0
    next(pieces)
    assert asked <= 5000
    sizes = [len(piece) for piece in pieces]
    assert asked == 50_000
    assert len(sizes) >= 9
    assert max(sizes) < 1_000_000


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_of_nothing_is_a_file_with_columns(format):
    content = b"".join(export_trend([], format))
    columns = ["machine", "time", "time_utc", "low", "mean", "high", "state"]
    columns += ["alert_seconds", "alarm_seconds"]
    if format == "csv":
        assert content == f"{','.join(columns)}\r\n".encode()
    else:
        table = pyarrow.parquet.read_table(io.BytesIO(content))
        assert table.num_rows == 0
        assert table.column_names == columns


@pytest.mark.parametrize("format", FORMATS)
def test_events_come_back_as_they_were(format):
    events = [
        an_event(message='rattles, "loudly"\nand twice', peak=2.5, threshold=1.5),
        an_event(
            ended=1.7e9 + 60,
            episodes=(
                Episode(began=1.7e9, ended=1.7e9 + 5, level="alert"),
                Episode(began=1.7e9 + 50, level="alarm"),
            ),
            findings=(Finding(code="tone", hz=130.0, db=30.0, new=True),),
            baseline_learned_at=1.6e9,
            acknowledged=acknowledgement(at=1.7e9 + 5),
            comments=(
                Comment(who="ann", at=1.7e9, text="hm"),
                Comment(who="bo", at=1.7e9 + 60, text="=1+1, greased\n and well"),
            ),
        ),
    ]
    rows = read(b"".join(export_events(events, format)), format)
    assert [row["id"] for row in rows] == [event.id for event in events]
    assert rows[0]["message"] == events[0].message
    assert float(rows[0]["peak"]) == 2.5
    assert not rows[0]["ended"]
    assert (rows[1]["state"], int(rows[1]["comments"])) == ("cleared", 2)
    assert rows[1]["comment_texts"] == (
        "2023-11-14T22:13:20Z ann: hm | 2023-11-14T22:14:20Z bo: =1+1, greased and well"
    )
    assert (int(rows[0]["comments"]), rows[0]["comment_texts"]) == (0, "")
    assert (int(rows[0]["episodes"]), int(rows[1]["episodes"])) == (0, 2)
    assert rows[1]["episode_times"] == (
        "alert 2023-11-14T22:13:20.000+00:00 to 2023-11-14T22:13:25.000+00:00 | "
        "alarm 2023-11-14T22:14:10.000+00:00 to now"
    )
    assert rows[1]["findings"] == "new tone at 130 Hz, 30 dB above normal"
    assert float(rows[1]["baseline_learned_at"]) == 1.6e9
    assert rows[1]["ended_utc"] == "2023-11-14T22:14:20.000+00:00"


def test_a_spreadsheet_runs_nothing_of_it():
    formula = '=HYPERLINK("http://example.org")'
    event = an_event(message=formula, acknowledged=acknowledgement("@SUM(A1)"))
    row = read(b"".join(export_events([event], "csv")), "csv")[0]
    assert row["message"].startswith("'=")
    assert row["acknowledged_by"].startswith("'@")
    low = TrendPoint("fan", 0.0, -1.5, -1.0, -0.5, "normal", 0.0, 0.0)  # a number stays one
    assert read(b"".join(export_trend([low], "csv")), "csv")[0]["low"] == "-1.5"


def test_an_unknown_format_is_refused_before_the_first_piece():
    with pytest.raises(SsdptError, match="'xlsx' is not a format; choose csv, parquet"):
        export_trend([], "xlsx")


def test_a_missing_package_is_named_before_the_first_piece(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[parquet\]'"):
        export_events([], "parquet")
    assert b"".join(export_events([], "csv")).startswith(b"id,machine,kind")
