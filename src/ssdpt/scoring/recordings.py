"""How far the scores of a new recording may lie above those of the recordings that are known.

A score is taken as the offset of its recording (another day, place or load) plus the difference
between clips of one recording. Few recordings say little about offsets: what they say is averaged
with a prior, and the next offset is predicted with Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Before any recordings are compared, offsets are taken to vary as much as the clips of a recording
# do. This belief counts as so many recordings.
_PRIOR_RECORDINGS = 3
MARGIN_RATE = 0.1  # share of clips above a threshold, at which the margin is computed


def recording_margin(scores: np.ndarray, recordings: Sequence[int]) -> float:
    """What to add to a threshold on account of the next recording; at least 0.

    `scores` (clips,) are those of held-out normal clips, `recordings` the number of the recording
    of each.
    """
    from scipy.special import ndtri, stdtrit

    within, between, count = _variances(scores, np.asarray(recordings))
    total = float(scores.var(ddof=1)) if len(scores) > 1 else 0.0
    if total <= 0:
        return 0.0
    prior = within or total
    expected = (_PRIOR_RECORDINGS * prior + (count - 1) * between) / (_PRIOR_RECORDINGS + count - 1)
    offset = expected * (1 + 1 / count)
    # Welch and Satterthwaite: the degrees of freedom of a sum of two variances.
    freedom = (within + offset) ** 2 / (
        offset**2 / (_PRIOR_RECORDINGS + count - 1) + within**2 / max(len(scores) - count, 1)
    )
    predicted = np.sqrt((within + offset) / total) * stdtrit(freedom, MARGIN_RATE)
    factor = max(float(predicted / ndtri(MARGIN_RATE)), 1.0)
    median, threshold = np.quantile(scores, [0.5, 1 - MARGIN_RATE])
    return float((factor - 1) * (threshold - median))


def _variances(scores: np.ndarray, recordings: np.ndarray) -> tuple[float, float, int]:
    """Within recordings, between their offsets (by analysis of variance), and how many they are."""
    groups = [scores[recordings == number] for number in np.unique(recordings)]
    count, clips = len(groups), len(scores)
    if clips <= count:  # nothing but single clips: what lies between and within is the same
        return 0.0, float(scores.var(ddof=1)) if clips > 1 else 0.0, count
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / (clips - count)
    if count == 1:
        return within, 0.0, 1
    mean = scores.mean()
    squares = sum(len(group) * float((group.mean() - mean) ** 2) for group in groups) / (count - 1)
    size = (clips - sum(len(group) ** 2 for group in groups) / clips) / (count - 1)
    return within, max((squares - within) / size, 0.0), count
