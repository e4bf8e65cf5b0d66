"""Operating points: a machine that runs fast and slow has two normal sounds and two usual scores.

They are learned from normal clips: from their speed and load where the control system reports
these, otherwise from their mean spectra. Only points that lie clearly apart are separated: a
machine whose load changes smoothly has one. A score is then compared with the scores that are usual
at the machine's current operating point, in units of their spread.

Speed and load choose the current point as well. Where they are not known, or fit several points,
the spectrum decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ssdpt.alarms.findings import ENGLISH, Words
from ssdpt.alarms.speed_and_load import SpeedAndLoad, mean_of, percent_table
from ssdpt.types import Floats

UNKNOWN = 0  # number of a point that was not learned; learned ones count from 1
_NUMBERED = re.compile(r"operating point (?P<number>\d+)")  # the title of one without a name
_MOST_POINTS = 4
_FEWEST_CLIPS = 5  # of a point
_MIN_SILHOUETTE = 0.5  # 0 = one cluster, 1 = separate clusters
_MIN_DISTANCE_DB, _MIN_DISTANCE_PERCENT = 1.5, 8.0  # between two points
_UNKNOWN_BEYOND = 1.5  # times the radius of the nearest point
_MIN_RADIUS_DB, _MIN_RADIUS_PERCENT = 1.0, 4.0
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
    operation: SpeedAndLoad = field(default_factory=SpeedAndLoad)  # mean of its clips
    operation_radius: float = 0.0  # percent, distance of its farthest clip in speed and load

    def has_operation(self, operation: SpeedAndLoad) -> bool | None:
        """Whether it is learned for this speed and load; None where that cannot be told."""
        distance = self.operation.distance(operation)
        return None if distance is None else distance <= _UNKNOWN_BEYOND * self.operation_radius


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """The points of one machine, the most frequent first."""

    points: tuple[OperatingPoint, ...]
    usual_score: float  # over all points
    spread: float

    @classmethod
    def learn(
        cls,
        spectra: Floats,
        levels: Floats,
        scores: Floats,
        operations: Sequence[SpeedAndLoad] = (),
    ) -> Self:
        """From normal clips: mean spectra (clips, bins) in dB, levels in dBFS, scores (clips,).

        `operations`: speed and load of each clip, or nothing.
        """
        operations = list(operations) or [SpeedAndLoad()] * len(spectra)
        labels = _operation_clusters(operations)
        if not labels.any():
            labels = _clusters(spectra, _MIN_DISTANCE_DB)
        usual, spread = float(scores.mean()), float(max(scores.std(), 1e-9))
        points = []
        for label in sorted(set(labels.tolist()), key=lambda label: -int(np.sum(labels == label))):
            members = labels == label
            centre = spectra[members].mean(0)
            clips = int(members.sum())
            own = [operations[clip] for clip in np.flatnonzero(members)]
            operation = mean_of(own)
            farthest = max(operation.distance(clip) or 0.0 for clip in own)
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
                    operation=operation,
                    operation_radius=max(farthest, _MIN_RADIUS_PERCENT),
                )
            )
        return cls(tuple(points), usual, spread)

    def at(self, spectrum: Floats, operation: SpeedAndLoad | None = None) -> int:
        """The number of the current point, or `UNKNOWN`.

        `spectrum`: mean spectrum (bins,) of a clip; `operation`: its speed and load. A speed or
        load that was never learned is no known point, whatever it sounds like.
        """
        operation = operation or SpeedAndLoad()
        fits = [point.has_operation(operation) for point in self.points]
        numbers = [number for number, fit in enumerate(fits, 1) if fit is not False]
        if not numbers:
            return UNKNOWN
        if len(numbers) == 1 and fits[numbers[0] - 1]:
            return numbers[0]
        distances = {
            number: float(_distance(spectrum, np.array(self.points[number - 1].spectrum)))
            for number in numbers
        }
        nearest = min(numbers, key=distances.__getitem__)
        too_far = distances[nearest] > _UNKNOWN_BEYOND * self.points[nearest - 1].radius
        return UNKNOWN if too_far else nearest

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
        """For people, in English (see `title_worded`); empty if there is only one point."""
        if number == UNKNOWN or len(self.points) == 1:
            return ""
        point = self.points[number - 1]
        return (
            point.name
            or point.operation.worded()
            or ENGLISH.text("operating point {number}", number=number)
        )

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
                    "speed_rpm": point.operation.speed_rpm,
                    "load_percent": point.operation.load_percent,
                    "operation_radius": point.operation_radius,
                }
                for point in self.points
            ],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        points = [_point_from_json(dict(point)) for point in state["points"]]
        return cls(tuple(points), float(state["usual_score"]), float(state["spread"]))


class OperatingPointLearner:
    """Collects live normal clips of a machine whose model was fitted elsewhere."""

    def __init__(self, clips_needed: int = 180) -> None:
        self.clips_needed = clips_needed
        self._spectra: list[Floats] = []
        self._levels: list[float] = []
        self._scores: list[float] = []
        self._operations: list[SpeedAndLoad] = []

    @property
    def ready(self) -> bool:
        """Whether enough clips are collected."""
        return len(self._scores) >= self.clips_needed

    def add(
        self,
        spectrum: Floats,
        level_dbfs: float,
        score: float,
        operation: SpeedAndLoad | None = None,
    ) -> None:
        """The mean spectrum (bins,) in dB, level and score of one more clip; its speed and load."""
        if not self.ready:
            self._spectra.append(spectrum)
            self._levels.append(level_dbfs)
            self._scores.append(score)
            self._operations.append(operation or SpeedAndLoad())

    def learn(self) -> OperatingPoints:
        """The operating points of the collected clips."""
        return OperatingPoints.learn(
            np.array(self._spectra),
            np.array(self._levels),
            np.array(self._scores),
            self._operations,
        )


def title_worded(title: str, words: Words) -> str:
    """A title in a language: events store it in English. What a person has named is not changed."""
    numbered = _NUMBERED.fullmatch(title)
    if numbered:
        return words.text("operating point {number}", number=numbered["number"])
    operation = SpeedAndLoad.read(title)
    return title if operation is None else operation.worded(words)


def _point_from_json(state: dict[str, Any]) -> OperatingPoint:
    # A store of an earlier release knows neither speed nor load.
    operation = SpeedAndLoad(state.pop("speed_rpm", None), state.pop("load_percent", None))
    return OperatingPoint(**{**state, "spectrum": tuple(state["spectrum"]), "operation": operation})


def _operation_clusters(operations: Sequence[SpeedAndLoad]) -> np.ndarray:
    """The cluster of each clip by its speed and load, (clips,); all 0 if there is only one."""
    table = percent_table(operations)
    if table is None:
        return np.zeros(len(operations), int)
    return _clusters(table, _MIN_DISTANCE_PERCENT)


def _clusters(clips: Floats, min_distance: float) -> np.ndarray:
    """The cluster of each clip (clips, features), as (clips,) numbers; all 0 if there is only one.

    `min_distance`: between the centres of two clusters, root mean square over the features.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    best, labels = _MIN_SILHOUETTE, np.zeros(len(clips), int)
    distinct = len(np.unique(clips, axis=0))  # a source that repeats a recording has few
    for count in range(2, min(_MOST_POINTS, len(clips) // _FEWEST_CLIPS, distinct) + 1):
        clusters = KMeans(count, n_init=8, random_state=_SEED).fit(clips)
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
        silhouette = float(silhouette_score(clips, clusters.labels_))
        if nearest >= min_distance and silhouette > best:
            best, labels = silhouette, clusters.labels_
    return labels


def _distance(spectra: Floats, centre: Floats) -> np.ndarray:
    """From spectra (…, bins) to a centre (bins,): (…,) dB, root mean square over the bins."""
    return np.sqrt(np.mean(np.square(spectra - centre), axis=-1))
