"""All runs of a folder: followed one after the other, then a table and a page."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.common.files import write_text
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.snapshots import find_runs, read_run
from ssdpt.evaluation.run_to_failure.run_outcome import (
    RunOutcome,
    RunVerdict,
    follow_run,
    measure_run,
)
from ssdpt.evaluation.run_to_failure.wording import (
    change_text,
    duration,
    findings_text,
    life_percent,
)

COLUMNS = (
    *("run", "clips", "first_alarm", "verdict", "lead_seconds"),
    *("rms_first_alarm", "eight_band_first_alarm"),
    *("kurtosis_first_alarm", "gaussian_first_alarm"),
    *(
        "false_alarms_before_half",
        "alerts_before_half",
        "outlooks",
        "outlooks_right",
        "rule",
        "changed",
    ),
)
VERDICTS: tuple[RunVerdict, ...] = ("right", "late", "false", "missed")


@dataclass(frozen=True, slots=True)
class RunsEvaluation:
    """What was said about every run."""

    outcomes: tuple[RunOutcome, ...]
    report: Path

    def summary_rows(self) -> list[dict[str, str]]:
        """One row per run, for people."""
        return [
            {
                "run": outcome.run.name,
                "snapshots": str(len(outcome.run.times)),
                "first alarm": life_percent(outcome.share(outcome.alarm)),
                "verdict": outcome.verdict(outcome.alarm),
                "before the end": duration(outcome.lead_seconds),
                "because": change_text(outcome),
                **{
                    name: life_percent(outcome.share(alarm))
                    for name, alarm in outcome.rules.items()
                },
            }
            for outcome in self.outcomes
        ]

    def totals(self) -> list[dict[str, str]]:
        """Verdicts counted, of ours and of each plain rule."""
        counted = {"ssdpt": [outcome.verdict(outcome.alarm) for outcome in self.outcomes]}
        for name in self.outcomes[0].rules:
            counted[name] = [outcome.verdict(outcome.rules[name]) for outcome in self.outcomes]
        return [
            {"rule": name, **{verdict: str(Counter(all_)[verdict]) for verdict in VERDICTS}}
            for name, all_ in counted.items()
        ]

    @property
    def outlook_sentence(self) -> str:
        """How often the outlooks were right, how wide they were, and how often there was none."""
        hits = [hit for outcome in self.outcomes for hit in outcome.outlook_hits]
        silent = sum(not outcome.outlook_hits for outcome in self.outcomes)
        start = f"No outlook in {silent} of {len(self.outcomes)} runs"
        if not hits:
            return f"{start}."
        widths = [
            outlook.latest - outlook.earliest
            for outcome in self.outcomes
            for outlook in outcome.outlooks
            if outlook is not None
        ]
        return (
            f"{start}; in the others the first alarm came within the 80 % interval in "
            f"{np.mean(hits):.0%} of {len(hits):,} outlooks (median width "
            f"{duration(float(np.median(widths)))})."
        )


def evaluate_runs(
    data: Path,
    out: Path,
    *,
    snapshot: float | None = None,
    every: float | None = None,
    channel: int | str = 0,
    reporter: Reporter = SILENT,
    command: str = "",
) -> RunsEvaluation:
    """Follow every run at `data` and write `runs.csv` and `report.html` into `out`."""
    from ssdpt.evaluation.run_to_failure.page import render  # matplotlib takes a second to load

    paths = find_runs(data, snapshot)
    outcomes = []
    with reporter.task("Following runs", total=len(paths)) as task:
        for path in paths:
            run = read_run(path, snapshot, every, channel=channel)
            for note in run.notes:
                reporter.warn(f"{run.name}: {note}")
            outcomes.append(follow_run(measure_run(run)))
            task.advance()
    evaluation = RunsEvaluation(tuple(outcomes), out / "report.html")
    write_text(out / "runs.csv", _table(outcomes))
    write_text(evaluation.report, render(evaluation, command))
    return evaluation


def _table(outcomes: Sequence[RunOutcome]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for outcome in outcomes:
        lead, hits = outcome.lead_seconds, outcome.outlook_hits
        first_alarms = [
            *(outcome.rules["RMS + 6 σ"], outcome.rules["eight bands"]),
            *(outcome.rules["kurtosis + 6 σ"], outcome.rules["one Gaussian"]),
        ]
        writer.writerow(
            [
                *(outcome.run.name, len(outcome.run.times), _share(outcome, outcome.alarm)),
                *(outcome.verdict(outcome.alarm), "" if lead is None else f"{lead:g}"),
                *(_share(outcome, alarm) for alarm in first_alarms),
                *(outcome.alarms_before_half, f"{outcome.alerts_before_half:.4f}"),
                *(len(hits), sum(hits), change_text(outcome), findings_text(outcome)),
            ]
        )
    return buffer.getvalue()


def _share(outcome: RunOutcome, snapshot: int | None) -> str:
    share = outcome.share(snapshot)
    return "" if share is None else f"{share:.4f}"
