"""The model of one section: its normal clips in every view, and the weight of each view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ssdpt.common.arrays import arrays_under
from ssdpt.scoring.bank import Bank
from ssdpt.scoring.condition import Condition
from ssdpt.scoring.fusion import Scale
from ssdpt.scoring.normal_map import NormalSound
from ssdpt.scoring.references import References
from ssdpt.scoring.thinning import thinned_domains
from ssdpt.scoring.whitening import covariance, mixed, whitening
from ssdpt.types import Domain, Floats

ClipViews = Mapping[str, np.ndarray]  # a clip in every view, (rows, d)
ByDomain = Mapping[Domain, Sequence[np.ndarray]]  # clips in one view, (rows, d) each


@dataclass(frozen=True, slots=True)
class View:
    """Normal clips of one machine ID in one view."""

    matrix: Floats  # (d, d): whitens rows
    bank: Bank
    weight: float
    averaged: bool  # whether the mean of a clip's rows is compared, or each row by itself
    clips: int  # of the fit

    def z_scores(self, clips: Sequence[np.ndarray]) -> np.ndarray:
        """How unusual clips, (rows, d) each, are: (clips,). A clip without rows is usual."""
        scores = np.zeros(len(clips))
        described = [at for at, rows in enumerate(clips) if len(rows)]
        if described:
            scores[described] = self.bank.z_scores(self.points([clips[at] for at in described]))
        return scores

    def z_over_time(self, rows: np.ndarray) -> np.ndarray:
        """What each row (rows, d) of a clip adds to its score, (rows,); their mean is the score."""
        if not len(rows):
            return np.zeros(1)
        return self.bank.z_over_time(np.asarray(rows, np.float64) @ self.matrix, self.averaged)

    def points(self, clips: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What is compared of clips, (rows, d) each: whitened, (points, d) each."""
        return _points(clips, self.matrix, self.averaged)


@dataclass(frozen=True, slots=True)
class SectionModel:
    """All views of one machine ID; their weights sum to 1."""

    views: Mapping[str, View]
    normal: NormalSound

    def z_over_time(self, clip: ClipViews) -> dict[str, np.ndarray]:
        """What the rows of a clip add to its score in every view, (rows,) each."""
        return {name: view.z_over_time(clip[name]) for name, view in self.views.items()}

    def score(self, clip: ClipViews) -> float:
        """How unusual one clip is: the weighted mean over the views."""
        return sum(
            view.weight * float(view.z_scores([clip[name]])[0]) for name, view in self.views.items()
        )

    def with_more(self, clips: Sequence[ClipViews], domain: Domain, reference_clips: float) -> Self:
        """Further normal clips as a separate condition; all that the fit has learned stays.

        The spread of the fit was estimated from its own clips and `reference_clips` of others.
        """
        views = {}
        for name, view in self.views.items():
            points = view.points([clip[name] for clip in clips])
            bank = view.bank.with_more(points, domain, reference_clips + view.clips)
            views[name] = replace(view, bank=bank)
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
                "averaged": view.averaged,
                "clips": view.clips,
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
            # Until format 4 a clip was a single point, and the number of clips was not written.
            clips = settings.get("clips", sum(len(group.points) for group in domains.values()))
            views[name] = View(
                arrays[f"{name}/matrix"],
                bank,
                float(settings["weight"]),
                bool(settings["averaged"]),
                int(clips),
            )
        normal = {key: arrays[f"normal/{key}"] for key in ("mean", "spread")}
        return cls(views, NormalSound.restore(normal))


def _condition_prefix(view: str, number: int) -> str:
    """What the names of a condition's arrays begin with."""
    return f"{view}/added-{number}/"


def view_of(
    clips: ByDomain,
    shared_spread: np.ndarray | None,
    *,
    averaged: bool,
    reference_clips: float,
    neighbours: int,
    domains_apart: bool,
) -> View:
    """One section in one view, from its normal clips; its weight is 1.

    `shared_spread` (d, d) is that of other machines, and counts as `reference_clips` clips.
    """
    count = sum(map(len, clips.values()))
    spread = covariance([np.concatenate(group) for group in clips.values()])
    matrix = whitening(mixed(spread, shared_spread, reference_clips / (reference_clips + count)))
    points: dict[Domain, list[np.ndarray]] = {
        domain: _points(group, matrix, averaged) for domain, group in clips.items()
    }
    if not domains_apart:
        points = {"source": [clip for group in thinned_domains(points).values() for clip in group]}
    return View(matrix.astype(np.float32), Bank.of(points, neighbours), 1.0, averaged, count)


def _points(clips: Sequence[np.ndarray], matrix: np.ndarray, averaged: bool) -> list[np.ndarray]:
    """Clips, (rows, d) each, whitened, and averaged over their rows where they are compared so.

    Those without rows are left out.
    """
    whitened = (np.asarray(rows, np.float64) @ matrix for rows in clips if len(rows))
    return [rows.mean(0, keepdims=True) if averaged else rows for rows in whitened]
