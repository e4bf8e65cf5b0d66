"""The score of a clip whose section the model knows, or does not."""

from __future__ import annotations

from collections.abc import Callable

from ssdpt.scoring.aggregate import ClipScore

SectionScore = Callable[[str], ClipScore]  # the clip's score as one of the known sections


def score_known_or_best_section(
    score_as: SectionScore, sections: tuple[str, ...], section: str
) -> tuple[ClipScore, bool]:
    """The score of a clip, and whether the model knows its section.

    A clip of an unknown section gets the lowest of its scores as each of the known `sections`.
    """
    if section in sections:
        return score_as(section), True
    return min((score_as(name) for name in sections), key=lambda score: score.value), False
