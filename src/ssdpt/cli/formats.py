"""Output formats of `ssdpt score`; each result is printed as soon as it is computed."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from ssdpt.scoring.rows import COLUMNS, as_json, as_row

if TYPE_CHECKING:
    from ssdpt.types import Score

_BARS = "▁▂▃▄▅▆▇█"
_BAR_COUNT = 40


class Format(StrEnum):
    """For people (table), for spreadsheets (csv), for programs (json, jsonl, parquet)."""

    table = "table"
    json = "json"
    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"  # only written to a folder


class Writer:
    """Writes scores one by one; leaving the context completes the output."""

    def __init__(self, kind: Format, file: TextIO, *, with_timeline: bool) -> None:
        self._kind, self._file, self._with_timeline = kind, file, with_timeline
        self._csv = csv.writer(file, lineterminator="\n")
        self._count = 0

    def __enter__(self) -> Self:
        if self._kind is Format.csv:
            timeline = ("path", "start_s", "end_s", "value")
            self._csv.writerow(timeline if self._with_timeline else COLUMNS)
        if self._kind is Format.json:
            self._file.write("[")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None and issubclass(kind, OSError):
            return  # nothing more can be written
        if self._kind is Format.json:
            self._file.write("\n]\n" if self._count else "]\n")
        self._file.flush()

    def write(self, score: Score) -> None:
        """Write one result."""
        if self._kind is Format.table:
            self._table_row(score)
        elif self._kind is Format.csv:
            self._csv_rows(score)
        else:
            indented = self._kind is Format.json
            separator = (",\n" if self._count else "\n") if indented else ""
            self._file.write(separator + json.dumps(as_json(score, self._with_timeline)))
            self._file.write("" if indented else "\n")
        self._count += 1
        self._file.flush()

    def _table_row(self, score: Score) -> None:
        if not self._count:
            self._file.write(f"{'level':<7} {'score':>10} {'threshold':>10} {'p-value':>9}  clip\n")
        self._file.write(
            f"{score.level:<7} {score.value:>10.4f} {score.threshold:>10.4f} "
            f"{score.p_value:>9.2g}  {score.path}\n"
        )
        for note in score.notes:
            self._file.write(f"        {note}\n")
        if self._with_timeline:
            line = score.timeline
            peak = int(line.value.argmax())
            seconds = float(line.start[peak])
            self._file.write(
                f"        {sparkline(line.value.tolist())} highest {line.value[peak]:.4f} at "
                f"{seconds:.1f}–{seconds + line.duration:.1f} s\n"
            )

    def _csv_rows(self, score: Score) -> None:
        if self._with_timeline:
            line = score.timeline
            for start, value in zip(line.start.tolist(), line.value.tolist(), strict=True):
                end = start + line.duration
                self._csv.writerow([score.path, f"{start:.3f}", f"{end:.3f}", value])
            return
        self._csv.writerow(as_row(score))


def sparkline(values: Sequence[float]) -> str:
    """`values` as at most 40 small bars, each the maximum of its part."""
    count = min(_BAR_COUNT, len(values))
    edges = [round(bar * len(values) / count) for bar in range(count + 1)]
    tops = [max(values[a:b]) for a, b in pairwise(edges)]
    low, high = min(tops), max(tops)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((top - low) * scale)] for top in tops)
