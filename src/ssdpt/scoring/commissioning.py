"""Thresholds set anew by the first clips after a fit: the same healthy machine on another day.

The clips are added as normal, and each is scored as if it had not been. A new clip of that day is
expected to score likewise: the threshold is the bound of a prediction interval (Student's t) around
their trimmed mean. The fit contributes what it knows of clips that belong to a known recording:
their spread, which counts as ten clips, and their median, below which the mean is not set, for ten
clips rarely show every condition of a machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssdpt.scoring.calibrate import TAIL_PROBABILITIES, Commissioned, KnownRecordings, Tail

LEAST_CLIPS = 5  # fewer say nothing about their spread
_TRIMMED = 0.2  # share of the clips at either end that the mean passes over
_FIT_CLIPS = 10  # that the spread of the fit counts as
_FAR = 3.0  # deviations of the other clips' scores
_LEAST_SPREAD = 0.2  # of clips far out, as a share of how far out they are
_MOST_LEFT_OUT = 0.3  # share of the clips that may stand out before a person is asked
_INCONSISTENT = 4.0  # times the spread of clips of a known recording


def commissioned_tail(
    scores: Sequence[float], before: Tail, thresholds: tuple[float, float], date: str
) -> Tail:
    """The tail for new clips, where clips of another day score `scores` among each other.

    `thresholds` are those of alert and alarm until now.
    """
    from scipy.special import stdtrit

    values = np.sort(np.asarray(scores, np.float64))
    count = len(values)
    cut = int(_TRIMMED * count)
    centre, variance = float(values[cut : count - cut].mean()), float(values.var(ddof=1))
    freedom = count - 1
    if (known := before.known_recordings) is not None:
        centre = max(centre, known.median)
        variance = freedom * variance + _FIT_CLIPS * known.spread**2
        freedom += _FIT_CLIPS
        variance /= freedom
    scale = max(np.sqrt(variance * (1 + 1 / count)), 1e-9 * max(1.0, abs(centre)))
    table = centre + scale * -stdtrit(freedom, TAIL_PROBABILITIES)
    return replace(
        before,
        method="prediction",
        clips=before.clips + count,
        fit_p_value=1.0,
        parameters={"freedom": float(freedom), "location": centre, "scale": float(scale)},
        probability=tuple(TAIL_PROBABILITIES.tolist()),
        score=tuple(table.tolist()),
        recordings=None if before.recordings is None else before.recordings + 1,
        provisional=False,
        commissioned=Commissioned(date, count, *thresholds),
    )


@dataclass(frozen=True, slots=True)
class Assessment:
    """What clips are taken for before anything is learned from them."""

    left_out: tuple[int, ...]  # positions of clips that may be faults
    question: str  # to a person, the end of a sentence; empty: nothing to ask


def assess(
    scores: Sequence[float],
    among: Sequence[float],
    thresholds: tuple[float, float],
    known: KnownRecordings | None,
) -> Assessment:
    """Whether clips of another day can be learned from without asking.

    `scores` are by the model as it is, `among` as if the other clips had been added.
    """
    alert, _ = thresholds
    suspects = tuple(standing_out(scores, thresholds))
    if len(suspects) > _MOST_LEFT_OUT * len(scores):
        # Clips of two kinds: the model cannot know which of them are healthy.
        return Assessment(
            (),
            f"{len(suspects)} of these {len(scores)} clips stand out among them: is the machine "
            "healthy in all of them?",
        )
    usual = float(np.median([score for at, score in enumerate(scores) if at not in suspects]))
    question = ""
    if usual > alert:
        question = (
            "sounds different from the recordings it learned from, steadily "
            f"(typical score {usual:.4g}, alert above {alert:.4g}): is it healthy?"
        )
    elif known is not None and float(np.std(among, ddof=1)) > _INCONSISTENT * known.spread:
        question = (
            "these clips differ from each other far more than those it learned from: is the "
            "machine healthy in all of them?"
        )
    return Assessment(suspects, question)


def standing_out(
    scores: Sequence[float], thresholds: tuple[float, float]
) -> dict[int, float | None]:
    """Positions of clips that may be faults: above the alarm threshold and all other clips.

    With each, the usual score of the others, or None where there are none. In a new condition all
    clips may score high; a fault is the one that stands out among them. `thresholds` are those of
    alert and alarm. Few clips say little about how far their scores spread: it is at least what
    lies between the thresholds, and more where all clips score high.
    """
    alert, alarm = thresholds
    found: dict[int, float | None] = {}
    for position, score in enumerate(scores):
        if score <= alarm:
            continue
        others = np.delete(np.asarray(scores, np.float64), position)
        if not len(others):
            found[position] = None
            continue
        usual = float(np.median(others))
        # 1.4826: of a normal distribution, the standard deviation over the median deviation.
        spread = max(
            1.4826 * float(np.median(np.abs(others - usual))),
            alarm - alert,
            _LEAST_SPREAD * (usual - alert),
        )
        if score - usual > _FAR * spread:
            found[position] = usual
    return found
