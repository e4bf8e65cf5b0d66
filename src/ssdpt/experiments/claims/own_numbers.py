"""What the paper's own tables say of its claims, without anything measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ssdpt.experiments.claims.published import MEASURES, Printed, published

OwnVerdict = Literal["holds", "does not hold", "no numbers"]


@dataclass(frozen=True, slots=True)
class Own:
    """What the paper's own numbers say."""

    verdict: OwnVerdict
    why: str


def no_numbers(why: str = "the figure's values are not known") -> Callable[[], Own]:
    """Nothing printed to decide it by."""
    return lambda: Own("no numbers", why)


def _own(pairs: Sequence[tuple[str, float, float]], note: str = "") -> Own:
    """Every first number of the pairs should be above the second."""
    against = [f"{what}{one:.3f} ≤ {other:.3f}" for what, one, other in pairs if one <= other]
    what, one, other = min(pairs, key=lambda pair: pair[1] - pair[2])
    said = "; ".join(against) if against else f"closest: {what}{one:.3f} > {other:.3f}"
    return Own("does not hold" if against else "holds", f"{said}; {note}" if note else said)


def table_one(
    better: Sequence[str], worse: Sequence[str], measures: Sequence[Printed], note: str = ""
) -> Callable[[], Own]:
    """Each of the first rows above each of the second, in these columns."""

    def own() -> Own:
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
        return _own(pairs, note)

    return own


def table_two(
    steps: Sequence[tuple[str, str]], machines: Sequence[str] = (), note: str = ""
) -> Callable[[], Own]:
    """Each first row above the second, for machine types or, without any, in the column All."""

    def own() -> Own:
        rows = published().table_two
        pairs = [
            (f"{machine}: ", rows[one].h_auc[machine], rows[other].h_auc[machine])
            for machine in machines
            for one, other in steps
        ]
        if not machines:
            pairs = [("All: ", rows[one].all, rows[other].all) for one, other in steps]
        return _own(pairs, note)

    return own


def own_parameters() -> Own:
    """The set-up that the paper describes cannot have as few as it prints."""
    embedding = 128
    projections = 4 * embedding * (embedding + 1)
    return Own(
        "does not hold",
        f"the projections of one attention over {embedding} bins alone have {projections:,}",
    )
