"""The result of an evaluation, for the command line, metrics.json and the report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdpt.evaluation.clips import LeftOut, ScoredClip, count
from ssdpt.evaluation.examples import false_alarms
from ssdpt.evaluation.metrics import Estimate, Rates
from ssdpt.evaluation.reliability import Reliability
from ssdpt.evaluation.tables import MachineResult, Means, Results
from ssdpt.notebook.html import block, small, table_of
from ssdpt.version import __version__


@dataclass(frozen=True, slots=True)
class SectionThresholds:
    """The scores above which a section raises an alert or an alarm."""

    alert: float
    alarm: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluation.

    `references` holds the results of simple detectors (loudness, one Gaussian) on the same clips,
    `reference_scores` their scores in the order of `clips`. `thresholds` is by machine and section.
    """

    results: Results
    clips: tuple[ScoredClip, ...]
    left_out: tuple[LeftOut, ...]
    references: Mapping[str, Results]
    reference_scores: Mapping[str, tuple[float, ...]]
    thresholds: Mapping[tuple[str, str], SectionThresholds]
    reliability: tuple[Reliability, ...]
    systems: Mapping[str, str]
    false_alarm_rates: Mapping[str, float]
    layout: str
    seed: int
    notes: tuple[str, ...]
    report: Path

    def _repr_html_(self) -> str:
        """The headline and the table, in a notebook."""
        return block(self.headline, table_of(self.summary_rows()), *map(small, self.notes))

    @property
    def headline(self) -> str:
        """The result in sentences."""
        rates = self.results.rates
        sentences = [
            f"{count(len(self.results.machines), 'machine')}, "
            f"{count(len(self.clips), 'clip')} not used in training."
        ]
        if rates.anomalies:
            detected = rates.anomalies - rates.misses
            sentences.append(
                f"{detected:,} of {count(rates.anomalies, 'faulty clip')} detected "
                f"({percent(rates.recall)})"
                + (
                    f", {_false_alarms(rates, self.false_alarm_rates.values())}."
                    if rates.normals
                    else "; no normal clips, so false alarms and AUC are unknown."
                )
            )
        else:
            sentences.append(
                f"No faulty clips, so AUC is unknown; "
                f"{_false_alarms(rates, self.false_alarm_rates.values())}."
            )
        if self.results.means.auc is not None:
            sentences.append(f"Mean AUC {span(self.results.means.auc)}.")
        return " ".join(sentences)

    def summary_rows(self) -> list[dict[str, str]]:
        """A row of text per machine and, for several machines, one for all; keys are headings."""
        rows = [self._row(m.machine, m.clips, m.means, m.rates, m) for m in self.results.machines]
        if len(rows) > 1:
            results = self.results
            rows.append(self._row("all", len(self.clips), results.means, results.rates, None))
        return rows

    @property
    def false_alarm_deviations(self) -> list[str]:
        """A sentence for each false-alarm rate that differs from the requested one."""
        return [sentence for entry in self.reliability for sentence in entry.deviations]

    @property
    def false_alarms(self) -> list[ScoredClip]:
        """Normal clips above the threshold, the most anomalous first: worth listening to."""
        return false_alarms(self.clips)

    def _row(
        self, name: str, clips: int, means: Means, rates: Rates, machine: MachineResult | None
    ) -> dict[str, str]:
        row = {"machine": name, "clips": str(clips), "AUC": span(means.auc)}
        for reference, results in self.references.items():
            reference_means = results.machine(name).means if machine else results.means
            row[f"{reference} AUC"] = figure(reference_means.auc)
        return row | {
            "pAUC": span(means.pauc),
            "h-AUC": figure(means.h_auc),
            "h-pAUC": figure(means.h_pauc),
            "official 2022": figure(means.official_2022),
            "threshold": threshold_range(machine.thresholds) if machine else "",
            "false alarms": f"{rates.false_alarms}/{rates.normals}",
            "misses": f"{rates.misses}/{rates.anomalies}",
            "precision": f"{rates.precision:.3f}",
            "recall": f"{rates.recall:.3f}",
            "F1": f"{rates.f1:.3f}",
        }

    def as_json(self) -> dict[str, Any]:
        """The content of `metrics.json`."""
        return {
            "ssdpt": __version__,
            "score": "higher = more anomalous",
            "layout": self.layout,
            "seed": self.seed,
            "false_alarm_rates": dict(self.false_alarm_rates),
            "systems": dict(self.systems),
            "clips": len(self.clips),
            "left_out": [
                {"reason": left.reason, "clips": len(left.names)} for left in self.left_out
            ],
            "notes": list(self.notes),
            **dataclasses.asdict(self.results),
            "reliability": [entry.as_json() for entry in self.reliability],
            "references": {
                name: {
                    "means": dataclasses.asdict(results.means),
                    "machines": {m.machine: dataclasses.asdict(m.means) for m in results.machines},
                }
                for name, results in self.references.items()
            },
        }


def span(estimate: Estimate | None) -> str:
    """`0.912 (0.880–0.941)`: a value and its 95 % interval."""
    if estimate is None:
        return "–"
    return f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"


def figure(estimate: Estimate | None) -> str:
    """A value without its interval."""
    return "–" if estimate is None else f"{estimate.value:.3f}"


def percent(share: float) -> str:
    """A share of 0 to 1 in per cent, with one decimal below 1 %."""
    return f"{100 * share:.1f} %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def threshold_range(values: Sequence[float]) -> str:
    """One threshold, or the range of several sections' thresholds."""
    ends = [f"{value:.4g}" for value in (values[0], values[-1])]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _false_alarms(rates: Rates, requested: Iterable[float]) -> str:
    ordered = sorted(requested)
    target = " to ".join(dict.fromkeys(percent(rate) for rate in (ordered[0], ordered[-1])))
    return (
        f"{count(rates.false_alarms, 'false alarm')} on {count(rates.normals, 'normal clip')} "
        f"({percent(rates.false_alarm_rate)}; requested: {target})"
    )
