"""The compared variants: every row of the paper's tables and every bar of its figures, by name.

A variant is a set of settings that override the preset, or the fusion of other variants' scores.
Two variants with the same settings are the same network, which is trained once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.systems.ssdpt import SsdptEnsembleConfig
from ssdpt.systems.wavenet import WaveNetConfig

EXPERIMENTS = ("main", "masking", "patches", "blocks", "beta")
BETAS = (0.0, 0.0005, 0.0006, 0.0008, 0.001, 0.0015, 0.002, 0.003, 0.005)

BLOCKS = ((1, 64), (2, 64), (3, 64), (3, 128), (3, 256))
"""(M, P) of the rows of Table II."""

MASKS = {"NM": "none", "TM": "time", "FM": "frequency", "SpecAugment": "specaugment", "PM": "patch"}
PATCHES = tuple((count, size) for count in (1, 3, 5) for size in (5, 10, 15))
"""k squares of r × r, written k*r² in the paper, which names 3*5² and 3*10² only."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of a table."""

    name: str
    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # dotted names, override the preset
    members: tuple[str, ...] = ()  # names of the variants it fuses; it trains nothing itself
    part: str = ""  # use this stored part of the score instead of the score
    note: str = ""


def variants(config: Config, experiments: Sequence[str]) -> dict[str, Variant]:
    """Every variant of these experiments by name; members come before their ensemble."""
    unknown = [name for name in experiments if name not in EXPERIMENTS]
    if unknown:
        raise SsdptError(
            f"no experiment is called '{unknown[0]}'; there are {', '.join(EXPERIMENTS)}"
        )
    by_experiment = {
        "main": main_variants(config),
        "masking": mask_variants(),
        "patches": patch_variants(),
        "blocks": block_variants(),
        "beta": [_SSDPT],
    }
    return {variant.name: variant for name in experiments for variant in by_experiment[name]}


_SSDPT = Variant("ssdpt", "SSDPT", {"system": "ssdpt"})


def main_variants(config: Config) -> list[Variant]:
    """Table I, additional rows of this project, and the members of the ensembles."""
    networks = [
        Variant(
            f"wavenet-{number}",
            f"WaveNet {number}",
            {
                "system": "wavenet-ensemble",
                "wavenet.members": [member.model_dump()],
            },
            note="a member of the ensemble",
        )
        for number, member in enumerate(config.part(WaveNetConfig).members, start=1)
    ]
    transformers = [
        Variant(
            f"ssdpt-{member.blocks}-{member.frames}-{member.mask}",
            f"SSDPT ({member.blocks}, {member.frames}), mask {member.mask}",
            {
                "system": "ssdpt",
                "ssdpt.blocks": member.blocks,
                "ssdpt.frames": member.frames,
                "ssdpt.mask.kind": member.mask,
            },
            note="a member of the ensemble",
        )
        for member in config.part(SsdptEnsembleConfig).members
    ]
    return [
        Variant("ae", "Baseline-AE", {"system": "ae"}),
        Variant("mnv2", "Baseline-MNv2", {"system": "mnv2"}, note="score: mean of −log p"),
        Variant(
            "mnv2-log-odds",
            "Baseline-MNv2, log((1−p)/p)",
            {"system": "mnv2"},
            part="log-odds",
            note="the same networks, another score",
        ),
        Variant(
            "mnv2-dcase",
            "Baseline-MNv2, the DCASE code's score",
            {"system": "mnv2"},
            part="dcase",
            note="the same networks, log((1−p) − log p)",
        ),
        Variant("mnv2-lof", "MNv2-LOF", {"system": "mnv2-lof"}),
        *networks,
        Variant(
            "wavenet-ensemble",
            "WaveNet-ensemble",
            members=tuple(network.name for network in networks),
        ),
        Variant("ssdpt-noaux", "SSDPT (w/o auxiliary task)", {"system": "ssdpt-noaux"}),
        Variant(
            "ssdpt-noaux-masked",
            "SSDPT (w/o auxiliary task), masks on",
            {"system": "ssdpt", "ssdpt.alpha": 0.0, "ssdpt.beta": 0.0},
            note="the paper does not say whether masks stay",
        ),
        _SSDPT,
        *transformers,
        Variant(
            "ssdpt-ensemble",
            "SSDPT-ensemble",
            members=tuple(transformer.name for transformer in transformers),
        ),
        Variant("gmm", "Gaussian mixture (gmm)", {"system": "gmm"}, note="not in the paper"),
    ]


TABLE_ONE = (
    *("ae", "mnv2", "mnv2-log-odds", "mnv2-dcase", "mnv2-lof", "wavenet-ensemble"),
    *("ssdpt-noaux", "ssdpt-noaux-masked", "ssdpt", "ssdpt-ensemble", "gmm"),
)
"""The rows of Table I in order; the paper has seven of them."""


def mask_variants() -> list[Variant]:
    """The masking figure."""
    return [
        Variant(mask_name(label), label, {"system": "ssdpt", "ssdpt.mask.kind": kind})
        for label, kind in MASKS.items()
    ]


def patch_variants() -> list[Variant]:
    """The figure of number and size of the patch masks."""
    return [
        Variant(
            patch_name(count, size),
            f"{count}*{size}²",
            {
                "system": "ssdpt",
                "ssdpt.mask.kind": "patch",
                "ssdpt.mask.patches": count,
                "ssdpt.mask.patch_size": size,
            },
        )
        for count, size in PATCHES
    ]


def block_variants() -> list[Variant]:
    """Table II."""
    return [
        Variant(
            block_name(blocks, frames),
            f"M = {blocks}, P = {frames}",
            {"system": "ssdpt", "ssdpt.blocks": blocks, "ssdpt.frames": frames},
        )
        for blocks, frames in BLOCKS
    ]


def mask_name(label: str) -> str:
    return f"mask-{label}"


def patch_name(count: int, size: int) -> str:
    return f"patch-{count}x{size}"


def block_name(blocks: int, frames: int) -> str:
    return f"blocks-{blocks}-{frames}"
