"""Evidence for or against a claim: differences with 95 % intervals, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ssdpt.evaluation.metrics import Estimate
from ssdpt.experiments.claims.published import MEASURES, Printed, published
from ssdpt.experiments.paper.cells import CellClip
from ssdpt.experiments.paper.results import ExperimentResults, Mean

Verdict = Literal["holds", "does not hold", "undecided", "not measured"]
_ORDER: tuple[Verdict, ...] = ("does not hold", "not measured", "undecided", "holds")
RULE = (
    "A claim holds if the 95 % interval of every margin lies above zero, does not hold if one "
    "lies below, and is undecided otherwise. A margin is over all machine types that were run, or "
    "of one type where the claim names types: then one type that contradicts is enough. Intervals: "
    "test clips and seeds drawn anew, the same for both sides. They do not cover other machine "
    "types, nor that the strongest of several rivals was found on the same clips; with few seeds "
    "they are rather narrow."
)


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison: the claim requires `margin` above zero; None if cells are missing."""

    what: str
    margin: Estimate | None
    counted: bool = False  # an exact count, which has no interval

    def __str__(self) -> str:
        """As text, with the interval."""
        if self.counted:
            return self.what
        if self.margin is None:
            return f"{self.what}: not measured"
        low, high = self.margin.low, self.margin.high
        return f"{self.what}: {self.margin.value:+.3f} ({low:+.3f} to {high:+.3f})"

    @property
    def value(self) -> float:
        """The margin as a number; a missing one counts as infinite."""
        return math.inf if self.margin is None else self.margin.value

    @property
    def verdict(self) -> Verdict:
        if self.margin is None:
            return "not measured"
        if self.margin.low > 0:
            return "holds"
        return "does not hold" if self.margin.high < 0 else "undecided"


def verdict(parts: Sequence[Part]) -> Verdict:
    """A claim holds if all its parts hold; one contradicting part refutes it."""
    verdicts = {part.verdict for part in parts}
    return next((word for word in _ORDER if word in verdicts), "not measured")


class Evidence:
    """Comparisons of results; a missing variant, machine or seed gives no margin."""

    def __init__(self, results: ExperimentResults) -> None:
        self.results = results

    @property
    def machines(self) -> tuple[str, ...]:
        return self.results.machines

    def label(self, variant: str) -> str:
        entry = self.results.variants.get(variant)
        return variant if entry is None else entry.label

    def ahead(self, better: str, worse: str, measure: Printed = "h_auc", machine: str = "") -> Part:
        """How much one variant is ahead of another, for one machine type or over all."""
        what = f"{_where(measure, machine)}: {self.label(better)} over {self.label(worse)}"
        return Part(what, self._difference(better, worse, measure, machine))

    def ahead_of_all(
        self, better: str, rivals: Sequence[str], measure: Printed = "h_auc", machine: str = ""
    ) -> Part:
        """How much a variant is ahead of its strongest rival.

        If rivals are missing, the claim can only be refuted.
        """
        parts = [self.ahead(better, rival, measure, machine) for rival in rivals]
        measured = [part for part in parts if part.margin is not None]
        if not measured:
            return Part(f"{_where(measure, machine)}: {self.label(better)} over the others", None)
        closest = min(measured, key=lambda part: (_ORDER.index(part.verdict), part.value))
        if len(measured) < len(parts) and closest.verdict != "does not hold":
            return Part(f"{closest.what}, others missing", None)
        return closest

    def reaches(
        self, variant: str, value: float, measure: Printed, mean: Mean = "arithmetic"
    ) -> Part:
        """How much a variant is above a printed value; needs the paper's machine types.

        Table I prints arithmetic means over machine types, Table II harmonic ones.
        """
        what = f"{_where(measure)}: {self.label(variant)} over {value:.3f}"
        types = published().machines
        if not all(self._has(variant, machine) for machine in types):
            return Part(f"{what} (needs the paper's seven machine types)", None)
        estimate = self.results.interval(variant, types, measure, mean)
        if estimate is None:
            return Part(what, None)
        low, high = estimate.low - value, estimate.high - value
        return Part(what, Estimate(estimate.value - value, low, high))

    def best(self, names: Sequence[str]) -> str | None:
        """The variant with the highest h-AUC over all machine types; None if there is none."""
        available = [name for name in names if name in self.results.variants]
        figures = {
            name: spread.mean
            for name in available
            if (spread := self.results.overall(name)) is not None
        }
        return max(figures, key=figures.__getitem__) if figures else None

    def _difference(
        self, better: str, worse: str, measure: Printed, machine: str
    ) -> Estimate | None:
        wanted = [machine] if machine else list(self.machines)
        common = [m for m in wanted if self._has(better, m) and self._has(worse, m)]
        if not common or not self._shared_seed(better, worse, common):
            return None
        return self.results.difference(better, worse, common, measure)

    def _has(self, variant: str, machine: str) -> bool:
        if variant not in self.results.variants or machine not in self.machines:
            return False
        of_seeds = [self.results.scores(variant, machine, seed) for seed in self.results.seeds]
        return any(scores is not None and _has_both_labels(scores.clips) for scores in of_seeds)

    def _shared_seed(self, one: str, other: str, machines: Sequence[str]) -> bool:
        return any(
            all(self.results.scores(name, m, seed) for name in (one, other) for m in machines)
            for seed in self.results.seeds
        )


def _has_both_labels(clips: Sequence[CellClip]) -> bool:
    """Whether any section and domain has both normal and faulty clips."""
    kinds = {(clip.section, clip.domain, clip.label == "anomaly") for clip in clips}
    return any((section, domain, not faulty) in kinds for section, domain, faulty in kinds)


def _where(measure: Printed, machine: str = "") -> str:
    return f"{MEASURES[measure]}{f', {machine}' if machine else ''}"
