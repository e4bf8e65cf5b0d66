"""Verdicts on the claims from the numbers printed in the paper, without any measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ssdpt.experiments.claims.published import MEASURES, Printed, published

PrintedResult = Literal["holds", "does not hold", "no numbers"]


@dataclass(frozen=True, slots=True)
class PrintedVerdict:
    """What the paper's printed numbers say about a claim."""

    verdict: PrintedResult
    reason: str


def no_numbers(reason: str = "the figure's values are not known") -> Callable[[], PrintedVerdict]:
    """A claim without printed numbers to check it."""
    return lambda: PrintedVerdict("no numbers", reason)


def _compare(pairs: Sequence[tuple[str, float, float]], note: str = "") -> PrintedVerdict:
    """Holds if the first number of every pair is above the second."""
    against = [f"{what}{one:.3f} ≤ {other:.3f}" for what, one, other in pairs if one <= other]
    what, one, other = min(pairs, key=lambda pair: pair[1] - pair[2])
    reason = "; ".join(against) if against else f"closest: {what}{one:.3f} > {other:.3f}"
    result: PrintedResult = "does not hold" if against else "holds"
    return PrintedVerdict(result, f"{reason}; {note}" if note else reason)


def table_one(
    better: Sequence[str], worse: Sequence[str], measures: Sequence[Printed], note: str = ""
) -> Callable[[], PrintedVerdict]:
    """Each row of `better` is above each row of `worse`, in these columns of Table I."""

    def check() -> PrintedVerdict:
        rows = published().table_one
        pairs = [
            (
                f"{MEASURES[m]} of {one} and {other}: ",
                getattr(rows[one], m),
                getattr(rows[other], m),
            )
            for m in measures
            for one in better
            for other in worse
        ]
        return _compare(pairs, note)

    return check


def table_two(
    steps: Sequence[tuple[str, str]], machines: Sequence[str] = (), note: str = ""
) -> Callable[[], PrintedVerdict]:
    """Each first row of `steps` is above the second, for these machine types or in column All."""

    def check() -> PrintedVerdict:
        rows = published().table_two
        pairs = [
            (f"{machine}: ", rows[one].h_auc[machine], rows[other].h_auc[machine])
            for machine in machines
            for one, other in steps
        ]
        if not machines:
            pairs = [("All: ", rows[one].all, rows[other].all) for one, other in steps]
        return _compare(pairs, note)

    return check


def printed_parameters() -> PrintedVerdict:
    """The described network cannot have as few parameters as printed."""
    embedding = 128
    projections = 4 * embedding * (embedding + 1)
    return PrintedVerdict(
        "does not hold",
        f"the projections of one attention over {embedding} bins alone have {projections:,}",
    )
