"""A table of measured values and text, as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdpt.common.files import write_json, write_text
from ssdpt.experiments.claims.claims import SMOKE
from ssdpt.experiments.paper.results import Spread

ORACLE = "chosen on test labels, as in the paper's code"
MISSING = "–"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured cell of a table; a missing value is None or empty."""

    last: Spread | None = None
    oracle: Spread | None = None  # at the epoch chosen on the test labels
    paper: float | None = None
    logs: tuple[str, ...] = ()  # folders of the cells, one per seed, relative to OUT
    note: str = ""  # set if a mean leaves machine types out
    best: bool = False  # best of its column


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row; the best value of a column is marked among rows of the same `group`."""

    cells: tuple[Measured | str | int, ...]
    group: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # for the JSON only


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption, columns and notes."""

    name: str  # of its files, without extension
    caption: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()  # what is missing, and how to read the values
    smoke: bool = False


def write_table(table: Table, folder: Path) -> None:
    """Write NAME.md, NAME.csv and NAME.json to `folder`, each atomically."""
    write_text(folder / f"{table.name}.md", markdown(table))
    write_text(folder / f"{table.name}.csv", comma_separated(table))
    write_json(folder / f"{table.name}.json", as_json(table))


def figure_text(figure: Measured) -> tuple[str, str, str]:
    """Last epoch with its deviation, oracle epoch, and the paper's value; empty if missing."""
    return (
        _spread_text(figure.last) or MISSING,
        "" if figure.oracle is None else f"{figure.oracle.mean:.3f}",
        "" if figure.paper is None else f"{figure.paper:.3f}",
    )


def plain(cell: str | int) -> str:
    """The text of a cell that is not a measured value."""
    return f"{cell:,}" if isinstance(cell, int) else cell


def markdown(table: Table) -> str:
    """A Markdown table with its caption above and its notes below."""
    lines = [f"# {table.caption}", ""]
    if table.smoke:
        lines += [f"**{SMOKE}**", ""]
    lines += [_line(table.columns), _line(["---"] * len(table.columns))]
    lines += [_line(_markdown_cell(cell) for cell in row.cells) for row in table.rows]
    figures = [cell for row in table.rows for cell in row.cells if isinstance(cell, Measured)]
    notes = list(table.notes)
    if any(figure.oracle for figure in figures):
        notes.append(f"In parentheses: the epoch {ORACLE}.")
    if any(figure.paper for figure in figures):
        notes.append("In square brackets: the paper's value.")
    return "\n".join([*lines, "", *(f"{note}\n" for note in notes)])


def comma_separated(table: Table) -> str:
    """A CSV table; a measured column becomes four: value, deviation, oracle, paper."""
    measured = [
        any(isinstance(row.cells[index], Measured) for row in table.rows)
        for index in range(len(table.columns))
    ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    parts = ("", " sd", f" ({ORACLE})", " paper")
    heading = [
        f"{column}{part}"
        for column, figures in zip(table.columns, measured, strict=True)
        for part in (parts if figures else ("",))
    ]
    writer.writerow([*heading, *(["remark"] if table.smoke else [])])
    for row in table.rows:
        values: list[str] = []
        for cell, figures in zip(row.cells, measured, strict=True):
            if isinstance(cell, Measured):
                values += _csv_figure(cell)
            else:
                values += [str(cell), *([""] * 3 if figures else [])]
        writer.writerow([*values, *([SMOKE] if table.smoke else [])])
    return buffer.getvalue()


def as_json(table: Table) -> dict[str, Any]:
    """The table for JSON; links are relative to the folder of the tables."""
    return {
        "name": table.name,
        "caption": table.caption,
        "smoke_run": table.smoke,
        "oracle": ORACLE,
        "notes": list(table.notes),
        "columns": list(table.columns),
        "rows": [
            {
                **{
                    column: _json_figure(cell) if isinstance(cell, Measured) else cell
                    for column, cell in zip(table.columns, row.cells, strict=True)
                },
                **row.data,
            }
            for row in table.rows
        ],
    }


def _spread_text(spread: Spread | None) -> str:
    if spread is None:
        return ""
    return f"{spread.mean:.3f}" + (f" ± {spread.deviation:.3f}" if spread.seeds > 1 else "")


def _markdown_cell(cell: Measured | str | int) -> str:
    if not isinstance(cell, Measured):
        return plain(cell)
    last, oracle, paper = figure_text(cell)
    parts = [f"**{last}**" if cell.best else last]
    parts += [f"({oracle})"] if oracle else []
    parts += [f"[{paper}]"] if paper else []
    parts += [cell.note] if cell.note else []
    return " ".join(parts)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _csv_figure(figure: Measured) -> list[str]:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.4f}"

    last, oracle = figure.last, figure.oracle
    return [
        number(last.mean if last else None),
        number(last.deviation if last and last.seeds > 1 else None),
        number(oracle.mean if oracle else None),
        number(figure.paper),
    ]


def _json_figure(figure: Measured) -> dict[str, Any]:
    def as_dict(spread: Spread | None) -> dict[str, Any] | None:
        if spread is None:
            return None
        deviation = spread.deviation if spread.seeds > 1 else None
        return {"mean": spread.mean, "sd": deviation, "seeds": spread.seeds}

    return {
        "last_epoch": as_dict(figure.last),
        "oracle_epoch": as_dict(figure.oracle),
        "paper": figure.paper,
        "best": figure.best,
        "logs": [f"../{log}" for log in figure.logs],
        **({"note": figure.note} if figure.note else {}),
    }
