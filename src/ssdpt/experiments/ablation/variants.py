"""The variants of an ablation: the recipe without one component each, candidates, and systems to
compare.

`CHANGES` is the whole list: every change that applies to the recipe becomes a row of the result.
Candidates are changes that are given on the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from ssdpt.config.tree import Config, parse_override, with_overrides
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.variants import Variant
from ssdpt.features.views import UNTRAINED
from ssdpt.systems import system_class

FULL = "full"
PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the recipe.

    `complexity` counts components more (or, below zero, fewer) than in the full recipe: a view, a
    weighting and a step of the scoring count 1, a network, which must be trained, counts 3.
    """

    name: str
    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # dotted names, override the recipe
    without: tuple[str, str] | None = None  # a setting that is a list, and the item to remove
    networks: bool = False  # applies only to recipes with networks
    complexity: int = 0
    compared: bool = False  # another system, which is never chosen as the recipe


@dataclass(frozen=True, slots=True)
class AblationVariant(Variant):
    """A row of the table; the less complex one is chosen of two that are equally good."""

    complexity: int = 0
    compared: bool = False


def _without_view(name: str) -> Change:
    return Change(
        f"without-{name}", f"without the {name}", without=("texture.views", name), complexity=-1
    )


def _without_input(name: str) -> Change:
    return Change(
        f"without-{name}",
        f"without the {name} networks",
        without=("multiview.inputs", name),
        networks=True,
        complexity=-6,
    )


CHANGES = (
    Change(FULL, "the full recipe"),
    *map(_without_view, UNTRAINED),
    *map(_without_input, ("steady", "moving")),
    Change(
        "without-networks",
        "without any network (system texture)",
        {"system": "texture"},
        networks=True,
        complexity=-12,
    ),
    Change("networks-alone", "networks alone", {"texture.views": []}, networks=True, complexity=-4),
    Change(
        "one-network",
        "one network per input",
        {"multiview.networks": 1},
        networks=True,
        complexity=-6,
    ),
    Change(
        "whole-clips",
        "every clip described as a whole, not second by second",
        {"texture.seconds": None},
        complexity=-1,
    ),
    Change(
        "own-spread",
        "only the machine's own spread",
        {"texture.reference_clips": 0},
        complexity=-1,
    ),
    Change(
        "no-density",
        "distances not divided by density",
        {"texture.density": False},
        complexity=-1,
    ),
    Change(
        "domains-apart",
        "references of the two domains apart, with a scale each",
        {"texture.domains": "apart"},
        complexity=1,
    ),
    Change(
        "section-classes",
        "networks trained on machine IDs only, without attributes",
        {"multiview.network.classes": "section"},
        networks=True,
        complexity=-1,
    ),
    Change(
        "reconstruction",
        "networks also trained to reconstruct (α = 1)",
        {"multiview.network.alpha": 1.0},
        networks=True,
        complexity=1,
    ),
    Change(
        "gaussian",
        "for comparison: one Gaussian (system gmm)",
        {"system": "gmm", "gmm.components": 1, "gmm.time_weight": 1.0, "gmm.oversample": False},
        compared=True,
    ),
    Change(
        PUBLISHED,
        "for comparison: the published recipe (preset paper)",
        {"system": "ssdpt"},
        compared=True,
    ),
)


def parse_settings(text: str) -> tuple[str, dict[str, Any]]:
    """`few: texture.views=[spectrum, modulation], texture.neighbours=4` as a name and settings."""
    name, colon, settings = text.partition(":")
    name = name.strip()
    if not colon or not re.fullmatch(r"[\w.+-]+", name) or "=" not in settings:
        raise SsdptError(
            f"'{text}' is not of the form `NAME: setting=value, setting=value`, e.g. "
            "`few: texture.views=[spectrum, modulation], texture.neighbours=4`; a name is one word"
        )
    # A comma inside a value, as in [spectrum, envelope], is not followed by `name=`.
    items = re.split(r"[,;\s]+(?=[\w.]+\s*=)", settings.strip().rstrip(",;"))
    return name, dict(parse_override(item) for item in items)


def parse_candidate(text: str) -> Change:
    """Named settings as a change of the recipe.

    `complexity=-2` among the settings says how much simpler it is than the full recipe, in
    components; without it, it counts as equally complex.
    """
    name, values = parse_settings(text)
    complexity = values.pop("complexity", 0)
    if not isinstance(complexity, int) or isinstance(complexity, bool):
        raise SsdptError(
            f"candidate {name}: complexity is a whole number, e.g. complexity=-1 for one component "
            "fewer than the full recipe"
        )
    shown = ", ".join(f"{setting}={value}" for setting, value in values.items())
    return Change(name, f"{name} ({shown})", values, complexity=complexity)


def ablation_variants(
    config: Config,
    names: Sequence[str] = (),
    *,
    candidates: Sequence[Change] = (),
    published: bool = False,
) -> list[AblationVariant]:
    """The variants of the recipe `config`: all, or those named; always with the full recipe.

    A change that does not apply to this recipe is left out, unless it is named or a candidate. The
    published recipe trains for hours and is included only on request.
    """
    valid = [change.name for change in CHANGES]
    for name in names:
        if name not in valid:
            raise SsdptError(f"no variant is called '{name}'; there are {', '.join(valid)}")
    taken = set(valid)
    for candidate in candidates:
        if candidate.name in taken:
            raise SsdptError(
                f"candidate {candidate.name}: there is a variant of this name; choose another"
            )
        taken.add(candidate.name)
    wanted = {FULL, *(names or (name for name in valid if name != PUBLISHED))}
    wanted |= {PUBLISHED} if published else set()
    chosen = []
    for change in (*(change for change in CHANGES if change.name in wanted), *candidates):
        settings = _settings(change, config)
        if settings is not None:
            chosen.append(
                AblationVariant(
                    change.name,
                    change.label,
                    settings,
                    complexity=change.complexity,
                    compared=change.compared,
                )
            )
        elif change in candidates:
            raise SsdptError(
                f"candidate {change.name}: it is the full recipe; change a setting or leave it out"
            )
        elif change.name in names:
            raise SsdptError(
                f"variant {change.name}: this recipe (system {config.system}) has no such "
                "component; omit the variant or the --set"
            )
    return chosen


def _settings(change: Change, config: Config) -> Mapping[str, Any] | None:
    """The settings that override `config`; None if the recipe has no such component."""
    if change.networks and not system_class(config.system).trains_networks:
        return None
    settings = change.settings
    if change.without is not None:
        name, member = change.without
        settings = {name: [item for item in attrgetter(name)(config) if item != member]}
        if not settings[name]:
            return None
    same = with_overrides(config, dict(settings)) == config
    return None if same and change.name != FULL else settings
