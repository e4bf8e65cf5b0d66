"""How bad a change is, for this machine and among its siblings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ssdpt.alarms.thresholds import Thresholds

Grade = Literal["slight", "clear", "severe", "extreme"]

# From which part of the way to the alarm threshold on. Level and thresholds differ from machine to
# machine; the way does not.
_GRADES: tuple[tuple[float, Grade], ...] = ((3.0, "extreme"), (1.5, "severe"), (1.0, "clear"))
_FEWEST_DAYS = 3  # of history, to compare with


class Severity(BaseModel):
    """Of the score now, against the machine's own history and machines of the same type."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )

    grade: Grade
    ratio: float = Field(
        description="The way from the usual score to the alarm threshold: 1 is the threshold."
    )
    above_history: float | None = Field(
        None, description="Share of its days, 0 to 1, that never got so high; null: no history."
    )
    rank: int | None = Field(None, description="1: the worst of its siblings; null: no siblings.")
    siblings: int = Field(0, description="Machines it is compared with, itself included.")


def way_to_alarm(score: float, thresholds: Thresholds) -> float:
    """How far a score has gone from the usual score (0) to the alarm threshold (1)."""
    span = thresholds.alarm - thresholds.usual_score
    return (score - thresholds.usual_score) / span if span > 0 else 0.0


def severity(
    score: float,
    thresholds: Thresholds,
    daily_maxima: Sequence[float] = (),
    sibling_ratios: Sequence[float] = (),
) -> Severity:
    """Of a smoothed score.

    `daily_maxima`: the highest smoothed score of each past day. `sibling_ratios`: how far the other
    machines of its type have gone to their alarm thresholds, by `way_to_alarm`.
    """
    ratio = way_to_alarm(score, thresholds)
    grade = next((grade for least, grade in _GRADES if ratio >= least), "slight")
    days = len(daily_maxima)
    return Severity(
        grade=grade,
        ratio=round(ratio, 2),
        above_history=(
            round(sum(highest < score for highest in daily_maxima) / days, 2)
            if days >= _FEWEST_DAYS
            else None
        ),
        rank=1 + sum(other > ratio for other in sibling_ratios) if sibling_ratios else None,
        siblings=len(sibling_ratios) + 1 if sibling_ratios else 0,
    )
