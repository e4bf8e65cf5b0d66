"""Fake results of experiments: random scores with known differences."""

from __future__ import annotations

import zlib

import numpy as np

from ssdpt.config.tree import load_config
from ssdpt.experiments.paper.cells import CellClip
from ssdpt.experiments.paper.results import ExperimentResults, MachineScores
from ssdpt.experiments.paper.variants import EXPERIMENTS, variants

MACHINES = ("ToyCar", "ToyTrain", "fan", "gearbox", "pump", "slider", "valve")
CONFIG = load_config("paper")
SEPARATION = 0.8  # standard deviations between the scores of normal and faulty clips


def fake_clips(machine, *, clips, sections):
    return tuple(
        CellClip(f"{section}_{domain}_{label}_{number}.wav", machine, section, domain, label)
        for section in sections
        for domain in ("source", "target")
        for label in ("normal", "anomaly")
        for number in range(clips)
    )


def fake_results(
    experiments=EXPERIMENTS,
    *,
    machines=MACHINES,
    seeds=2,
    gains=None,
    missing=lambda variant, machine, seed: False,
    without=(),
    quick=False,
    clips=12,
    sections=("00", "01", "02"),
    epochs=True,
    reconstruction=0.0,
    error_scale=100.0,
    notes=(),
    failures=None,
):
    """`gains`: change of the separation, by (variant, machine) or variant.

    Most noise of a clip is common to all variants, as in real results. `reconstruction` is the
    increase of the reconstruction error of a faulty clip, in standard deviations `error_scale`.
    """
    gains = gains or {}

    def lookup(variant, machine, seed):
        if missing(variant, machine, seed):
            return None
        members = fake_clips(machine, clips=clips, sections=sections)
        faulty = np.array([clip.label == "anomaly" for clip in members])
        common = np.random.default_rng(zlib.crc32(machine.encode()))
        specific = np.random.default_rng([seed, zlib.crc32(f"{variant} {machine}".encode())])
        gain = gains.get((variant, machine), gains.get(variant, 0.0))
        noise = common.standard_normal(len(members)) + 0.3 * specific.standard_normal(len(members))
        identity = (noise + (SEPARATION + gain) * faulty).astype(np.float32)
        error = error_scale * (common.standard_normal(len(members)) + reconstruction * faulty)
        oracle = (identity + 0.2 * faulty).astype(np.float32)
        return MachineScores(
            clips=members,
            value=identity,
            oracle=oracle if epochs else None,
            oracle_epoch=7 if epochs else None,
            parts={"identity": identity, "reconstruction": error.astype(np.float32)},
            logs=tuple(
                f"cells/{name}-{machine}-{seed}" for name in chosen[variant].members or (variant,)
            ),
        )

    chosen = {
        name: variant
        for name, variant in variants(CONFIG, experiments).items()
        if name not in without
    }
    return ExperimentResults(
        chosen, machines, range(seeds), lookup, quick=quick, notes=notes, failures=failures
    )
