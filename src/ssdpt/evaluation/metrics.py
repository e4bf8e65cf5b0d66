"""AUC, pAUC, harmonic means, decision rates and bootstrap intervals.

Scores: higher = more anomalous. Labels: true = anomalous, false = normal. A metric that is not
defined (no normal or no anomalous clips) is NaN here, and callers leave it out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score, roc_curve

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]

MAX_FALSE_POSITIVE_RATE = 0.1
EPSILON = float(np.finfo(np.float64).eps)
RESAMPLES = 1000

# A block of resamples takes a few tens of megabytes at most, for any number of clips.
_BLOCK_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rates:
    """Decisions of a threshold on labelled clips; ratios without any clips are 0."""

    normals: int
    anomalies: int
    false_alarms: int
    misses: int
    precision: float
    recall: float
    f1: float

    @property
    def false_alarm_rate(self) -> float:
        """False alarms among the normal clips, 0 to 1."""
        return self.false_alarms / self.normals if self.normals else 0.0


def is_defined(labels: ArrayLike) -> bool:
    """Whether there are both normal and anomalous clips."""
    flags = np.asarray(labels, bool)
    return bool(flags.any() and not flags.all())


def auc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve, ties count half; NaN without both kinds of clip."""
    if not is_defined(labels):
        return math.nan
    return float(roc_auc_score(np.asarray(labels, bool), np.asarray(scores, float)))


def pauc(labels: ArrayLike, scores: ArrayLike, max_fpr: float = MAX_FALSE_POSITIVE_RATE) -> float:
    """Partial AUC up to the false positive rate `max_fpr`, standardised by McClish.

    Chance gives 0.5, a perfect detector 1, as in the challenge's tables.
    """
    if not is_defined(labels):
        return math.nan
    return float(
        roc_auc_score(np.asarray(labels, bool), np.asarray(scores, float), max_fpr=max_fpr)
    )


def pauc_printed(
    labels: ArrayLike, scores: ArrayLike, max_fpr: float = MAX_FALSE_POSITIVE_RATE
) -> float:
    """pAUC by the formula printed in the paper: chance gives `max_fpr` / 2 = 0.05, perfect is 1.

    It is the share of pairs, each of an anomalous clip and one of the ⌊p·N₋⌋ highest-scoring normal
    clips (p = `max_fpr`, N₋ normal clips), in which the anomalous clip scores strictly higher; ties
    count zero. The paper's legend swaps the words normal and anomalous; this follows the original
    definition, in which the normal clips are sorted by descending score. NaN if ⌊p·N₋⌋ is 0 or
    there is no anomalous clip.
    """
    flags, values = np.asarray(labels, bool), np.asarray(scores, float)
    normal, anomalous = np.sort(values[~flags]), values[flags]
    # 0.29 · 100 is 28.999999999999996 in floating point, but means 29.
    counted = math.floor(max_fpr * normal.size + 1e-9)
    if counted == 0 or anomalous.size == 0:
        return math.nan
    beaten = np.searchsorted(normal[-counted:], anomalous, side="left")
    return float(beaten.sum() / (counted * anomalous.size))


def decision_rates(labels: ArrayLike, scores: ArrayLike, threshold: ArrayLike) -> Rates:
    """Rates of the decision `score > threshold`; `threshold` is one number or one per clip."""
    flags = np.asarray(labels, bool)
    alerts = np.asarray(scores, float) > np.asarray(threshold, float)
    hits, false_alarms = int((alerts & flags).sum()), int((alerts & ~flags).sum())
    anomalies = int(flags.sum())
    precision = hits / max(hits + false_alarms, EPSILON)
    recall = hits / max(anomalies, EPSILON)
    return Rates(
        normals=int(flags.size - anomalies),
        anomalies=anomalies,
        false_alarms=false_alarms,
        misses=anomalies - hits,
        precision=precision,
        recall=recall,
        f1=2.0 * precision * recall / max(precision + recall, EPSILON),
    )


def roc(labels: ArrayLike, scores: ArrayLike) -> tuple[Doubles, Doubles]:
    """The ROC curve as false and true positive rates, from (0, 0) to (1, 1)."""
    false_positive, true_positive, _ = roc_curve(
        np.asarray(labels, bool), np.asarray(scores, float)
    )
    return false_positive, true_positive


def weighted_areas(
    labels: ArrayLike,
    scores: ArrayLike,
    weights: NDArray[np.int64],
    max_fpr: float = MAX_FALSE_POSITIVE_RATE,
) -> tuple[Doubles, Doubles]:
    """AUC and pAUC of many resamples at once: (replicates,) each.

    `weights` (replicates, clips) says how often a clip was drawn; every replicate needs at least
    one normal and one anomalous clip. Each ROC curve passes through the distinct scores in
    descending order, so ties become slanted segments and count half.
    """
    flags = np.asarray(labels, bool)
    values, place = np.unique(-np.asarray(scores, float), return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(values.size))
    drawn = weights[:, order]
    anomalous = np.add.reduceat(drawn * flags[order], starts, axis=1)  # (replicates, distinct)
    normal = np.add.reduceat(drawn, starts, axis=1) - anomalous
    rise = anomalous / anomalous.sum(axis=1, keepdims=True)
    step = normal / normal.sum(axis=1, keepdims=True)
    height = np.cumsum(rise, axis=1) - rise  # true positive rate at the start of a segment
    start = np.cumsum(step, axis=1) - step
    area = (step * (height + rise / 2)).sum(axis=1)

    width = np.clip(max_fpr - start, 0, step)  # the part of each segment left of max_fpr
    share = np.divide(width, step, out=np.zeros_like(width), where=step > 0)
    partial = (width * (height + rise * share / 2)).sum(axis=1)
    chance = max_fpr**2 / 2
    return area, 0.5 * (1 + (partial - chance) / (max_fpr - chance))


def bootstrap(
    statistic: Callable[[NDArray[np.int64]], Doubles],
    strata: Sequence[Hashable],
    *,
    seed: int | Sequence[int],
    resamples: int = RESAMPLES,
) -> Doubles:
    """Resample the clips within their strata and collect `statistic`: (resamples, metrics).

    `statistic` takes weights (replicates, clips), how often each clip was drawn, and returns
    (replicates, metrics). Two calls with equal strata and seed draw the same clips, which makes a
    comparison of two models paired.
    """
    generator = np.random.default_rng(seed)
    groups: dict[Hashable, list[int]] = {}
    for index, stratum in enumerate(strata):
        groups.setdefault(stratum, []).append(index)
    block = max(1, _BLOCK_CELLS // max(1, len(strata)))
    collected = []
    for first in range(0, resamples, block):
        rows = min(block, resamples - first)
        weights = np.zeros((rows, len(strata)), np.int64)
        for members in groups.values():
            size = len(members)
            draws = generator.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
            weights[:, members] = np.bincount(draws.ravel(), minlength=rows * size).reshape(
                rows, size
            )
        collected.append(statistic(weights))
    return np.concatenate(collected)


def interval(value: float, draws: ArrayLike) -> tuple[float, float]:
    """The central 95 % of bootstrap draws, shifted so that their mean is `value`.

    A resample holds some clips twice, and such ties raise pAUC. Without the shift, a value from few
    clips could lie outside its own interval. The ends stay within the range of draws and `value`.
    """
    array = np.asarray(draws, float)
    bias = float(array.mean()) - value
    low, high = np.percentile(array, [2.5, 97.5]) - bias
    least, most = min(value, float(array.min())), max(value, float(array.max()))
    return max(float(low), least), min(float(high), most)
