"""The model of one section: its normal clips in every view, and the weight of each view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ssdpt.common.arrays import arrays_under
from ssdpt.scoring.bank import Bank
from ssdpt.scoring.condition import Condition
from ssdpt.scoring.fusion import Scale, spread_evenly
from ssdpt.scoring.normal_map import NormalSound
from ssdpt.scoring.references import References
from ssdpt.scoring.whitening import covariance, emphasis, mixed, whitening
from ssdpt.types import Domain, Floats

_MOST_REFERENCES = 2000  # of a domain; more would hardly change the nearest distance
_LEAST_DISTANCE = 0.1  # of siblings, in deviations: no view gets a weight of 0

ViewVectors = Mapping[str, np.ndarray]  # a clip (d,) or several (clips, d), by view
ByDomain = Mapping[Domain, np.ndarray]  # (clips, d)


@dataclass(frozen=True, slots=True)
class View:
    """Normal clips of one machine ID in one view."""

    matrix: Floats  # (d, d): whitens vectors
    bank: Bank
    weight: float

    def z_scores(self, vectors: np.ndarray) -> np.ndarray:
        """How unusual clips (clips, d) are, (clips,)."""
        return self.bank.z_scores(np.asarray(vectors, np.float64) @ self.matrix)

    def without(self, vector: np.ndarray) -> Self:
        """The view without the normal clip `vector` (d,) as a reference."""
        return replace(self, bank=self.bank.without(np.asarray(vector, np.float64) @ self.matrix))


@dataclass(frozen=True, slots=True)
class SectionModel:
    """All views of one machine ID; their weights sum to 1."""

    views: Mapping[str, View]
    normal: NormalSound

    def z_scores(self, vectors: ViewVectors) -> dict[str, float]:
        """How unusual one clip is in every view."""
        return {
            name: float(view.z_scores(vectors[name][None])[0]) for name, view in self.views.items()
        }

    def score(self, vectors: ViewVectors) -> float:
        """How unusual one clip is: the weighted mean over the views."""
        scores = self.z_scores(vectors)
        return sum(view.weight * scores[name] for name, view in self.views.items())

    def with_more(
        self, clips: Sequence[ViewVectors], domain: Domain, reference_clips: float
    ) -> Self:
        """Further normal clips as a separate condition; all that the fit has learned stays."""
        views = {}
        for name, view in self.views.items():
            points = np.array([clip[name] for clip in clips], np.float64) @ view.matrix
            views[name] = replace(view, bank=view.bank.with_more(points, domain, reference_clips))
        return replace(self, views=views)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learned."""
        arrays = {f"normal/{name}": value for name, value in self.normal.arrays().items()}
        for name, view in self.views.items():
            arrays[f"{name}/matrix"] = view.matrix
            for domain, references in view.bank.domains.items():
                spacing = np.asarray(references.neighbour_distance, np.float32)
                arrays[f"{name}/{domain}/points"] = np.asarray(references.points, np.float32)
                arrays[f"{name}/{domain}/neighbour_distance"] = spacing
            for number, condition in enumerate(view.bank.added):
                prefix = _condition_prefix(name, number)
                arrays |= {prefix + key: value for key, value in condition.arrays().items()}
        return arrays

    def description(self) -> dict[str, Any]:
        """What `restore` needs besides the arrays."""
        return {
            name: {
                "weight": view.weight,
                "neighbours": view.bank.neighbours,
                "scales": {
                    domain: [references.scale.mean, references.scale.sd]
                    for domain, references in view.bank.domains.items()
                },
                "added": [condition.description() for condition in view.bank.added],
            }
            for name, view in self.views.items()
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, np.ndarray], description: dict[str, Any]) -> Self:
        """The reverse of `arrays` and `description`; KeyError or ValueError if they do not fit."""
        views = {}
        for name, settings in description.items():
            domains: dict[Domain, References] = {}
            for domain, (mean, sd) in settings["scales"].items():
                points = arrays[f"{name}/{domain}/points"]
                spacing = arrays[f"{name}/{domain}/neighbour_distance"]
                if spacing.shape != points.shape[:1] or not len(points):
                    raise ValueError("references and their neighbour distances differ in number")
                scale = Scale(float(mean), float(sd))
                domains[domain] = References(points, spacing, scale)
            added = tuple(
                Condition.restore(arrays_under(arrays, _condition_prefix(name, number)), condition)
                for number, condition in enumerate(settings["added"])
            )
            bank = Bank(domains, int(settings["neighbours"]), added)
            views[name] = View(arrays[f"{name}/matrix"], bank, float(settings["weight"]))
        normal = {key: arrays[f"normal/{key}"] for key in ("mean", "spread")}
        return cls(views, NormalSound.restore(normal))


def _condition_prefix(view: str, number: int) -> str:
    """What the names of a condition's arrays begin with."""
    return f"{view}/added-{number}/"


def view_of(
    clips: ByDomain,
    siblings: Sequence[ByDomain],
    shared_spread: np.ndarray | None,
    *,
    reference_clips: float,
    neighbours: int,
    domains_apart: bool,
    emphasised: bool,
) -> tuple[View, float]:
    """One section in one view, from its normal clips, and how far its siblings lie, in deviations.

    Siblings are the other sections of the same machine type. Their distance is measured before the
    directions in which siblings differ are emphasised, which would increase it; without siblings it
    is 1. `shared_spread` (d, d) is that of other machines, and counts as `reference_clips` clips.
    """
    groups = list(clips.values())
    share = reference_clips / (reference_clips + sum(map(len, groups)))
    matrix = whitening(mixed(covariance(groups), shared_spread, share))

    def view(matrix: np.ndarray) -> View:
        bank = Bank.of(_points(clips, matrix, domains_apart), neighbours)
        return View(matrix.astype(np.float32), bank, 1.0)

    plain = view(matrix)
    if not siblings:
        return plain, 1.0
    sibling_clips = np.concatenate([_some(sibling) for sibling in siblings])
    distance = max(float(np.median(plain.z_scores(sibling_clips))), _LEAST_DISTANCE)
    if not emphasised:
        return plain, distance
    centres = [np.concatenate(list(group.values())).mean(0) for group in (clips, *siblings)]
    return view(matrix @ emphasis(np.array(centres) @ matrix)), distance


def _points(clips: ByDomain, matrix: np.ndarray, domains_apart: bool) -> ByDomain:
    """The clips of every domain that are kept as references, whitened."""
    points: dict[Domain, np.ndarray] = {
        domain: np.asarray(group[spread_evenly(len(group), _MOST_REFERENCES)], np.float64) @ matrix
        for domain, group in clips.items()
    }
    return points if domains_apart else {"source": np.concatenate(list(points.values()))}


def _some(sibling: ByDomain) -> np.ndarray:
    """At most a hundred clips (clips, d) of a sibling, of all its domains."""
    clips = np.concatenate(list(sibling.values()))
    return clips[spread_evenly(len(clips))]
