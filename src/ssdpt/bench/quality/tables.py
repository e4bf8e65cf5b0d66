"""The tables of the benchmark: scores, domains, times and sizes, and published figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from ssdpt.bench.quality.published import PublishedFigure, published_figures
from ssdpt.bench.quality.results import QualityResults, SetFacts, SetResult, SystemResult
from ssdpt.evaluation.metrics import Estimate
from ssdpt.experiments.report.table_formats import MISSING, Table, TableRow

NAME = "quality"
_HEADINGS = ("system", "fitted")
_PARTS = ("official", "AUC source", "AUC target", "pAUC")
_PLACES = ("measured on", "source")
_READ_FIRST = (
    "Rows that were measured on other clips, or chosen on test labels, cannot be compared "
    "directly: read the column “measured on” first. ≈: computed here from the three parts."
)


def quality_tables(results: QualityResults) -> list[Table]:
    """All tables, in the order of the page."""
    return [
        _scores(results),
        _harmonic_means(results),
        _domains(results),
        _costs(results),
        *_beside_published(results),
        _other_published(results),
    ]


def _scores(results: QualityResults) -> Table:
    rows = [
        (
            *_name(row),
            *(_score_text(row, name) for name in results.data.machines),
            _mean_text(row),
        )
        for row in results.rows
    ]
    over = f", mean over {results.seeds} seeds" if results.seeds > 1 else ", one seed"
    return _table(
        "scores",
        "Official 2022 score by set",
        (*_HEADINGS, *results.data.machines, "mean"),
        rows,
        f"Harmonic mean over the sections of AUC-source, AUC-target and pAUC{over}; then the "
        "arithmetic mean of the sets"
        + (" ± its standard deviation over the seeds" if results.seeds > 1 else "")
        + ". Below or in brackets: 95 % interval over resampled test clips. *: measured with "
        "another system, which the remarks name.",
    )


def _harmonic_means(results: QualityResults) -> Table:
    rows = [
        (
            *_name(row),
            *(
                f"{_number(_of(row, name, 'h_auc'))} / {_number(_of(row, name, 'h_pauc'))}"
                for name in results.data.machines
            ),
            _estimate(row.h_auc),
            _estimate(row.h_pauc),
        )
        for row in results.rows
    ]
    return _table(
        "harmonic",
        "h-AUC / h-pAUC by set",
        (*_HEADINGS, *results.data.machines, "mean h-AUC", "mean h-pAUC"),
        rows,
        "2021 definition: harmonic means over sections and domains of AUC and pAUC, each within "
        "one domain.",
    )


def _domains(results: QualityResults) -> Table:
    rows = []
    for row in results.rows:
        gaps = [row.sets[name].domains for name in results.data.machines if name in row.sets]
        cells = [
            _gap_text(row.sets[name]) if name in row.sets else MISSING
            for name in results.data.machines
        ]
        mean = _average([abs(gap.gap) for gap in gaps if gap.gap is not None])
        shift = _average([abs(gap.shift) for gap in gaps if gap.shift is not None])
        rows.append((*_name(row), *cells, _plain(mean, ".3f"), _plain(shift, ".1f")))
    return _table(
        "domains",
        "Gap between the domains: AUC source less AUC target / shift of normal scores",
        (*_HEADINGS, *results.data.machines, "mean size of the gap", "mean size of the shift"),
        rows,
        "AUC by the 2022 definition. Shift: median score of normal target clips less that of "
        "normal source clips, in deviations of the latter; far from 0, one threshold does not suit "
        "both domains.",
    )


def _costs(results: QualityResults) -> Table:
    rows = []
    for row in results.rows:
        sets = list(row.sets.values())
        clip = _average([result.score_seconds for result in sets])
        size = _average([result.model_bytes for result in sets])
        rows.append(
            (
                *_name(row),
                _plain(row.fit_seconds, ",.1f", " s"),
                _plain(None if clip is None else 1000 * clip, ",.0f", " ms"),
                _plain(None if size is None else size / 1e6, ",.2f", " MB"),
            )
        )
    return _table(
        "costs",
        "Fit, score and model",
        (*_HEADINGS, "fit of all sets", "score per test clip", "model per machine"),
        rows,
        "Fit: from sound files to models with thresholds, nothing computed before. Score: from "
        "sound files to scores, all cores at work, per clip. An interrupted fit has no time.",
    )


def _beside_published(results: QualityResults) -> list[Table]:
    """A table for every set that somebody has published figures of."""
    tables: list[Table] = []
    for facts in results.facts:
        figures = _figures_of(facts)
        if not figures:
            continue
        ours = [
            (
                *_name(row),
                _estimate(result.official),
                _number(result.domains.auc_source),
                _number(result.domains.auc_target),
                _number(result.domains.pauc),
                f"{facts.measured_on}; no label was used in the fit",
                "this run",
            )
            for row in results.rows
            if (result := row.sets.get(facts.name)) is not None
        ]
        tables.append(
            _table(
                f"published-{len(tables)}",
                f"{facts.name} beside published figures of {facts.machine}, DCASE {facts.year}",
                (*_HEADINGS, *_PARTS, *_PLACES),
                [*ours, *(_published_row(figure) for figure in figures)],
                "" if tables else _READ_FIRST,
            )
        )
    return tables


def _other_published(results: QualityResults) -> Table:
    shown = {figure for facts in results.facts for figure in _figures_of(facts)}
    rows = [
        (
            figure.method,
            f"{figure.year}, {figure.machine or 'all machine types'}",
            _published_official(figure),
            _number(figure.official_2021),
            _number(figure.h_auc),
            _number(figure.h_pauc),
            figure.measured_on,
            figure.source,
        )
        for figure in published_figures()
        if figure not in shown
    ]
    return _table(
        "published",
        "Other published figures",
        (
            *("method", "DCASE set", "official 2022", "official 2021", "h-AUC", "h-pAUC"),
            *_PLACES,
        ),
        rows,
        "For orientation: other sets, or all machine types of a year. Official 2021: one harmonic "
        "mean of all AUC and pAUC values.",
    )


def _published_row(figure: PublishedFigure) -> tuple[str, ...]:
    return (
        figure.method,
        "published",
        _published_official(figure),
        _number(figure.auc_source),
        _number(figure.auc_target),
        _number(figure.pauc),
        figure.measured_on,
        figure.source,
    )


def _published_official(figure: PublishedFigure) -> str:
    return ("≈ " if figure.is_computed else "") + _number(figure.official)


def _figures_of(facts: SetFacts) -> list[PublishedFigure]:
    return [
        figure
        for figure in published_figures()
        if figure.machine == facts.machine and figure.year == facts.year
    ]


def comma_separated(results: QualityResults) -> str:
    """A line per system and set, numbers only."""
    lines = [
        {
            "system": row.system.name,
            "fitted": row.system.fitted,
            "set": name,
            "seeds": results.seeds,
            "official_2022": result.official.value,
            "low": result.official.low,
            "high": result.official.high,
            "sd": result.deviation if results.seeds > 1 else None,
            "h_auc": result.h_auc.value,
            "h_pauc": result.h_pauc.value,
            "auc_source": result.domains.auc_source,
            "auc_target": result.domains.auc_target,
            "pauc": result.domains.pauc,
            "domain_gap": result.domains.gap,
            "shift": result.domains.shift,
            "fit_seconds": result.fit_seconds,
            "score_seconds": result.score_seconds,
            "model_bytes": round(result.model_bytes),
            "used_system": result.system,
        }
        for row in results.rows
        for name, result in row.sets.items()
    ]
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(lines[0]) if lines else ["system"], lineterminator="\n")
    writer.writeheader()
    for line in lines:
        writer.writerow(
            {
                name: f"{value:.5g}" if isinstance(value, float) else value
                for name, value in line.items()
            }
        )
    return buffer.getvalue()


def as_json(results: QualityResults) -> dict[str, Any]:
    """All numbers, and the published ones."""
    return {
        "seeds": results.seeds,
        "sets": [asdict(facts) for facts in results.facts],
        "systems": [
            {
                "name": row.system.name,
                "system": row.system.config.system,
                "settings": dict(row.system.settings),
                "fitted": row.system.fitted,
                "official_2022": row.official and asdict(row.official),
                "over_seeds": row.spread and asdict(row.spread),
                "h_auc": row.h_auc and asdict(row.h_auc),
                "h_pauc": row.h_pauc and asdict(row.h_pauc),
                "fit_seconds": row.fit_seconds,
                "sets": {name: asdict(result) for name, result in row.sets.items()},
            }
            for row in results.rows
        ],
        "published": [
            {**asdict(figure), "measured_on": figure.measured_on} for figure in published_figures()
        ],
        "notes": results.notes,
    }


def _table(
    name: str, caption: str, columns: Sequence[str], rows: Iterable[tuple[str, ...]], note: str
) -> Table:
    lines = tuple(TableRow(row) for row in rows)
    return Table(f"{NAME}-{name}", caption, tuple(columns), lines, (note,) if note else ())


def _name(row: SystemResult) -> tuple[str, str]:
    return row.system.label, row.system.fitted


def _of(row: SystemResult, name: str, measure: str) -> Estimate | None:
    result = row.sets.get(name)
    return None if result is None else getattr(result, measure)


def _estimate(value: Estimate | None) -> str:
    return MISSING if value is None else f"{value.value:.3f} ({value.low:.3f} to {value.high:.3f})"


def _score_text(row: SystemResult, name: str) -> str:
    text = _estimate(_of(row, name, "official"))
    if name in row.sets and row.sets[name].system != row.system.config.system:
        return text.replace(" (", "* (", 1)
    return text


def _mean_text(row: SystemResult) -> str:
    if row.official is None or row.spread is None:
        return MISSING
    deviation = f" ± {row.spread.deviation:.3f}" if row.spread.seeds > 1 else ""
    value, _, interval = _estimate(row.official).partition(" ")
    return f"{value}{deviation} {interval}"


def _gap_text(result: SetResult) -> str:
    return f"{_plain(result.domains.gap, '+.3f')} / {_plain(result.domains.shift, '+.1f')}"


def _number(value: Estimate | float | None) -> str:
    return _plain(value.value if isinstance(value, Estimate) else value, ".3f")


def _plain(value: float | None, form: str, unit: str = "") -> str:
    return MISSING if value is None else f"{value:{form}}{unit}"


def _average(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
