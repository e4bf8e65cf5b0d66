"""Operating points: a machine that runs fast and slow has two normal sounds and two usual scores.

They are learned from the mean spectra of normal clips. Only points that lie clearly apart are
separated: a machine whose load changes smoothly has one. A score is then compared with the scores
that are usual at the machine's current operating point, in units of their spread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ssdpt.types import Floats

UNKNOWN = 0  # number of a point that was not learned; learned ones count from 1
_MOST_POINTS = 4
_FEWEST_CLIPS = 5  # of a point
_MIN_SILHOUETTE = 0.5  # 0 = one cluster, 1 = separate clusters
_MIN_DISTANCE_DB = 1.5  # between two points
_UNKNOWN_BEYOND = 1.5  # times the radius of the nearest point
_MIN_RADIUS_DB = 1.0
# Mean and spread of the scores at a point are shrunk towards those of all points, with the weight
# of so many clips; from few clips a spread is known less well than a mean.
_MEAN_PRIOR_CLIPS, _SPREAD_PRIOR_CLIPS = 10.0, 30.0
_SEED = 0


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """One normal way of running, such as a load or a speed."""

    spectrum: tuple[float, ...]  # dB by mel bin
    radius: float  # dB, distance of its farthest clip, root mean square over the bins
    share: float  # of the normal clips
    level_dbfs: float
    usual_score: float
    spread: float  # standard deviation of the scores
    name: str = ""  # given by a person


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """The points of one machine, the most frequent first."""

    points: tuple[OperatingPoint, ...]
    usual_score: float  # over all points
    spread: float

    @classmethod
    def learn(cls, spectra: Floats, levels: Floats, scores: Floats) -> Self:
        """From normal clips: mean spectra (clips, bins) in dB, levels in dBFS, scores (clips,)."""
        labels = _clusters(spectra)
        usual, spread = float(scores.mean()), float(max(scores.std(), 1e-9))
        points = []
        for label in sorted(set(labels.tolist()), key=lambda label: -int(np.sum(labels == label))):
            members = labels == label
            centre = spectra[members].mean(0)
            clips = int(members.sum())
            mean_weight = clips / (clips + _MEAN_PRIOR_CLIPS)
            spread_weight = clips / (clips + _SPREAD_PRIOR_CLIPS)
            points.append(
                OperatingPoint(
                    spectrum=tuple(centre.round(2).tolist()),
                    radius=max(float(_distance(spectra[members], centre).max()), _MIN_RADIUS_DB),
                    share=float(members.mean()),
                    level_dbfs=float(levels[members].mean()),
                    usual_score=usual + mean_weight * float(scores[members].mean() - usual),
                    spread=float(
                        np.sqrt(
                            spread_weight * scores[members].var() + (1 - spread_weight) * spread**2
                        )
                    ),
                )
            )
        return cls(tuple(points), usual, spread)

    def at(self, spectrum: Floats) -> int:
        """The number of the point with this mean spectrum (bins,) of a clip, or `UNKNOWN`."""
        distances = [float(_distance(spectrum, np.array(point.spectrum))) for point in self.points]
        nearest = int(np.argmin(distances))
        too_far = distances[nearest] > _UNKNOWN_BEYOND * self.points[nearest].radius
        return UNKNOWN if too_far else nearest + 1

    def adjusted(self, score: float, number: int) -> float:
        """The equivalent score of a machine with one point, for which the thresholds hold."""
        if number == UNKNOWN or len(self.points) == 1:
            return score
        point = self.points[number - 1]
        return self.usual_score + (score - point.usual_score) * self.spread / point.spread

    def named(self, number: int, name: str) -> Self:
        """With a new name of one point; IndexError if there is no such number."""
        if not 1 <= number <= len(self.points):
            raise IndexError(number)
        points = list(self.points)
        points[number - 1] = replace(points[number - 1], name=name)
        return replace(self, points=tuple(points))

    def title(self, number: int) -> str:
        """For people; empty if there is only one point."""
        if number == UNKNOWN or len(self.points) == 1:
            return ""
        return self.points[number - 1].name or f"operating point {number}"

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        return {
            "usual_score": self.usual_score,
            "spread": self.spread,
            "points": [
                {
                    "spectrum": list(point.spectrum),
                    "radius": point.radius,
                    "share": point.share,
                    "level_dbfs": point.level_dbfs,
                    "usual_score": point.usual_score,
                    "spread": point.spread,
                    "name": point.name,
                }
                for point in self.points
            ],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        points = [
            OperatingPoint(**{**point, "spectrum": tuple(point["spectrum"])})
            for point in state["points"]
        ]
        return cls(tuple(points), float(state["usual_score"]), float(state["spread"]))


class OperatingPointLearner:
    """Collects live normal clips of a machine whose model was fitted elsewhere."""

    def __init__(self, clips_needed: int = 180) -> None:
        self.clips_needed = clips_needed
        self._spectra: list[Floats] = []
        self._levels: list[float] = []
        self._scores: list[float] = []

    @property
    def ready(self) -> bool:
        """Whether enough clips are collected."""
        return len(self._scores) >= self.clips_needed

    def add(self, spectrum: Floats, level_dbfs: float, score: float) -> None:
        """The mean spectrum (bins,) in dB, level and score of one more clip."""
        if not self.ready:
            self._spectra.append(spectrum)
            self._levels.append(level_dbfs)
            self._scores.append(score)

    def learn(self) -> OperatingPoints:
        """The operating points of the collected clips."""
        return OperatingPoints.learn(
            np.array(self._spectra), np.array(self._levels), np.array(self._scores)
        )


def _clusters(spectra: Floats) -> np.ndarray:
    """The cluster of each clip (clips, bins) as (clips,) numbers; all 0 if there is only one."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    best, labels = _MIN_SILHOUETTE, np.zeros(len(spectra), int)
    distinct = len(np.unique(spectra, axis=0))  # a source that repeats a recording has few
    for count in range(2, min(_MOST_POINTS, len(spectra) // _FEWEST_CLIPS, distinct) + 1):
        clusters = KMeans(count, n_init=8, random_state=_SEED).fit(spectra)
        if (
            len(set(clusters.labels_)) < count
            or np.bincount(clusters.labels_).min() < _FEWEST_CLIPS
        ):
            continue
        centres = clusters.cluster_centers_
        nearest = min(
            float(_distance(centres[first], centres[second]))
            for first in range(count)
            for second in range(first)
        )
        silhouette = float(silhouette_score(spectra, clusters.labels_))
        if nearest >= _MIN_DISTANCE_DB and silhouette > best:
            best, labels = silhouette, clusters.labels_
    return labels


def _distance(spectra: Floats, centre: Floats) -> np.ndarray:
    """From spectra (…, bins) to a centre (bins,): (…,) dB, root mean square over the bins."""
    return np.sqrt(np.mean(np.square(spectra - centre), axis=-1))
