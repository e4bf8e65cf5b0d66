"""Leave one machine type out: which variant would be chosen on the other types, and what is it
worth on the type that had no part in the choice.

A figure of the variant that is best on all sets is too high, since its choice has seen their
labels. Several sets of one type (bearing 2022 and bearing 2023) are left out together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ssdpt.data.sets import machine_type
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.variants import AblationVariant
from ssdpt.experiments.report.table_formats import Table, TableRow

TOLERANCE = 0.005
"""Of the mean score: variants this close to the best are equally good, and the simplest wins."""

Figures = Mapping[str, Mapping[str, float]]
"""Official 2022 score by variant and set."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen without one machine type."""

    left_out: str  # the machine type
    sets: tuple[str, ...]  # of this type
    variant: AblationVariant
    others: float  # its mean score over the sets of the other types


class LeaveOneTypeOut:
    """The choices over all machine types, and what they are worth."""

    def __init__(
        self,
        variants: Sequence[AblationVariant],
        sets: Sequence[str],
        figures: Figures,
        tolerance: float = TOLERANCE,
    ) -> None:
        """`figures` of some sets only are allowed: such a variant is never chosen.

        With a `tolerance` of 0 the best is chosen, however complex it is.
        """
        self.sets, self.figures, self.tolerance = tuple(sets), figures, tolerance
        self.candidates = [
            variant
            for variant in variants
            if not variant.compared and set(sets) <= set(figures.get(variant.name, {}))
        ]
        if not self.candidates:
            raise SsdptError("no variant has a score on every set, so none can be chosen")

    @property
    def types(self) -> tuple[str, ...]:
        """The machine types, sorted."""
        return tuple(sorted(set(map(machine_type, self.sets))))

    @cached_property
    def with_all(self) -> AblationVariant:
        """The variant that is chosen on all sets."""
        return self._choose(self.sets)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """One for every machine type; none if there is only one type."""
        if len(self.types) < 2:
            return ()
        choices = []
        for left_out in self.types:
            own = tuple(name for name in self.sets if machine_type(name) == left_out)
            others = [name for name in self.sets if name not in own]
            variant = self._choose(others)
            choices.append(Choice(left_out, own, variant, self._mean(variant, others)))
        return tuple(choices)

    @property
    def chosen_with(self) -> float:
        """Mean score over the sets of the variant chosen on all of them: too high."""
        return self._mean(self.with_all, self.sets)

    @property
    def chosen_without(self) -> float:
        """Mean score over the sets, each by the variant chosen without its type."""
        return float(
            np.mean(
                [
                    self.figures[choice.variant.name][name]
                    for choice in self.choices
                    for name in choice.sets
                ]
            )
        )

    def as_json(self) -> dict[str, Any]:
        """Every choice with its scores."""
        return {
            "with": {"variant": self.with_all.name, "mean": self.chosen_with},
            "without": {
                "mean": self.chosen_without,
                "types": {
                    choice.left_out: {
                        "variant": choice.variant.name,
                        "mean_of_the_other_types": choice.others,
                        "sets": {
                            name: self.figures[choice.variant.name][name] for name in choice.sets
                        },
                    }
                    for choice in self.choices
                },
            },
            "gap": self.chosen_with - self.chosen_without,
            "tolerance": self.tolerance,
            "candidates": [variant.name for variant in self.candidates],
        }

    def table(self, name: str) -> Table:
        """A row for every set, then the mean."""
        rows = [
            TableRow(
                (
                    own,
                    choice.variant.name,
                    f"{choice.others:.3f}",
                    *_values(
                        self.figures[choice.variant.name][own],
                        self.figures[self.with_all.name][own],
                    ),
                )
            )
            for choice in self.choices
            for own in choice.sets
        ]
        total = TableRow(("mean", "", "", *_values(self.chosen_without, self.chosen_with)))
        return Table(
            name,
            "Chosen without the machine type, and with it",
            (
                "set",
                "chosen on the other types",
                "mean there",
                "chosen without",
                "chosen with",
                "gap",
            ),
            (*rows, total),
            (
                f"Official 2022 score. Chosen is the simplest of the {len(self.candidates)} "
                f"variants whose mean is within {self.tolerance:g} of the best. Chosen without: on "
                f"the sets of the other machine types only; types: {', '.join(self.types)}. Chosen "
                f"with: on all sets, which gives `{self.with_all.name}`.",
            ),
        )

    def _choose(self, sets: Collection[str]) -> AblationVariant:
        """The simplest of those near the best; of equally simple ones the best."""
        means = {variant.name: self._mean(variant, sets) for variant in self.candidates}
        # Rounded: a difference of exactly the tolerance must not depend on the last bit.
        least = round(max(means.values()) - self.tolerance, 9)
        near = [variant for variant in self.candidates if round(means[variant.name], 9) >= least]
        return min(near, key=lambda variant: (variant.complexity, -means[variant.name]))

    def _mean(self, variant: AblationVariant, sets: Collection[str]) -> float:
        return float(np.mean([self.figures[variant.name][name] for name in sets]))


def _values(without: float, with_all: float) -> tuple[str, str, str]:
    return f"{without:.3f}", f"{with_all:.3f}", f"{with_all - without:+.3f}"
