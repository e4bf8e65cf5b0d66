"""Commissioning from the command line: one question at most, and what became of the thresholds."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.recordings import by_machine

if TYPE_CHECKING:
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.types import Recording

Yes = Annotated[
    bool, typer.Option("--yes", help="With --commission: the machine is healthy, do not ask.")
]
_NAMED = 3  # machines named in a note


def commission_fleet(
    fleet: Fleet, recordings: Iterable[Recording], *, yes: bool, strict: bool
) -> bool:
    """Commission the machines of these recordings and save them; whether all were."""
    from ssdpt.fleet.fleet import fitted

    complete = True
    lines = []
    for name, group in by_machine(fleet, recordings).items():
        detector = fitted(fleet, name)
        result = detector.commission(
            group,
            confirm=(lambda question: True) if yes else _ask,
            strict=strict,
            reporter=REPORTER,
        )
        for question in result.declined:
            complete = False
            REPORTER.warn(
                f"{question} Nothing was learned from these clips; if it is, run the command "
                "again with --yes, if not, the scores are right"
            )
        for done in result.sections:
            lines.append(
                f"{name}, ID {done.section}: commissioned with {done.clips} clips: alert above "
                f"{done.after[0]:.4g} (before: {done.before[0]:.4g}), alarm above "
                f"{done.after[1]:.4g} (before: {done.before[1]:.4g})"
            )
        if result.sections:
            detector.save(fleet.folders[name])
    for line in lines:
        STDOUT.print(line, markup=False)
    return complete


def note_provisional(fleet: Fleet) -> None:
    """One sentence if thresholds rest on too few recordings to be relied on."""
    basis = {name: detector.provisional for name, detector in fleet.items() if detector.provisional}
    if not basis:
        return
    names = ", ".join(list(basis)[:_NAMED])
    more = f" and {len(basis) - _NAMED} more" if len(basis) > _NAMED else ""
    rests = f", made of {next(iter(basis.values()))}" if len(basis) == 1 else ""
    REPORTER.warn(
        f"{names}{more}: provisional threshold{rests}, not yet confirmed by another day; give "
        "about ten clips of the healthy machine to `ssdpt score MODEL CLIPS --commission`"
    )


def _ask(question: str) -> bool:
    """On a terminal the answer of a person; elsewhere nobody can answer."""
    return sys.stdin.isatty() and typer.confirm(question, err=True)
