"""How good a detector is, in a word: how well it separates, and whether to rely on its alarms.

A detector that separates faulty from normal clips is of little use if its threshold calls normal
clips faulty, or most faulty ones normal: both limit the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdpt.evaluation.metrics import Estimate, Rates
from ssdpt.evaluation.reliability import exact_interval

_GRADES = ((0.95, "excellent"), (0.85, "good"), (0.7, "fair"), (0.0, "weak"))
_FAR_TOO_MANY = 2.0  # times the requested rate
TOO_MANY = "too many false alarms"
MORE = "more false alarms than requested"
MISSES = "the threshold misses most faults"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The badge of a machine in the report."""

    grade: str  # excellent, good, fair, weak or chance; empty if it cannot be told
    text: str


def grade(auc: Estimate | None) -> str:
    """How well scores separate faulty from normal clips, in one word; empty without an AUC."""
    if auc is None:
        return ""
    if auc.low <= 0.5:
        return "chance"
    return next(grade for lowest, grade in _GRADES if auc.value >= lowest)


def least_rate(rates: Rates) -> float:
    """The false-alarm rate that is certainly reached: the lower end of its 95 % interval."""
    return exact_interval(rates.false_alarms, rates.normals)[0] if rates.normals else 0.0


def misses_most(rates: Rates) -> bool:
    """Whether less than half of all faults are certainly above the threshold (95 % interval)."""
    detected = rates.anomalies - rates.misses
    return rates.anomalies > 0 and exact_interval(detected, rates.anomalies)[1] < 0.5


def verdict(auc: Estimate | None, rates: Rates, requested: float) -> Verdict:
    """Separation, limited by false alarms: to weak if they are certainly twice the requested rate,
    to fair if they are certainly more than requested (95 % interval of the measured rate); to fair
    as well if scores separate well but the threshold misses most faults."""
    separation = grade(auc)
    text = {"chance": "no better than chance"}.get(separation, separation)
    at_least = least_rate(rates)
    if at_least <= requested:
        if separation in ("excellent", "good") and misses_most(rates):
            return Verdict("fair", f"fair, {MISSES}")
        return Verdict(separation, text)
    if separation == "chance":
        return Verdict(separation, f"{text}, {TOO_MANY}")
    if at_least > _FAR_TOO_MANY * requested:
        return Verdict("weak", TOO_MANY)
    limited = separation if separation in ("", "weak") else "fair"
    return Verdict(limited or "weak", f"{limited}, {MORE}" if limited else MORE)
