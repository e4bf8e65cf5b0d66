"""The score of a clip whose machine ID is known, or is not."""

from __future__ import annotations

from collections.abc import Callable

from ssdpt.scoring.aggregate import ClipScore

SectionScore = Callable[[str], ClipScore]  # the clip's score as one of the known sections


def score_by_rule(
    score_as: SectionScore, sections: tuple[str, ...], section: str
) -> tuple[ClipScore, bool]:
    """The clip's score, and whether its ID is known.

    The rule for a clip of an unknown ID: it is as anomalous as it is to the ID that suits it best.
    """
    if section in sections:
        return score_as(section), True
    return min((score_as(name) for name in sections), key=lambda score: score.value), False
