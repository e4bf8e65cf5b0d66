"""Scores with other weights β of the reconstruction error, from stored parts, without training."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ssdpt.config.tree import Config
from ssdpt.experiments.paper.results import ExperimentResults, MachineScores
from ssdpt.experiments.paper.variants import BETAS, Variant
from ssdpt.systems.ssdpt import SsdptConfig

SSDPT = "ssdpt"


def beta_name(beta: float) -> str:
    return f"beta-{beta:g}"


def rescored(
    results: ExperimentResults, config: Config, error: Literal["mean", "sum"]
) -> ExperimentResults:
    """The scores of system ssdpt for every β; variants are named by `beta_name`.

    The error of a segment is the mean over its P × F points, or their sum, so β has a different
    meaning in each case. `config` says which of them the stored parts hold.
    """
    betas = {beta_name(beta): beta for beta in BETAS}
    size = float(config.part(SsdptConfig).frames * config.features.n_mels)
    scale = (size if error == "sum" else 1.0) / (
        size if config.part(SsdptConfig).error == "sum" else 1.0
    )

    def lookup(variant: str, machine: str, seed: int) -> MachineScores | None:
        scores = results.scores(SSDPT, machine, seed)
        if scores is None:
            return None
        weight = betas[variant] * scale
        value = scores.parts["identity"] + weight * scores.parts["reconstruction"]
        return replace(scores, value=value, oracle=None, oracle_epoch=None)

    variants = {
        name: Variant(name, f"β = {beta:g}", note="re-scored") for name, beta in betas.items()
    }
    return ExperimentResults(
        variants, results.machines, results.seeds, lookup, quick=results.quick, notes=results.notes
    )
