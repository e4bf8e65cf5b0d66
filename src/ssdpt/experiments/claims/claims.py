"""Checks every claim of the paper twice: by its printed numbers and by measured results."""

from __future__ import annotations

from dataclasses import dataclass

from ssdpt.experiments.claims.beta_evidence import BetaCurves
from ssdpt.experiments.claims.evidence import Evidence, Part, Verdict, verdict
from ssdpt.experiments.claims.printed_verdicts import PrintedVerdict
from ssdpt.experiments.claims.published import Statement, published
from ssdpt.experiments.claims.statements import BETA_STATEMENTS, STATEMENTS
from ssdpt.experiments.paper.results import ExperimentResults

SMOKE = "smoke run, not comparable"


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim with both verdicts."""

    statement: Statement
    experiment: str
    printed: PrintedVerdict
    tested: str  # how it is tested here
    parts: tuple[Part, ...]
    verdict: Verdict
    stamp: str  # set if a measured verdict of this run is not comparable


def check_claims(results: ExperimentResults, beta: ExperimentResults | None) -> list[CheckedClaim]:
    """Every claim, in the paper's order. `beta`: the same networks under other values of β."""
    evidence = Evidence(results)
    curves = None if beta is None else BetaCurves(beta)
    claims = []
    for name, statement in published().statements.items():
        if name in BETA_STATEMENTS:
            over_beta = BETA_STATEMENTS[name]
            parts = () if curves is None else tuple(over_beta.parts(curves))
            experiment, printed, tested = "beta", over_beta.printed, over_beta.tested
        else:
            test = STATEMENTS[name]
            parts = tuple(test.parts(evidence))
            experiment, printed, tested = test.experiment, test.printed, test.tested
        measured = verdict(parts)
        claims.append(
            CheckedClaim(
                statement=statement,
                experiment=experiment,
                printed=printed(),
                tested=tested,
                parts=parts,
                verdict=measured,
                stamp=SMOKE if results.quick and measured != "not measured" else "",
            )
        )
    return claims
