"""Operating points: a machine that runs fast and slow has two normal sounds, and two usual scores.

They are learnt from normal clips, by their mean spectra. Only points that lie apart are told apart:
a machine whose load changes smoothly has one. What a score means is then asked at the point the
machine runs at: so far from the score that is usual there, in spreads of the scores there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ssdpt.types import Floats

UNKNOWN = 0  # the number of a point that was not learnt; those that were count from 1
_MOST = 4
_LEAST_CLIPS = 5  # of a point
_APART = 0.5  # silhouette, from 0 (one cloud) to 1 (points), above which clouds are points
_LEAST_DB = 1.5  # between two points, as a mean over the bins
_FOREIGN = 1.5  # times the farthest clip of a point is no longer of it
_LEAST_RADIUS_DB = 1.0
# What is usual at a point is believed to be as everywhere, as if so many clips had shown that;
# of few clips a spread says less than a mean.
_PRIOR_USUAL, _PRIOR_SPREAD = 10.0, 30.0
_SEED = 0


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """One way in which the machine runs when all is well."""

    spectrum: tuple[float, ...]  # dB by mel bin
    radius: float  # dB, to the farthest of its clips, as a root mean square over the bins
    share: float  # of the normal clips
    level_dbfs: float
    usual: float  # score
    spread: float  # of the scores, a standard deviation
    name: str = ""  # that people have given it


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """The points of one machine, the one it runs at most first."""

    points: tuple[OperatingPoint, ...]
    usual: float  # score over all points
    spread: float

    @classmethod
    def learn(cls, spectra: Floats, levels: Floats, scores: Floats) -> Self:
        """From normal clips: mean spectra (clips, bins) in dB, levels in dBFS, scores (clips,)."""
        labels = _clouds(spectra)
        usual, spread = float(scores.mean()), float(max(scores.std(), 1e-9))
        points = []
        for label in sorted(set(labels.tolist()), key=lambda one: -int(np.sum(labels == one))):
            own = labels == label
            centre = spectra[own].mean(0)
            clips = int(own.sum())
            usual_here = clips / (clips + _PRIOR_USUAL)  # how far the clips are believed
            spread_here = clips / (clips + _PRIOR_SPREAD)
            points.append(
                OperatingPoint(
                    spectrum=tuple(centre.round(2).tolist()),
                    radius=max(float(_distance(spectra[own], centre).max()), _LEAST_RADIUS_DB),
                    share=float(own.mean()),
                    level_dbfs=float(levels[own].mean()),
                    usual=usual + usual_here * float(scores[own].mean() - usual),
                    spread=float(
                        np.sqrt(spread_here * scores[own].var() + (1 - spread_here) * spread**2)
                    ),
                )
            )
        return cls(tuple(points), usual, spread)

    def at(self, spectrum: Floats) -> int:
        """The number of the point with this mean spectrum (bins,) of a clip, or `UNKNOWN`."""
        distances = [float(_distance(spectrum, np.array(one.spectrum))) for one in self.points]
        nearest = int(np.argmin(distances))
        foreign = distances[nearest] > _FOREIGN * self.points[nearest].radius
        return UNKNOWN if foreign else nearest + 1

    def adjusted(self, score: float, number: int) -> float:
        """The score that would say as much of a machine with one point, whose limits then hold."""
        if number == UNKNOWN or len(self.points) == 1:
            return score
        point = self.points[number - 1]
        return self.usual + (score - point.usual) * self.spread / point.spread

    def named(self, number: int, name: str) -> Self:
        """With another name of a point; IndexError where there is none of this number."""
        if not 1 <= number <= len(self.points):
            raise IndexError(number)
        points = list(self.points)
        points[number - 1] = replace(points[number - 1], name=name)
        return replace(self, points=tuple(points))

    def title(self, number: int) -> str:
        """For people; empty where there is nothing to tell apart."""
        if number == UNKNOWN or len(self.points) == 1:
            return ""
        return self.points[number - 1].name or f"operating point {number}"

    def to_json(self) -> dict[str, Any]:
        """To be remembered."""
        return {
            "usual": self.usual,
            "spread": self.spread,
            "points": [
                {
                    "spectrum": list(one.spectrum),
                    "radius": one.radius,
                    "share": one.share,
                    "level_dbfs": one.level_dbfs,
                    "usual": one.usual,
                    "spread": one.spread,
                    "name": one.name,
                }
                for one in self.points
            ],
        }

    @classmethod
    def from_json(cls, tree: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        points = [
            OperatingPoint(**{**one, "spectrum": tuple(one["spectrum"])}) for one in tree["points"]
        ]
        return cls(tuple(points), float(tree["usual"]), float(tree["spread"]))


class OperatingPointLearner:
    """Normal clips of a machine whose model was fitted elsewhere, until its points are known."""

    def __init__(self, wanted: int = 180) -> None:
        self.wanted = wanted
        self._spectra: list[Floats] = []
        self._levels: list[float] = []
        self._scores: list[float] = []

    @property
    def ready(self) -> bool:
        """Whether there are enough."""
        return len(self._scores) >= self.wanted

    def add(self, spectrum: Floats, level_dbfs: float, score: float) -> None:
        """The mean spectrum (bins,) in dB, level and score of one more clip."""
        if not self.ready:
            self._spectra.append(spectrum)
            self._levels.append(level_dbfs)
            self._scores.append(score)

    def learn(self) -> OperatingPoints:
        """The points they show."""
        return OperatingPoints.learn(
            np.array(self._spectra), np.array(self._levels), np.array(self._scores)
        )


def _clouds(spectra: Floats) -> np.ndarray:
    """Which point each clip (clips, bins) is of, as (clips,) numbers; all 0 where there is one."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    best, labels = _APART, np.zeros(len(spectra), int)
    for count in range(2, min(_MOST, len(spectra) // _LEAST_CLIPS) + 1):
        found = KMeans(count, n_init=8, random_state=_SEED).fit(spectra)
        if len(set(found.labels_)) < count or np.bincount(found.labels_).min() < _LEAST_CLIPS:
            continue
        centres = found.cluster_centers_
        nearest = min(
            float(_distance(centres[one], centres[other]))
            for one in range(count)
            for other in range(one)
        )
        apart = float(silhouette_score(spectra, found.labels_))
        if nearest >= _LEAST_DB and apart > best:
            best, labels = apart, found.labels_
    return labels


def _distance(spectra: Floats, centre: Floats) -> np.ndarray:
    """From spectra (…, bins) to one (bins,): (…,) dB, as a root mean square over the bins."""
    return np.sqrt(np.mean(np.square(spectra - centre), axis=-1))
