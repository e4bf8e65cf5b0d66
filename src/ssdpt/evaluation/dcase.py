"""The challenge's submission and result files, byte for byte.

2021: scores and decisions in separate files per domain, results by section and domain. 2022 and
later: one file per section, results by section with both domains in one row. Numbers are written in
full precision, as the shortest decimal that reads back to the same double.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from ssdpt.common.files import write_text
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError
from ssdpt.evaluation.metrics import EPSILON, Doubles, Estimate
from ssdpt.evaluation.tables import DomainResult, Results, Section
from ssdpt.types import Recording, Score

if TYPE_CHECKING:
    from ssdpt.data.layouts import Dataset
    from ssdpt.fleet.fleet import Fleet

HEADINGS_2021 = ("AUC", "pAUC", "precision", "recall", "F1 score")
HEADINGS_2022 = (
    *("AUC (source)", "AUC (target)", "pAUC"),
    *("precision (source)", "precision (target)"),
    *("recall (source)", "recall (target)"),
    *("F1 score (source)", "F1 score (target)"),
)
NO_SECTION = "00"  # section name for recordings without a section
_OVER_ALL = "over all machine types, sections, and domains"


@dataclass(frozen=True, slots=True)
class Line:
    """One clip of the challenge's score and decision files."""

    name: str  # file name without folders
    machine: str
    section: str
    domain: str
    anomalous: bool
    value: float
    decision: bool


def has_2021_form(layout: str) -> bool:
    """Whether results for a data set of this layout use the 2021 file format."""
    return layout == "dcase2021"


def write_files(folder: Path, lines: Sequence[Line], results: Results, layout: str) -> list[Path]:
    """Write score, decision and result files into `folder`; return their paths."""
    form = result_text_2021 if has_2021_form(layout) else result_text_2022
    return _written(folder, {**_submission(lines, layout), "result.csv": form(results)})


def write_submission(
    fleet: Fleet, dataset: Dataset, folder: str | PathLike[str], *, reporter: Reporter = SILENT
) -> list[Path]:
    """Score the test clips of a data set, labelled or not, and write the challenge's files.

    For each machine, section and (2021) domain a file of scores and one of decisions by the
    model's own thresholds; their paths are returned. A clip that cannot be scored is an error: the
    challenge wants all of them.
    """
    clips = [item for item in dataset.recordings if item.split not in ("train", "supplemental")]
    if not clips:
        raise SsdptError(f"{dataset.root}: there are no test clips in it")
    lines = []
    with reporter.task("Scoring clips", total=len(clips)) as task:
        for recording, score in fleet.score_all(clips):
            if isinstance(score, SsdptError):
                raise score
            lines.append(line_of(recording, score))
            task.advance(note=recording.machine)
    return _written(Path(folder), _submission(lines, dataset.layout))


def line_of(recording: Recording, score: Score) -> Line:
    """A scored clip as the challenge's files have it."""
    return Line(
        name=recording.path.name,
        machine=recording.machine,
        section=recording.section,
        domain=recording.domain,
        anomalous=recording.label == "anomaly",
        value=score.value,
        decision=score.is_anomalous,
    )


def _submission(lines: Sequence[Line], layout: str) -> dict[str, str]:
    """The files of scores and decisions by name."""
    texts: dict[str, str] = {}
    for name, members in _grouped(lines, has_2021_form(layout)).items():
        texts[f"anomaly_score_{name}.csv"] = _csv([[x.name, x.value] for x in members])
        texts[f"decision_result_{name}.csv"] = _csv([[x.name, int(x.decision)] for x in members])
    return texts


