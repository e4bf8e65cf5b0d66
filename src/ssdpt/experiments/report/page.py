"""`paper.html`: the run, its results and the paper's claims as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import yaml

from ssdpt.common.files import write_text
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config
from ssdpt.evaluation.web_page import escape, web_page
from ssdpt.experiments.claims.claims import SMOKE, CheckedClaim, check_claims
from ssdpt.experiments.claims.evidence import RULE
from ssdpt.experiments.paper.beta import SSDPT, rescored
from ssdpt.experiments.paper.results import ExperimentResults
from ssdpt.experiments.report import figures, tables
from ssdpt.experiments.report.diagram import Diagram
from ssdpt.experiments.report.mask_examples import mask_examples
from ssdpt.experiments.report.method_diagrams import dpt_block, flow_chart
from ssdpt.experiments.report.picture import Picture
from ssdpt.experiments.report.table_formats import (
    MISSING,
    ORACLE,
    Measured,
    Table,
    figure_text,
    plain,
    write_table,
)
from ssdpt.types import Floats

PAGE = "paper.html"
_SIGNS = {"holds": "✓", "does not hold": "✗", "undecided": "?"}
_HEADINGS = {
    "main": "All systems (Table I)",
    "masking": "Masking methods",
    "patches": "Number and size of patch masks",
    "blocks": "DPT blocks and segment length (Table II)",
    "beta": "Weight β of the reconstruction error",
}


def write_report(
    results: ExperimentResults,
    config: Config,
    out: Path,
    *,
    experiments: Sequence[str],
    command: str,
    example: Floats | None,
    error: Literal["mean", "sum"],
    facts: Mapping[str, str],
    reporter: Reporter = SILENT,
) -> Path:
    """Write tables, figures and the page of the chosen experiments into `out`.

    `example` is the log-mel (frames, bins) of a clip for the figure of the masks. `error`: whether
    the squared error of a segment is its mean or its sum when β is varied.
    """
    beta = None
    if "beta" in experiments and results.machines_of(SSDPT):
        beta = rescored(results, config, error)
    items: dict[str, list[Table | Picture]] = {}
    diagrams = [flow_chart(config, _classes(results)), dpt_block(config)]
    with reporter.task("tables and figures", len(experiments) + 1) as task:
        for experiment in experiments:
            items[experiment] = _tables_and_figures(experiment, results, beta, config, example)
            task.advance()
        claims = check_claims(results, beta)
        claims_table = tables.claims_table(claims, results.quick)
        for item in [*(item for group in items.values() for item in group), claims_table]:
            if isinstance(item, Table):
                write_table(item, out / "tables")
            else:
                item.save(out / "figures")
        for diagram, name in zip(diagrams, ("flow-chart", "dpt-block"), strict=True):
            write_text(out / "figures" / f"{name}.svg", diagram.svg())
        task.advance()
    page = _page(results, diagrams, items, claims, command, {**facts, **_beta_fact(beta, error)})
    write_text(out / PAGE, page)
    return out / PAGE


def _tables_and_figures(
    experiment: str,
    results: ExperimentResults,
    beta: ExperimentResults | None,
    config: Config,
    example: Floats | None,
) -> list[Table | Picture]:
    """Tables and figures of one experiment, in the order of the page."""
    if experiment == "main":
        return [
            tables.main_table(results, config),
            figures.system_bars(results, "h_auc"),
            figures.system_bars(results, "h_pauc"),
            tables.machine_table(results, config),
        ]
    if experiment == "masking":
        examples: list[Table | Picture] = []
        if example is not None:
            examples.append(mask_examples(example, config, smoke=results.quick))
        return [*examples, figures.masking_bars(results), tables.masking_table(results)]
    if experiment == "patches":
        return [figures.patch_bars(results), tables.patches_table(results)]
    if experiment == "blocks":
        return [
            tables.blocks_table(results),
            figures.block_bars(results),
            tables.parameters_table(),
        ]
    if beta is None:
        return []
    return [figures.beta_curves(beta), figures.beta_boxes(beta), tables.beta_table(beta)]


def _classes(results: ExperimentResults) -> int:
    """The largest number of machine IDs of a machine type; the paper's three without results."""
    sections = [
        {clip.section for clip in scores.clips}
        for variant in results.variants
        for machine in results.machines
        if (scores := results.scores(variant, machine, results.seeds[0])) is not None
    ]
    return max((len(names) for names in sections), default=3)


def _beta_fact(beta: ExperimentResults | None, error: str) -> dict[str, str]:
    return {} if beta is None else {"squared error for β": f"{error} over a segment"}


