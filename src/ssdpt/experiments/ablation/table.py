"""How much each component contributes: one row per variant, as Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ssdpt.common.files import write_json, write_text
from ssdpt.evaluation.metrics import Estimate
from ssdpt.experiments.ablation.choice import LeaveOneTypeOut
from ssdpt.experiments.ablation.variants import FULL, AblationVariant
from ssdpt.experiments.paper.results import ExperimentResults, Measure, Spread
from ssdpt.experiments.report.table_formats import (
    MISSING,
    Table,
    TableRow,
    comma_separated,
    markdown,
)
from ssdpt.version import __version__

NAME = "ablation"
_MEASURES: dict[Measure, str] = {
    "h_auc": "h-AUC",
    "h_pauc": "h-pAUC",
    "official_2022": "official 2022 score",
}
_OFFICIAL: Measure = "official_2022"
_CAPTION = "Contribution of each component"


class AblationLine(NamedTuple):
    """One variant; values that were not measured are None."""

    variant: AblationVariant
    machines: dict[str, dict[Measure, Spread | None]]  # by set
    mean: Spread | None  # of the official scores of all sets
    difference: Estimate | None  # of that mean to the full recipe's; None for the full recipe


class AblationTable:
    """The results of all variants."""

    def __init__(
        self,
        results: ExperimentResults,
        variants: Sequence[AblationVariant],
        command: str,
        *,
        alone: bool = False,
    ) -> None:
        self.results, self.variants, self.command = results, tuple(variants), command
        self.alone = alone  # each set was fitted without the others

    @property
    def name(self) -> str:
        """Of its files, without extension."""
        return f"{NAME}-alone" if self.alone else NAME

    @cached_property
    def figures(self) -> dict[str, dict[str, float]]:
        """The official 2022 score by variant and set, where it was measured."""
        return {
            line.variant.name: {
                machine: spread.mean
                for machine, spreads in line.machines.items()
                if (spread := spreads[_OFFICIAL]) is not None
            }
            for line in self.lines
        }

    @cached_property
    def choice(self) -> LeaveOneTypeOut | None:
        """What is chosen without each machine type; None with one type or one candidate."""
        choice = LeaveOneTypeOut(self.variants, self.results.machines, self.figures)
        return choice if len(choice.types) > 1 and len(choice.candidates) > 1 else None

    @cached_property
    def lines(self) -> list[AblationLine]:
        """In the order of the variants."""
        return [self._line(variant) for variant in self.variants]

    @property
    def notes(self) -> list[str]:
        """How to read the numbers, and what is missing."""
        seeds = len(self.results.seeds)
        over = f"means over {seeds} seeds" if seeds > 1 else "one seed"
        return [
            f"Made by `{self.command}`.",
            f"By set: {' / '.join(_MEASURES.values())}; {over}; "
            + ("each set fitted alone" if self.alone else "all sets fitted together")
            + ". Then the mean official score of the sets"
            + (" ± its standard deviation over the seeds" if seeds > 1 else "")
            + ", and its difference to the full recipe with a 95 % interval: the same test clips "
            "are drawn for both, within section, domain and label.",
            *self.results.notes,
        ]

    def markdown(self) -> str:
        """A Markdown table with a column per set, then what would be chosen without each type."""
        rows = [
            TableRow(
                (
                    line.variant.label,
                    *(_all_measures(line.machines[name]) for name in self.results.machines),
                    _mean_text(line.mean),
                    _difference_text(line),
                )
            )
            for line in self.lines
        ]
        columns = ("variant", *self.results.machines, "mean official", "difference")
        table = markdown(Table(self.name, _CAPTION, columns, tuple(rows), tuple(self.notes)))
        if self.choice is None:
            return table
        return table + "\n" + markdown(self.choice.table(self.name)).replace("# ", "## ", 1)

    def comma_separated(self) -> str:
        """A CSV table with a column per number."""
        figures = [(name, measure) for name in self.results.machines for measure in _MEASURES]
        columns = (
            *("variant", "label"),
            *(f"{name} {measure}" for name, measure in figures),
            *("mean official", "sd", "difference", "low", "high"),
        )
        rows = []
        for line in self.lines:
            deviation = line.mean.deviation if line.mean and line.mean.seeds > 1 else None
            change = line.difference
            rows.append(
                TableRow(
                    (
                        line.variant.name,
                        line.variant.label,
                        *(_number(_value(line.machines[name][m])) for name, m in figures),
                        _number(_value(line.mean)),
                        _number(deviation),
                        *(
                            _number(value)
                            for value in (
                                (change.value, change.low, change.high) if change else (None,) * 3
                            )
                        ),
                    )
                )
            )
        return comma_separated(Table(self.name, _CAPTION, columns, tuple(rows)))

    def as_json(self) -> dict[str, Any]:
        """All results, for ablation.json."""
        return {
            "ssdpt": __version__,
            "command": self.command,
            "machines": list(self.results.machines),
            "seeds": list(self.results.seeds),
            "fitted": "alone" if self.alone else "together",
            "notes": list(self.results.notes),
            "variants": [
                {
                    "name": line.variant.name,
                    "label": line.variant.label,
                    "settings": dict(line.variant.settings),
                    "complexity": line.variant.complexity,
                    "machines": {
                        name: {
                            measure: spread and asdict(spread)
                            for measure, spread in spreads.items()
                        }
                        for name, spreads in line.machines.items()
                    },
                    "mean_official_2022": line.mean and asdict(line.mean),
                    "difference": line.difference and asdict(line.difference),
                }
                for line in self.lines
            ],
            "chosen": self.choice and self.choice.as_json(),
        }

    def write(self, folder: Path) -> None:
        """Write ablation.md, ablation.csv and ablation.json; ablation-alone.md and so on."""
        write_text(folder / f"{self.name}.md", self.markdown())
        write_text(folder / f"{self.name}.csv", self.comma_separated())
        write_json(folder / f"{self.name}.json", self.as_json())

    def _line(self, variant: AblationVariant) -> AblationLine:
        results, name = self.results, variant.name
        return AblationLine(
            variant,
            {
                machine: {measure: results.spread(name, machine, measure) for measure in _MEASURES}
                for machine in results.machines
            },
            results.overall(name, _OFFICIAL, mean="arithmetic"),
            None
            if name == FULL
            else results.difference(name, FULL, measure=_OFFICIAL, mean="arithmetic"),
        )


def _all_measures(spreads: dict[Measure, Spread | None]) -> str:
    return " / ".join(
        MISSING if spread is None else f"{spread.mean:.3f}" for spread in spreads.values()
    )


def _mean_text(spread: Spread | None) -> str:
    if spread is None:
        return MISSING
    return f"{spread.mean:.3f}" + (f" ± {spread.deviation:.3f}" if spread.seeds > 1 else "")


def _difference_text(line: AblationLine) -> str:
    change = line.difference
    if change is None:
        return "" if line.variant.name == FULL else MISSING
    return f"{change.value:+.3f} ({change.low:+.3f} to {change.high:+.3f})"


def _value(spread: Spread | None) -> float | None:
    return None if spread is None else spread.mean


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
