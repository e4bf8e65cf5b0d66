"""A table of measured figures and words, as Markdown, CSV and JSON."""

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
    """A measured cell of a table; everything but the last epoch's figure may be missing."""

    last: Spread | None = None
    oracle: Spread | None = None  # at the epoch chosen on the test labels
    paper: float | None = None
    logs: tuple[str, ...] = ()  # folders of the cells, one a seed, relative to OUT
    note: str = ""  # that a mean leaves machine types out
    best: bool = False  # of its column


@dataclass(frozen=True, slots=True)
class Row:
    """A row; `group` says which rows compete for the best figure of a column."""

    cells: tuple[Measured | str | int, ...]
    group: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # for the JSON only


@dataclass(frozen=True, slots=True)
class Table:
    """A table of any kind."""

    name: str  # of its files
    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # what is missing, and how figures are to be read
    smoke: bool = False


def write_table(table: Table, folder: Path) -> None:
    """NAME.md, NAME.csv and NAME.json in `folder`, each whole or not at all."""
    write_text(folder / f"{table.name}.md", markdown(table))
    write_text(folder / f"{table.name}.csv", comma_separated(table))
    write_json(folder / f"{table.name}.json", as_json(table))


def figure_text(figure: Measured) -> tuple[str, str, str]:
    """Last epoch with its deviation, oracle epoch, and the paper's value; empty where missing."""
    return (
        _spread_text(figure.last) or MISSING,
        "" if figure.oracle is None else f"{figure.oracle.mean:.3f}",
        "" if figure.paper is None else f"{figure.paper:.3f}",
    )


def plain(cell: str | int) -> str:
    """A cell that was not measured, for people."""
    return f"{cell:,}" if isinstance(cell, int) else cell


def markdown(table: Table) -> str:
    """A Markdown table under its caption, with the remarks below."""
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
    """A CSV table; a measured column becomes up to four: figure, deviation, oracle, paper."""
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
    """Plain JSON; links lead from the tables' folder to the cells' folders."""
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
    said = [f"**{last}**" if cell.best else last]
    said += [f"({oracle})"] if oracle else []
    said += [f"[{paper}]"] if paper else []
    said += [cell.note] if cell.note else []
    return " ".join(said)


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
    def spread(found: Spread | None) -> dict[str, Any] | None:
        if found is None:
            return None
        deviation = found.deviation if found.seeds > 1 else None
        return {"mean": found.mean, "sd": deviation, "seeds": found.seeds}

    return {
        "last_epoch": spread(figure.last),
        "oracle_epoch": spread(figure.oracle),
        "paper": figure.paper,
        "best": figure.best,
        "logs": [f"../{log}" for log in figure.logs],
        **({"note": figure.note} if figure.note else {}),
    }
