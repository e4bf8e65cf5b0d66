"""Other weights of the reconstruction error, from the stored parts: nothing is trained again."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ssdpt.config.tree import Config
from ssdpt.experiments.paper.results import MachineScores, Results
from ssdpt.experiments.paper.variants import BETAS, Variant
from ssdpt.systems.ssdpt import SsdptConfig

SSDPT = "ssdpt"


def beta_name(beta: float) -> str:
    return f"beta-{beta:g}"


def rescored(results: Results, config: Config, error: Literal["mean", "sum"]) -> Results:
    """The scores of system ssdpt under every β; variants are called by `beta_name`.

    The error of a segment is its mean over P × F points, or their sum: β means something else in
    each. `config` says which of them the stored parts hold.
    """
    betas = {beta_name(beta): beta for beta in BETAS}
    size = float(config.part(SsdptConfig).frames * config.features.n_mels)
    scale = (size if error == "sum" else 1.0) / (
        size if config.part(SsdptConfig).error == "sum" else 1.0
    )

    def lookup(variant: str, machine: str, seed: int) -> MachineScores | None:
        found = results.scores(SSDPT, machine, seed)
        if found is None:
            return None
        weight = betas[variant] * scale
        value = found.parts["identity"] + weight * found.parts["reconstruction"]
        return replace(found, value=value, oracle=None, oracle_epoch=None)

    variants = {
        name: Variant(name, f"β = {beta:g}", note="re-scored") for name, beta in betas.items()
    }
    return Results(
        variants, results.machines, results.seeds, lookup, quick=results.quick, notes=results.notes
    )
