"""`quality.html`: the results beside published figures as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from ssdpt.bench.quality.plot import scores_by_set
from ssdpt.bench.quality.results import QualityResults, SystemResult
from ssdpt.bench.quality.tables import NAME, as_json, comma_separated, quality_tables
from ssdpt.common.files import write_json, write_text
from ssdpt.evaluation.web_page import escape, figure_element, table_element, web_page
from ssdpt.experiments.report.table_formats import Table, markdown
from ssdpt.version import __version__

_PUBLISHED = ("system", "fitted", "method", "DCASE set", "measured on", "source")


def write_quality(
    results: QualityResults, folder: Path, command: str, machine: Mapping[str, Any]
) -> None:
    """Write quality.html, .md, .csv and .json; `machine` describes where the times come from."""
    tables = quality_tables(results)
    made = [f"Made by `{command}`. {_machine_text(machine)}", *results.notes]
    text = "\n".join(markdown(table).replace("# ", "## ", 1) for table in tables)
    write_text(folder / f"{NAME}.md", f"# Detection quality\n\n{text}\n" + "\n\n".join(made) + "\n")
    write_text(folder / f"{NAME}.csv", comma_separated(results))
    tree = {"ssdpt": __version__, "command": command, "machine": dict(machine), **as_json(results)}
    write_json(folder / f"{NAME}.json", tree)
    write_text(folder / f"{NAME}.html", render(results, tables, command, machine))


def render(
    results: QualityResults, tables: list[Table], command: str, machine: Mapping[str, Any]
) -> str:
    """The whole page as HTML text."""
    style = resources.files("ssdpt.evaluation").joinpath("page.css").read_text(encoding="utf-8")
    own = resources.files("ssdpt.bench.quality").joinpath("page.css").read_text(encoding="utf-8")
    measured = [table for table in tables if not table.name.startswith(f"{NAME}-published")]
    published = [table for table in tables if table.name.startswith(f"{NAME}-published")]
    body = [
        _header(results),
        "<main>",
        _section("Scores", _figure(results), *map(_table, measured[:2])),
        _section("Domains", _table(measured[2])),
        _section("Time and size", _table(measured[3]), f"<p>{escape(_machine_text(machine))}</p>"),
        _section("Beside published figures", *map(_table, published)),
        _section("Remarks", _list(results.notes)) if results.notes else "",
        "</main>",
        _footer(command),
    ]
    return web_page("Detection quality", style + own, body)


def _header(results: QualityResults) -> str:
    facts = results.facts
    clips = sum(item.test_clips for item in facts)
    training = sum(item.source_clips + item.target_clips for item in facts)
    best = results.best
    tiles = [
        ("Sets", str(len(facts)), f"{len({item.machine for item in facts})} machine types"),
        ("Training clips", f"{training:,}", "all normal"),
        ("Test clips", f"{clips:,}", ""),
        ("Seeds", str(results.seeds), ""),
    ]
    lead = "No system has a score on every set."
    if best is not None and best.official is not None:
        official = best.official
        interval = f"95 %: {official.low:.3f}–{official.high:.3f}"
        tiles.append((f"Best mean: {_title(best)}", f"{official.value:.3f}", interval))
        lead = f"Highest mean official score: {official.value:.3f}, {_title(best)}"
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{value}<small>{escape(small)}</small></dd></div>"
        for name, value, small in tiles
    )
    return (
        f'<header>\n<h1>Detection quality</h1>\n<p class="lead">{escape(lead)}</p>\n'
        f'<dl class="tiles">{listed}</dl>\n</header>'
    )


def _footer(command: str) -> str:
    files = " and ".join(f'<a href="{NAME}.{kind}">{NAME}.{kind}</a>' for kind in ("csv", "json"))
    made = f"Made by <code>{escape(command)}</code>."
    return f"<footer><p>ssdpt {__version__}. {made} All numbers are in {files}.</p></footer>"


def _title(row: SystemResult) -> str:
    return f"{row.system.label}, fitted {row.system.fitted}"


def _figure(results: QualityResults) -> str:
    return figure_element(
        scores_by_set(results),
        "Official 2022 score of every system on every set; lines are 95 % intervals over resampled "
        "test clips. Further right is better; at 0.5 the scores carry no information.",
    )


def _table(table: Table) -> str:
    columns = table.columns
    # Long texts at the end of a row wrap; `text` cells are aligned to the left.
    text_columns = sum(1 for column in columns[:2] if column in _PUBLISHED)
    rows = [[str(cell) for cell in row.cells] for row in table.rows]
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes)
    element = table_element(table.caption, columns, rows, text_columns=text_columns)
    wordy = ' class="wordy"' if columns[-1] == "source" else ""
    return f"<div{wordy}>{element}{notes}</div>"


def _section(heading: str, *parts: str) -> str:
    inside = "\n".join(parts)
    return f"<section>\n<h2>{escape(heading)}</h2>\n{inside}\n</section>"


def _list(entries: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(entry)}</li>' for entry in entries)}</ul>"


def _machine_text(machine: Mapping[str, Any]) -> str:
    """Where the times were measured."""
    processor = machine.get("gpu") or machine.get("cpu", "")
    threads = machine.get("threads")
    return f"Measured {machine.get('date', '')} on {processor}, {threads} threads."
