"""The variants of an ablation: the recipe without one component each, and systems to compare.

`CHANGES` is the whole list: every change that applies to the recipe becomes a row of the result.
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
    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # dotted names, override the recipe
    without: tuple[str, str] | None = None  # a setting that is a list, and the item to remove
    networks: bool = False  # applies only to recipes with networks


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
    Change("one-network", "one network per input", {"multiview.networks": 1}, networks=True),
    Change("equal-weights", "equal weights for all views", {"texture.weights": "equal"}),
    Change("no-emphasis", "machine IDs' differences not emphasised", {"texture.emphasis": False}),
    Change("own-spread", "only the machine's own spread", {"texture.reference_clips": 0}),
    Change("no-density", "distances not divided by density", {"texture.density": False}),
    Change(
        "domains-together", "references of both domains together", {"texture.domains": "together"}
    ),
    Change(
        "section-classes",
        "networks trained on machine IDs only, without attributes",
        {"multiview.network.classes": "section"},
        networks=True,
    ),
    Change(
        "reconstruction",
        "networks also trained to reconstruct (α = 1)",
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
    """The variants of the recipe `config`: all, or those named; always with the full recipe.

    A change that does not apply to this recipe is left out. The published recipe trains for hours
    and is included only on request.
    """
    valid = [change.name for change in CHANGES]
    for name in names:
        if name not in valid:
            raise SsdptError(f"no variant is called '{name}'; there are {', '.join(valid)}")
    wanted = {FULL, *(names or (name for name in valid if name != PUBLISHED))}
    wanted |= {PUBLISHED} if published else set()
    chosen = []
    for change in CHANGES:
        if change.name not in wanted:
            continue
        settings = _settings(change, config)
        if settings is not None:
            chosen.append(Variant(change.name, change.label, settings))
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
