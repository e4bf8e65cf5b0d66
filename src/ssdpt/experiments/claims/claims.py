"""The paper's claims, each decided twice: by the paper's own numbers, and by what was measured."""

from __future__ import annotations

from dataclasses import dataclass

from ssdpt.experiments.claims.beta_evidence import BetaCurves
from ssdpt.experiments.claims.evidence import Evidence, Part, Verdict, verdict
from ssdpt.experiments.claims.own_numbers import Own
from ssdpt.experiments.claims.published import Statement, published
from ssdpt.experiments.claims.statements import BETA_STATEMENTS, STATEMENTS
from ssdpt.experiments.paper.results import Results

SMOKE = "smoke run, not comparable"


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with both verdicts."""

    statement: Statement
    experiment: str
    own: Own
    tested: str  # how it is tested here
    parts: tuple[Part, ...]
    verdict: Verdict
    stamp: str  # that a measured verdict of this run says nothing; else empty


def judge(results: Results, beta: Results | None) -> list[Judged]:
    """Every claim, in the paper's order. `beta`: the same networks under other values of β."""
    evidence = Evidence(results)
    curves = None if beta is None else BetaCurves(beta)
    judged = []
    for name, statement in published().statements.items():
        if name in BETA_STATEMENTS:
            over_beta = BETA_STATEMENTS[name]
            parts = () if curves is None else tuple(over_beta.parts(curves))
            experiment, own, tested = "beta", over_beta.own, over_beta.tested
        else:
            test = STATEMENTS[name]
            parts = tuple(test.parts(evidence))
            experiment, own, tested = test.experiment, test.own, test.tested
        found = verdict(parts)
        judged.append(
            Judged(
                statement=statement,
                experiment=experiment,
                own=own(),
                tested=tested,
                parts=parts,
                verdict=found,
                stamp=SMOKE if results.quick and found != "not measured" else "",
            )
        )
    return judged