def _page(
    results: ExperimentResults,
    diagrams: Sequence[Diagram],
    items: Mapping[str, Sequence[Table | Picture]],
    claims: Sequence[CheckedClaim],
    command: str,
    facts: Mapping[str, str],
) -> str:
    links = [
        ("method", "Method"),
        ("run", "What was run"),
        *((name, _HEADINGS[name]) for name in items),
        ("claims", "Claims"),
        ("contradictions", "Where the paper is silent"),
    ]
    listed = "".join(f'<li><a href="#{name}">{escape(text)}</a></li>' for name, text in links)
    body = [
        _header(results, claims),
        f'<main>\n<nav aria-label="Contents"><ul>{listed}</ul></nav>',
        _section("method", "Method", *(_diagram(diagram) for diagram in diagrams)),
        _section("run", "What was run", _facts(results, command, facts)),
        *(_section(name, _HEADINGS[name], *_items(group)) for name, group in items.items()),
        _section("claims", "Claims", _claims(claims)),
        _section(
            "contradictions", "Where the paper is silent or contradicts itself", _open_points()
        ),
        "</main>",
    ]
    styles = [
        resources.files(package).joinpath("page.css").read_text("utf-8")
        for package in ("ssdpt.evaluation", "ssdpt.experiments.report")
    ]
    return web_page("SSDPT: the paper's experiments", "".join(styles), body)


def _header(results: ExperimentResults, claims: Sequence[CheckedClaim]) -> str:
    counts = {
        word: sum(claim.verdict == word for claim in claims)
        for word in ("holds", "does not hold", "undecided", "not measured")
    }
    tiles = [
        ("Machine types", len(results.machines)),
        ("Seeds", len(results.seeds)),
        *((f"Claims: {word}", count) for word, count in counts.items()),
    ]
    listed = "".join(f"<div><dt>{name}</dt><dd>{count}</dd></div>" for name, count in tiles)
    banner = f'<p class="banner">{SMOKE}</p>\n' if results.quick else ""
    return (
        f"<header>\n<h1>The experiments of the SSDPT paper, reproduced</h1>\n{banner}"
        '<p class="intro">Values are those of the last epoch; nothing is selected on test labels. '
        "The paper's values are for the development set of DCASE 2021 task 2. "
        f'<span class="oracle">In grey: the epoch {escape(ORACLE)}.</span></p>\n'
        f'<dl class="tiles">{listed}</dl>\n</header>'
    )


def _facts(results: ExperimentResults, command: str, facts: Mapping[str, str]) -> str:
    notes = list(results.notes)
    entries = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()
    )
    failed = [f"{name}: {reason}" for name, reason in results.failures.items()]
    return (
        f'<dl class="facts">{entries}<dt>command</dt><dd><code>{escape(command)}</code></dd></dl>'
        + (f"<h3>Remarks</h3>{_list(notes)}" if notes else "")
        + (f"<h3>Cells that failed</h3>{_list(failed)}" if failed else "")
    )


def _items(items: Sequence[Table | Picture]) -> list[str]:
    if not items:
        return ["<p>Not measured: the required cells are missing.</p>"]
    return [_figure(item) if isinstance(item, Picture) else _table(item) for item in items]


def _diagram(diagram: Diagram) -> str:
    caption = f"{diagram.title}, with the settings and shapes of this run."
    return (
        f"<figure>{_wide(diagram.title, diagram.svg())}"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _figure(picture: Picture) -> str:
    files = " ".join(
        f'<a href="figures/{picture.name}.{kind}">{kind.upper()}</a>' for kind in ("svg", "png")
    )
    return (
        f"<figure>{_wide(picture.title, picture.inline)}"
        f"<figcaption>{escape(picture.caption)} {files}</figcaption></figure>"
    )


def _wide(title: str, svg: str) -> str:
    """A drawing that scrolls sideways on narrow screens."""
    label = escape(title)
    return f'<div class="wide" role="region" tabindex="0" aria-label="{label}">{svg}</div>'


def _table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col"{_kind(table, index)}>{escape(column).replace("-", "&#8209;")}</th>'
        for index, column in enumerate(table.columns)
    )
    lines = []
    for number, row in enumerate(table.rows):
        first, *others = row.cells
        apart = number > 0 and row.group != table.rows[number - 1].group
        mark = ' class="apart"' if apart else ""
        cells = "".join(
            f"<td{_kind(table, index)}>{_cell(cell)}</td>" for index, cell in enumerate(others, 1)
        )
        lines.append(f'<tr{mark}><th scope="row" class="text">{_cell(first)}</th>{cells}</tr>')
    notes = list(table.notes)
    if any(isinstance(cell, Measured) and cell.oracle for row in table.rows for cell in row.cells):
        notes.append(f"In grey: the epoch {ORACLE}.")
    files = ", ".join(
        f'<a href="tables/{table.name}.{kind}">{kind}</a>' for kind in ("md", "csv", "json")
    )
    return (
        _grid(table.caption, heads, lines)
        + f'<ul class="notes">{"".join(f"<li>{escape(note)}</li>" for note in notes)}'
        f"<li>Files: {files}</li></ul>"
    )


