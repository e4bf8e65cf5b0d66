"""The tables: measured values next to the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ssdpt.config.tree import Config
from ssdpt.experiments.claims.claims import CheckedClaim
from ssdpt.experiments.claims.evidence import RULE
from ssdpt.experiments.claims.published import MEASURES, published
from ssdpt.experiments.paper.beta import beta_name
from ssdpt.experiments.paper.parameter_counts import parameter_table
from ssdpt.experiments.paper.results import ExperimentResults, Mean, Measure
from ssdpt.experiments.paper.variants import (
    BETAS,
    TABLE_ONE,
    Variant,
    block_name,
    block_variants,
    main_variants,
    mask_variants,
    patch_variants,
)
from ssdpt.experiments.report.table_formats import MISSING, Measured, Table, TableRow

_MEANS: tuple[Mean, ...] = ("harmonic", "arithmetic")


def main_table(results: ExperimentResults, config: Config) -> Table:
    """Table I: both means over the machine types, and the challenge's scores."""
    columns: list[tuple[str, Measure, Mean]] = [
        *(
            (f"{name}, {mean} mean", m, mean)
            for mean in _MEANS[::-1]
            for m, name in MEASURES.items()
        ),
        ("official 2021", "official_2021", "harmonic"),
        ("official 2022", "official_2022", "harmonic"),
    ]
    chosen = _table_one(config)
    rows = [
        TableRow(
            (variant.label, *(_overall(results, variant.name, m, mean) for _, m, mean in columns))
        )
        for variant in chosen
    ]
    return _finished(
        "main",
        "Table I: all systems over the machine types",
        ("system", *(name for name, _, _ in columns)),
        rows,
        results,
        chosen,
        "Table I of the paper seems to use the arithmetic mean over machine types, Table II the "
        "harmonic one. Official scores: harmonic means of AUC and pAUC by the rules of 2021 and "
        "2022.",
        *_remarks(chosen, config),
    )


def machine_table(results: ExperimentResults, config: Config) -> Table:
    """All systems for each machine type."""
    return _by_machine(
        "per-machine",
        "All systems by machine type",
        _table_one(config),
        results,
        "The paper's values of SSDPT are those of Table II, M = 3 and P = 64, whose arithmetic "
        "mean is Table I's SSDPT.",
    )


def masking_table(results: ExperimentResults) -> Table:
    """Masking methods."""
    return _by_machine("masking", "Masking methods", mask_variants(), results)


def patches_table(results: ExperimentResults) -> Table:
    """Number and size of the patch masks."""
    caption = "Patch masks: k squares of r × r, written k*r²"
    return _by_machine("patches", caption, patch_variants(), results)


def blocks_table(results: ExperimentResults) -> Table:
    """Table II: blocks and segment length, with both counts of parameters."""
    table = _by_machine(
        "blocks",
        "Table II: DPT blocks (M) and frames per segment (P)",
        block_variants(),
        results,
        "Parameters: for the paper's 128 mel bins and 3 machine IDs; all, and without the "
        "attention's projections, as counted in the paper.",
        machines=_with_the_papers(results.machines),
    )
    counts = {block_name(row["blocks"], row["frames"]): row for row in parameter_table()}
    names = [variant.name for variant in block_variants()] * len(MEASURES)
    rows = [
        replace(
            row,
            cells=(*row.cells, counts[name]["paper_count"], counts[name]["all"]),
        )
        for row, name in zip(table.rows, names, strict=True)
    ]
    columns = (*table.columns, "parameters as the paper counts", "all parameters")
    return replace(table, columns=columns, rows=tuple(rows))


def beta_table(rescored: ExperimentResults) -> Table:
    """A row per β, from stored scores; there is no oracle epoch."""
    variants = [rescored.variants[beta_name(beta)] for beta in BETAS]
    return _by_machine("beta", "Weight β of the reconstruction error", variants, rescored)


def parameters_table() -> Table:
    """The parameter column of Table II."""
    rows = []
    for row in parameter_table():
        printed = published().table_two[block_name(row["blocks"], row["frames"])].parameters
        same = "yes" if printed == row["paper_count"] else "no"
        numbers = (row["blocks"], row["frames"], printed, row["paper_count"], row["all"])
        rows.append(TableRow((*numbers, same)))
    return Table(
        "parameters",
        "Parameters of the networks of Table II, for 3 machine IDs",
        ("M", "P", "paper", "without attention projections", "all", "paper's count reproduced"),
        tuple(rows),
    )


def claims_table(claims: Sequence[CheckedClaim], smoke: bool) -> Table:
    """Every claim with both verdicts."""
    rows = [
        TableRow(
            (
                claim.statement.id,
                claim.statement.says,
                claim.statement.number or MISSING,
                f"{claim.printed.verdict}: {claim.printed.reason}",
                f"{claim.verdict} ({claim.stamp})" if claim.stamp else claim.verdict,
                "; ".join(str(part) for part in claim.parts) or MISSING,
                claim.tested,
            ),
            data={
                "place": claim.statement.place,
                "own_verdict": claim.printed.verdict,
                "verdict": claim.verdict,
                "parts": [
                    {
                        "what": part.what,
                        "margin": part.margin and part.margin.value,
                        "interval": part.margin and [part.margin.low, part.margin.high],
                        "verdict": part.verdict,
                    }
                    for part in claim.parts
                ],
            },
        )
        for claim in claims
    ]
    return Table(
        "claims",
        "What the paper claims, in its own numbers and measured here",
        (
            *("claim", "the paper says", "its numbers", "in the paper's own numbers"),
            *("measured here", "margin (95 % interval)", "how it is tested"),
        ),
        tuple(rows),
        (RULE,),
        smoke,
    )