def _written(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def result_text_2021(results: Results) -> str:
    """`result.csv` of 2021: a row per section and domain, source first.

    Rows without an AUC are left out, and so are machines without any row.
    """

    def rows(machine_cells: Sequence[DomainResult]) -> list[tuple[list[str], list[float | None]]]:
        return [
            (
                [cell.section or NO_SECTION, cell.domain],
                [
                    *(cell.auc.value, cell.pauc.value),
                    *(cell.rates.precision, cell.rates.recall, cell.rates.f1),
                ],
            )
            for cell in machine_cells
            if cell.auc is not None and cell.pauc is not None
        ]

    return _result_text(
        [(machine.machine, rows(machine.cells)) for machine in results.machines],
        ["section", "domain"],
        HEADINGS_2021,
    )


def result_text_2022(results: Results) -> str:
    """`result.csv` of 2022 and later: a row per section; a domain without AUC is left empty."""

    def figures(section: Section) -> list[float | None]:
        source, target = section.rates_source, section.rates_target
        has_source, has_target = section.auc_source is not None, section.auc_target is not None
        return [
            *(_value(section.auc_source), _value(section.auc_target), _value(section.pauc)),
            *(source.precision if has_source else None, target.precision if has_target else None),
            *(source.recall if has_source else None, target.recall if has_target else None),
            *(source.f1 if has_source else None, target.f1 if has_target else None),
        ]

    return _result_text(
        [
            (
                machine.machine,
                [
                    ([s.section or NO_SECTION], figures(s))
                    for s in machine.sections
                    if s.pauc is not None
                ],
            )
            for machine in results.machines
        ],
        ["section"],
        HEADINGS_2022,
    )


def _result_text(
    machines: Sequence[tuple[str, list[tuple[list[str], list[float | None]]]]],
    leading: Sequence[str],
    headings: Sequence[str],
) -> str:
    blank = [""] * (len(leading) - 1)
    out: list[list[object]] = []
    all_figures: list[list[float | None]] = []
    for machine, rows in machines:
        if not rows:
            continue
        out += [[machine], [*leading, *headings]]
        out += [[*names, *figures] for names, figures in rows]
        table = [figures for _, figures in rows]
        all_figures += table
        out.append(["arithmetic mean", *blank, *_mean_row(table, _arithmetic)])
        out.append(["harmonic mean", *blank, *_mean_row(table, _harmonic)])
        out.append([])
    if all_figures:
        out.append(["", *blank, *headings])
        out.append([f"arithmetic mean {_OVER_ALL}", *blank, *_mean_row(all_figures, _arithmetic)])
        out.append([f"harmonic mean {_OVER_ALL}", *blank, *_mean_row(all_figures, _harmonic)])
        out.append([])
    return _csv(out)


def _mean_row(
    table: Sequence[Sequence[float | None]], mean: Callable[[Doubles], Doubles]
) -> list[float | None]:
    """Column means over the values that are present.

    Complete tables are averaged in one call along axis 0: the challenge sums its rows in this
    order, and another order changes the last digit.
    """
    if all(value is not None for row in table for value in row):
        return [float(value) for value in mean(np.array(table, float))]
    columns = [[v for v in column if v is not None] for column in zip(*table, strict=True)]
    return [float(mean(np.array(c)[:, None])[0]) if c else None for c in columns]


def _arithmetic(table: Doubles) -> Doubles:
    return np.asarray(np.mean(table, axis=0))


def _harmonic(table: Doubles) -> Doubles:
    return np.asarray(stats.hmean(np.maximum(table, EPSILON), axis=0))


def _value(figure: Estimate | None) -> float | None:
    return None if figure is None else figure.value


def _grouped(lines: Sequence[Line], form_2021: bool) -> dict[str, list[Line]]:
    """Clips by file; normal clips first, then sorted by name, as in the challenge's files."""
    groups: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda x: (x.machine, x.section, x.anomalous, x.name)):
        part = f"{line.domain}_test" if form_2021 else "test"
        # Machine names are arbitrary text; a file name must not lead out of the folder.
        machine, section = (
            re.sub(r'[/\\:*?"<>|\0]', "_", x) for x in (line.machine, line.section or NO_SECTION)
        )
        groups.setdefault(f"{machine}_section_{section}_{part}", []).append(line)
    return groups


def _csv(rows: Sequence[Sequence[object]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