def _grid(caption: str, heads: str, lines: Sequence[str], kind: str = "scroll") -> str:
    return (
        f'<div class="{kind}" role="region" tabindex="0" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _kind(table: Table, column: int) -> str:
    is_text = column == 0 or any(isinstance(row.cells[column], str) for row in table.rows)
    return ' class="text"' if is_text else ""


def _cell(cell: Measured | str | int) -> str:
    if not isinstance(cell, Measured):
        return escape(plain(cell))
    last, oracle, paper = figure_text(cell)
    value, plus_minus, deviation = last.partition(" ± ")
    content = f"<strong>{value}</strong>" if cell.best else value
    content += f" <small>± {deviation}</small>" if plus_minus else ""
    if oracle:
        content += f'<small class="oracle" title="{escape(ORACLE)}">({oracle})</small>'
    content += f'<small class="paper">paper {paper}</small>' if paper else ""
    content += f"<br><small>{escape(cell.note)}</small>" if cell.note else ""
    if cell.logs:
        links = " ".join(
            f'<a href="{escape(quote(log))}/">{index if len(cell.logs) > 1 else "log"}</a>'
            for index, log in enumerate(cell.logs, 1)
        )
        content += f'<small class="logs">{"logs " if len(cell.logs) > 1 else ""}{links}</small>'
    return content


def _claims(claims: Sequence[CheckedClaim]) -> str:
    headings = ("The paper says", "In the paper's printed numbers", "Measured here")
    heads = "".join(f'<th scope="col" class="words">{heading}</th>' for heading in headings)
    lines = []
    for claim in claims:
        statement = claim.statement
        number = f"<small>{escape(statement.number)}</small>" if statement.number else ""
        stamp = f' <span class="stamp">{escape(claim.stamp)}</span>' if claim.stamp else ""
        parts = "".join(f"<li>{escape(text)}</li>" for text in _part_lines(claim))
        lines.append(
            f'<tr id="claim-{escape(statement.id)}"><th scope="row" class="words">'
            f"{escape(statement.says)}<small>{escape(statement.place)}</small>{number}</th>"
            f'<td class="words" data-heading="{headings[1]}">{_verdict(claim.printed.verdict)}'
            f"<small>{escape(claim.printed.reason)}</small>"
            f'</td><td class="words" data-heading="{headings[2]}">{_verdict(claim.verdict)}{stamp}'
            f"<small>Test: {escape(claim.tested)}</small>"
            + (f"<ul>{parts}</ul>" if parts else "")
            + "</td></tr>"
        )
    return f"<p>{escape(RULE)}</p>" + _grid(
        "Claims of the paper, with both verdicts", heads, lines, "scroll stacked"
    )


def _part_lines(claim: CheckedClaim) -> list[str]:
    """The comparisons of a claim; three or more missing ones share a line."""
    missing = [part for part in claim.parts if part.margin is None]
    if len(missing) < 3:
        return [str(part) for part in claim.parts]
    measured = [str(part) for part in claim.parts if part.margin is not None]
    return [*measured, f"not measured: {len(missing)} of {len(claim.parts)} comparisons"]


def _verdict(word: str) -> str:
    sign = _SIGNS.get(word, MISSING)
    return f'<span class="verdict {word.replace(" ", "-")}">{sign} {word}</span>'


def _open_points() -> str:
    text = (
        resources.files("ssdpt.experiments.claims")
        .joinpath("contradictions.yaml")
        .read_text("utf-8")
    )
    rows: list[dict[str, Any]] = yaml.safe_load(text)
    headings = ("Point", "Paper", "Published code", "Here")
    heads = "".join(f'<th scope="col" class="words">{heading}</th>' for heading in headings)
    lines = [
        f'<tr><th scope="row" class="text">{escape(row["point"])}</th>'
        + "".join(
            f'<td class="words" data-heading="{heading}">{escape(row[key])}</td>'
            for heading, key in zip(headings[1:], ("paper", "code", "here"), strict=True)
        )
        + "</tr>"
        for row in rows
    ]
    return _grid(
        "Open points of the paper, and how they are handled here", heads, lines, "scroll stacked"
    )


def _section(name: str, heading: str, *parts: str) -> str:
    inside = "\n".join(parts)
    return f'<section id="{name}">\n<h2>{escape(heading)}</h2>\n{inside}\n</section>'


def _list(entries: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(entry)}</li>' for entry in entries)}</ul>"