def _table_one(config: Config) -> list[Variant]:
    by_name = {variant.name: variant for variant in main_variants(config)}
    return [by_name[name] for name in TABLE_ONE]


def _remarks(chosen: Sequence[Variant], config: Config) -> list[str]:
    """Notes on the rows, and the networks of each ensemble."""
    labels = {variant.name: variant.label for variant in main_variants(config)}
    remarks = []
    for variant in chosen:
        if variant.members:
            members = "; ".join(labels[name] for name in variant.members)
            remarks.append(f"{variant.label}: {members}. Scores are z-scored and averaged.")
        elif variant.note:
            remarks.append(f"{variant.label}: {variant.note}.")
    return remarks


def _by_machine(
    name: str,
    caption: str,
    chosen: Sequence[Variant],
    results: ExperimentResults,
    *notes: str,
    machines: Sequence[str] = (),
) -> Table:
    """A row per variant and metric, a column per machine type, and both means."""
    columns = tuple(machines) or results.machines
    rows = [
        TableRow(
            (
                variant.label,
                label,
                *(_of_machine(results, variant.name, machine, measure) for machine in columns),
                *(_overall(results, variant.name, measure, mean) for mean in _MEANS),
            ),
            group=label,
        )
        for measure, label in MEASURES.items()
        for variant in chosen
    ]
    headings = ("variant", "measure", *columns, "All (harmonic)", "All (arithmetic)")
    return _finished(name, caption, headings, rows, results, chosen, *notes)


def _of_machine(
    results: ExperimentResults, variant: str, machine: str, measure: Measure
) -> Measured:
    paper = published().of_machine(variant, machine, measure)
    if variant not in results.variants or machine not in results.machines:
        return Measured(paper=paper)
    of_seeds = [results.scores(variant, machine, seed) for seed in results.seeds]
    return Measured(
        last=results.spread(variant, machine, measure),
        oracle=results.spread(variant, machine, measure, "oracle"),
        paper=paper,
        logs=tuple(log for scores in of_seeds if scores is not None for log in scores.logs),
    )


def _overall(results: ExperimentResults, variant: str, measure: Measure, mean: Mean) -> Measured:
    paper = published().overall(variant, measure, mean)
    if variant not in results.variants:
        return Measured(paper=paper)
    measured, total = len(results.machines_of(variant)), len(results.machines)
    return Measured(
        last=results.overall(variant, measure, mean=mean),
        oracle=results.overall(variant, measure, "oracle", mean),
        paper=paper,
        note=f"{measured} of {total} machine types" if 0 < measured < total else "",
    )


def _with_the_papers(machines: Sequence[str]) -> tuple[str, ...]:
    """The paper's machine types in its order, then the others."""
    types = published().machines
    return (*types, *(machine for machine in machines if machine not in types))


def _finished(
    name: str,
    caption: str,
    columns: tuple[str, ...],
    rows: Sequence[TableRow],
    results: ExperimentResults,
    chosen: Sequence[Variant],
    *notes: str,
) -> Table:
    seeds = len(results.seeds)
    over = f"mean ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    lines = [f"Values: after the last epoch, {over}; bold: the best of a column."]
    others = set(results.machines) != set(published().machines)
    if others and any(
        published().overall(v.name, "h_auc", mean) for v in chosen for mean in _MEANS
    ):
        lines.append(
            "The paper's means are over its seven machine types, those here are over others."
        )
    lines += [*notes, *_left_out(results, chosen)]
    return Table(name, caption, columns, tuple(_with_best(rows)), tuple(lines), results.quick)


def _left_out(results: ExperimentResults, chosen: Sequence[Variant]) -> list[str]:
    """A note on requested values that are missing."""
    missing = []
    for variant in chosen:
        measured = results.machines_of(variant.name) if variant.name in results.variants else []
        absent = [machine for machine in results.machines if machine not in measured]
        if absent:
            where = ", ".join(absent) if measured else "every machine"
            missing.append(f"{variant.label} ({where})")
    return [f"{MISSING}: not measured, {'; '.join(missing)}."] if missing else []


def _with_best(rows: Sequence[TableRow]) -> list[TableRow]:
    """Mark the highest value of each column among rows of one group, including ties."""
    highest: dict[tuple[str, int], float] = {}
    for row in rows:
        for index, cell in enumerate(row.cells):
            if isinstance(cell, Measured) and cell.last is not None:
                key = row.group, index
                highest[key] = max(highest.get(key, 0.0), round(cell.last.mean, 3))

    def marked(row: TableRow, index: int, cell: Measured | str | int) -> Measured | str | int:
        if not isinstance(cell, Measured) or cell.last is None:
            return cell
        return replace(cell, best=round(cell.last.mean, 3) == highest[row.group, index])

    return [
        replace(row, cells=tuple(marked(row, index, cell) for index, cell in enumerate(row.cells)))
        for row in rows
    ]
