"""Limits of change: how much they depend on the runs they were chosen on.

Every limit is varied alone, down and up. For each run, the variants that are best on all the other
runs are taken, as if the run had never been seen. Where several are equally good, the worst of them
is shown beside how many do as well as the limits in use: nothing but the run itself would have told
them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ssdpt.alarms.change_score import ChangeLimits, Limit
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.snapshots import find_runs, read_run
from ssdpt.evaluation.run_to_failure.run_outcome import (
    MeasuredRun,
    RunOutcome,
    RunVerdict,
    follow_run,
    measure_run,
)
from ssdpt.evaluation.run_to_failure.wording import life_percent

_FACTORS = (0.75, 1.25)
DEFAULT = "as they are"
# A false alarm costs more trust than a late one.
_WORTH: dict[RunVerdict, float] = {"right": 1.0, "late": 0.3, "missed": -1.0, "false": -2.0}


@dataclass(frozen=True, slots=True)
class LeftOutRun:
    """One run, judged by the limits as they are and by those chosen on the other runs."""

    run: str
    share: float | None  # of the life at the first alarm, by the limits as they are
    verdict: RunVerdict
    chosen: tuple[str, ...]  # the variants that are best on the other runs
    as_good: int  # of these, how many judge this run as well as the limits in use
    worst: str  # of these, the one that judges this run worst
    worst_share: float | None
    worst_verdict: RunVerdict

    def row(self) -> dict[str, str]:
        """For people."""
        return {
            "run": self.run,
            "limits as they are": life_percent(self.share),
            "verdict": self.verdict,
            "best without this run": str(len(self.chosen)),
            "of these as good": str(self.as_good),
            "worst of these": self.worst,
            "first alarm then": life_percent(self.worst_share),
            "verdict then": self.worst_verdict,
        }


@dataclass(frozen=True, slots=True)
class VariantCounts:
    """All runs judged by one variant."""

    variant: str
    verdicts: tuple[RunVerdict, ...]

    def row(self) -> dict[str, str]:
        """For people."""
        return {
            "limits": self.variant,
            **{name: str(self.verdicts.count(name)) for name in _WORTH},
        }


def bench_change_limits(
    data: Path,
    *,
    snapshot: float | None = None,
    every: float | None = None,
    reporter: Reporter = SILENT,
) -> tuple[list[VariantCounts], list[LeftOutRun]]:
    """Every variant on all runs, and every run left out of the choice."""
    runs = [measure_run(read_run(path, snapshot, every)) for path in find_runs(data, snapshot)]
    outcomes: dict[str, list[RunOutcome]] = {}
    variants = limit_variants()
    with reporter.task("limits", total=len(variants)) as task:
        for name, limits in variants.items():
            outcomes[name] = [follow_run(run, limits=limits) for run in runs]
            task.advance()
    counts = [
        VariantCounts(name, tuple(one.verdict(one.alarm) for one in group))
        for name, group in outcomes.items()
    ]
    return counts, [_left_out(number, runs, outcomes) for number in range(len(runs))]


def limit_variants() -> dict[str, ChangeLimits]:
    """The limits as they are, and each of them alone lower and higher."""
    default = ChangeLimits()
    variants = {DEFAULT: default}
    for field in fields(ChangeLimits):
        limit: Limit = getattr(default, field.name)
        for factor in _FACTORS:
            changed = Limit(factor * limit.alert, factor * limit.alarm)
            name = f"{field.name.replace('_', ' ')} × {factor:g}"
            variants[name] = replace(default, **{field.name: changed})
    return variants


def _left_out(
    number: int, runs: Sequence[MeasuredRun], outcomes: Mapping[str, Sequence[RunOutcome]]
) -> LeftOutRun:
    def worth(variant: str) -> float:
        others = [one for at, one in enumerate(outcomes[variant]) if at != number]
        return sum(_WORTH[one.verdict(one.alarm)] for one in others)

    def worth_here(variant: str) -> float:
        outcome = outcomes[variant][number]
        return _WORTH[outcome.verdict(outcome.alarm)]

    best = max(map(worth, outcomes))
    chosen = tuple(variant for variant in outcomes if worth(variant) == best)
    worst = min(chosen, key=worth_here)
    in_use, then = outcomes[DEFAULT][number], outcomes[worst][number]
    return LeftOutRun(
        run=runs[number].run.name,
        share=in_use.share(in_use.alarm),
        verdict=in_use.verdict(in_use.alarm),
        chosen=chosen,
        as_good=sum(worth_here(variant) >= worth_here(DEFAULT) for variant in chosen),
        worst=worst,
        worst_share=then.share(then.alarm),
        worst_verdict=then.verdict(then.alarm),
    )
