"""What is taken out of the recipe, one ingredient at a time, and what it is compared with.

This table is the whole list: a row of the result for every change that applies to the recipe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from ssdpt.config.tree import Config, with_overrides
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.variants import Variant
from ssdpt.systems import system_class

FULL = "full"
PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the recipe."""

    name: str
    words: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # dotted names, over the recipe's
    without: tuple[str, str] | None = None  # the setting that is a list, and what goes from it
    networks: bool = False  # means something only where there are networks


CHANGES = (
    Change(FULL, "the full recipe"),
    Change("without-spectrum", "without the spectrum", without=("texture.views", "spectrum")),
    Change("without-roughness", "without the roughness", without=("texture.views", "roughness")),
    Change("without-modulation", "without the modulation", without=("texture.views", "modulation")),
    Change("without-envelope", "without the envelope", without=("texture.views", "envelope")),
    Change(
        "without-steady",
        "without the steady networks",
        without=("multiview.inputs", "steady"),
        networks=True,
    ),
    Change(
        "without-moving",
        "without the moving networks",
        without=("multiview.inputs", "moving"),
        networks=True,
    ),
    Change(
        "without-networks",
        "without any network (system texture)",
        {"system": "texture"},
        networks=True,
    ),
    Change("networks-alone", "networks alone", {"texture.views": []}, networks=True),
    Change("one-network", "one network an input", {"multiview.networks": 1}, networks=True),
    Change("equal-weights", "all views count alike", {"texture.weights": "equal"}),
    Change("no-emphasis", "machine IDs' differences not emphasised", {"texture.emphasis": False}),
    Change("own-spread", "the machine's own spread alone", {"texture.reference_clips": 0}),
    Change("no-density", "distances not divided by density", {"texture.density": False}),
    Change(
        "domains-together", "references of both domains together", {"texture.domains": "together"}
    ),
    Change(
        "section-classes",
        "networks taught machine IDs alone, no attributes",
        {"multiview.network.classes": "section"},
        networks=True,
    ),
    Change(
        "reconstruction",
        "networks taught to reconstruct as well (α = 1)",
        {"multiview.network.alpha": 1.0},
        networks=True,
    ),
    Change(
        "gaussian",
        "for comparison: one Gaussian (system gmm)",
        {"system": "gmm", "gmm.components": 1, "gmm.time_weight": 1.0, "gmm.oversample": False},
    ),
    Change(PUBLISHED, "for comparison: the published recipe (preset paper)", {"system": "ssdpt"}),
)


def ablation_variants(
    config: Config, names: Sequence[str] = (), *, published: bool = False
) -> list[Variant]:
    """The variants of the recipe `config`: all, or those named; the full recipe is among them.

    A change of what this recipe does not have is left out. The published recipe trains for hours
    and is there only where it is asked for.
    """
    known = [change.name for change in CHANGES]
    for name in names:
        if name not in known:
            raise SsdptError(f"no variant is called '{name}'; there are {', '.join(known)}")
    wanted = {FULL, *(names or (name for name in known if name != PUBLISHED))}
    wanted |= {PUBLISHED} if published else set()
    chosen = []
    for change in CHANGES:
        if change.name not in wanted:
            continue
        settings = _settings(change, config)
        if settings is not None:
            chosen.append(Variant(change.name, change.words, settings))
        elif change.name in names:
            raise SsdptError(
                f"variant {change.name}: this recipe (system {config.system}) has nothing of the "
                "kind to change; leave the variant or the --set out"
            )
    return chosen


def _settings(change: Change, config: Config) -> Mapping[str, Any] | None:
    """What to lay over `config`; None where the recipe has no such ingredient."""
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
