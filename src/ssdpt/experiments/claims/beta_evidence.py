"""Evidence for or against the claims on β, from curves of h-AUC and h-pAUC against β."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from ssdpt.evaluation.metrics import Doubles
from ssdpt.evaluation.tables import Draws, estimate, machine_draws
from ssdpt.experiments.claims.evidence import Part
from ssdpt.experiments.claims.published import MEASURES, Printed, published
from ssdpt.experiments.paper.beta import beta_name
from ssdpt.experiments.paper.results import RESAMPLES, ExperimentResults, joined, over_seeds, rows
from ssdpt.experiments.paper.variants import BETAS

STEADY = 0.01
"""Values within this range are called stable; the paper gives no bound."""

DEFAULT = BETAS.index(0.001)


class BetaCurves:
    """h-AUC and h-pAUC against β with their resamples; the same clips are drawn for every β."""

    def __init__(self, results: ExperimentResults) -> None:
        self.results = results
        self._draws = cache(self._measure)

    @property
    def machines(self) -> list[str]:
        """Machine types with results."""
        first = beta_name(BETAS[0])
        return [m for m in self.results.machines if self.results.spread(first, m) is not None]

    def curve(self, measure: Printed, machine: str = "") -> Doubles | None:
        """(1 + resamples, βs), row 0 as measured, for one machine type or over all.

        None if cells are missing.
        """
        machines = [m for m in self.machines if machine in {"", m}]
        of_seeds = []
        for seed in self.results.seeds:
            parts = [self._draws(name, seed) for name in machines]
            available = [part for part in parts if part is not None]
            if available and len(available) == len(parts):
                of_betas = [joined(draws, measure) for draws in zip(*available, strict=True)]
                of_seeds.append(np.stack(of_betas, axis=1))
        return over_seeds(of_seeds) if of_seeds else None

    def heights(self, measure: Printed) -> dict[str, Doubles]:
        """Heights of the machine types' boxes, upper less lower quartile: (1 + resamples,)."""
        curves = {machine: self.curve(measure, machine) for machine in self.machines}
        return {
            machine: np.subtract(*np.percentile(curve, [75, 25], axis=1))
            for machine, curve in curves.items()
            if curve is not None
        }

    def _measure(self, machine: str, seed: int) -> list[Draws] | None:
        of_betas = [self.results.scores(beta_name(beta), machine, seed) for beta in BETAS]
        available = [scores for scores in of_betas if scores is not None]
        if len(available) < len(BETAS):
            return None
        return [
            machine_draws(rows(scores.clips, scores.value), resamples=RESAMPLES)
            for scores in available
        ]


def stable(curves: BetaCurves) -> list[Part]:
    """Within the suggested range the values differ by less than `STEADY`."""
    return _overall(
        curves,
        f"{STEADY:g} less the range from 0.0005 to 0.001",
        lambda curve: STEADY - np.ptp(curve[:, _inside()], axis=1),
    )


def declines(curves: BetaCurves) -> list[Part]:
    """Beyond the range the values fall."""
    near = _overall(curves, "β = 0.001 over 0.002", lambda curve: _lead(curve, 0.002))
    return near + _overall(curves, "β = 0.001 over 0.005", lambda curve: _lead(curve, 0.005))


def range_is_best(curves: BetaCurves) -> list[Part]:
    """The best β in the range against the best β outside it, including 0."""

    def margin(curve: Doubles) -> Doubles:
        inside = _inside()
        outside = [index for index in range(len(BETAS)) if index not in inside]
        return curve[:, inside].max(axis=1) - curve[:, outside].max(axis=1)

    return _overall(curves, "best β inside over best outside, 0 included", margin)


def machines_differ(curves: BetaCurves) -> list[Part]:
    """The highest box against the lowest, as measured."""
    parts = []
    for measure in MEASURES:
        heights = curves.heights(measure)
        margin, text = None, "highest box over the lowest"
        if len(heights) > 1:
            order = sorted(heights, key=lambda machine: float(heights[machine][0]))
            margin = estimate(heights[order[-1]] - heights[order[0]])
            text = f"box of {order[-1]} over that of {order[0]}"
        parts.append(Part(f"{MEASURES[measure]}: {text}", margin))
    return parts


def more_susceptible(
    measure: Printed, machines: Sequence[str], sign: int
) -> Callable[[BetaCurves], list[Part]]:
    """Boxes of these machine types are higher (sign 1) or lower (−1) than the others' mean."""

    def parts(curves: BetaCurves) -> list[Part]:
        heights = curves.heights(measure)
        others = [height for machine, height in heights.items() if machine not in machines]
        relation = "higher" if sign > 0 else "lower"
        return [
            Part(
                f"{MEASURES[measure]}: box of {machine} {relation} than the others' mean",
                estimate(sign * (heights[machine] - np.mean(others, axis=0)))
                if machine in heights and others
                else None,
            )
            for machine in machines
        ]

    return parts


def machine_specific_beta_helps(curves: BetaCurves) -> list[Part]:
    """The machine type that gains most from its best other β, over the default 0.001."""
    parts = []
    for machine in curves.machines:
        curve = curves.curve("h_auc", machine)
        if curve is not None:
            others = [index for index in range(len(BETAS)) if index != DEFAULT]
            best = others[int(np.argmax(curve[0, others]))]
            text = f"h-AUC, {machine}: β = {BETAS[best]:g} over 0.001"
            parts.append(Part(text, estimate(curve[:, best] - curve[:, DEFAULT])))
    return sorted(parts, key=lambda part: part.value)[-1:]


def _overall(curves: BetaCurves, text: str, figure: Callable[[Doubles], Doubles]) -> list[Part]:
    parts = []
    for measure, name in MEASURES.items():
        curve = curves.curve(measure)
        margin = None if curve is None else estimate(figure(curve))
        parts.append(Part(f"{name}: {text}", margin))
    return parts


def _lead(curve: Doubles, beta: float) -> Doubles:
    return curve[:, DEFAULT] - curve[:, BETAS.index(beta)]


def _inside() -> list[int]:
    low, high = published().beta_range
    return [index for index, beta in enumerate(BETAS) if low <= beta <= high]
