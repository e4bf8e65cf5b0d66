"""How each statement of the paper is tested; the statements are in `paper_values.yaml`.

A comparison of two variants is their paired difference with a 95 % interval over resampled test
clips and seeds. "Best" means ahead of the strongest rival. A printed value is reached if the
interval lies above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ssdpt.evaluation.metrics import Estimate
from ssdpt.experiments.claims import beta_evidence as betas
from ssdpt.experiments.claims.beta_evidence import BetaCurves
from ssdpt.experiments.claims.evidence import Evidence, Part
from ssdpt.experiments.claims.printed_verdicts import (
    PrintedVerdict,
    no_numbers,
    printed_parameters,
    table_one,
    table_two,
)
from ssdpt.experiments.claims.published import Printed, published
from ssdpt.experiments.paper.parameter_counts import parameter_table
from ssdpt.experiments.paper.variants import MASKS, PATCHES, block_name, mask_name, patch_name

_BEST = ("mnv2-lof", "wavenet-ensemble")
_BASELINES = ("ae", "mnv2")
_NETWORKS = ("ssdpt-noaux", "ssdpt", "ssdpt-ensemble")
_AUC: tuple[Printed, ...] = ("h_auc",)
_PAUC: tuple[Printed, ...] = ("h_pauc",)
_BOTH = _AUC + _PAUC
_MASKS = tuple(mask_name(label) for label in MASKS)
_PATCHES = tuple(patch_name(*patch) for patch in PATCHES)
_ONE, _TWO, _THREE = (block_name(blocks, 64) for blocks in (1, 2, 3))
_LONG, _LONGEST = block_name(3, 128), block_name(3, 256)

Source = TypeVar("Source")


@dataclass(frozen=True, slots=True)
class Check(Generic[Source]):
    """How a statement is tested: on the paper's printed numbers, and on measured results."""

    experiment: str
    printed: Callable[[], PrintedVerdict]
    tested: str
    parts: Callable[[Source], Sequence[Part]]


def _ahead(
    better: Sequence[str],
    worse: Sequence[str],
    measures: Sequence[Printed] = _AUC,
    machines: Sequence[str] = ("",),
) -> Callable[[Evidence], list[Part]]:
    """Each variant of `better` is ahead of all of `worse`; the strongest rival is shown."""
    return lambda evidence: [
        evidence.ahead_of_all(name, [rival for rival in worse if rival != name], measure, machine)
        for measure in measures
        for machine in machines
        for name in better
    ]


def _steps(
    steps: Sequence[tuple[str, str]], machines: Sequence[str] = ("",)
) -> Callable[[Evidence], list[Part]]:
    return lambda evidence: [
        evidence.ahead(one, other, "h_auc", machine) for machine in machines for one, other in steps
    ]


def _reached(name: str) -> Callable[[Evidence], list[Part]]:
    return lambda evidence: [
        evidence.reaches(name, getattr(published().table_one[name], m), m) for m in _BOTH
    ]


def _patch_depends(evidence: Evidence) -> list[Part]:
    """The machine type for which the overall best setting is beaten by the largest margin."""
    overall_best = evidence.best(_PATCHES)
    if overall_best is None or len(evidence.machines) < 2:  # one type cannot differ from all
        return []
    parts = [
        evidence.ahead(other, overall_best, "h_auc", machine)
        for machine in evidence.machines
        for other in _PATCHES
        if other != overall_best
    ]
    measured = [part for part in parts if part.margin is not None]
    return sorted(measured, key=lambda part: part.value)[-1:]


def _loses_somewhere(evidence: Evidence) -> list[Part]:
    """For each longer segment, the machine type that loses most by it."""
    worst = []
    for longer in (_LONG, _LONGEST):
        parts = [evidence.ahead(_THREE, longer, "h_auc", name) for name in evidence.machines]
        measured = [part for part in parts if part.margin is not None]
        worst += sorted(measured, key=lambda part: part.value)[-1:]
    return worst


def _parameters(_: Evidence) -> list[Part]:
    """Counted, not estimated: the interval has no width."""
    counted = parameter_table()[0]
    printed = published().table_two[_ONE].parameters
    difference = float(printed - counted["all"])
    what = (
        f"printed {printed:,}, in fact {counted['all']:,} "
        f"({counted['paper_count']:,} without the attention's projections)"
    )
    return [Part(what, Estimate(difference, difference, difference), counted=True)]


_GROWING = ((_TWO, _ONE), (_THREE, _TWO))
_OTHERS = ("ToyCar", "ToyTrain", "fan", "pump", "slider", "valve")  # all types but gearbox
_NO_INTERVAL = "no intervals are given, so significance is unknown"
_ITSELF = "nothing else in the paper to compare it with"

STATEMENTS: Mapping[str, Check[Evidence]] = {
    "baselines-surpassed": Check(
        "main",
        table_one(_BEST, _BASELINES, _BOTH, _NO_INTERVAL),
        "each of the two against the stronger baseline",
        _ahead(_BEST, _BASELINES, _BOTH),
    ),
    "networks-over-best-auc": Check(
        "main",
        table_one(_NETWORKS, _BEST, _AUC),
        "each of the three networks against the stronger of the two",
        _ahead(_NETWORKS, _BEST),
    ),
    "networks-over-best-pauc": Check(
        "main",
        table_one(_NETWORKS, _BEST, _PAUC),
        "each of the three networks against the stronger of the two",
        _ahead(_NETWORKS, _BEST, _PAUC),
    ),
    "networks-over-baselines": Check(
        "main",
        table_one(_NETWORKS, _BASELINES, _BOTH),
        "each of the three networks against the stronger baseline",
        _ahead(_NETWORKS, _BASELINES, _BOTH),
    ),
    "ssdpt-over-best-auc": Check(
        "main",
        table_one(("ssdpt",), _BEST, _AUC),
        "against the stronger of MNv2-LOF and WaveNet-ensemble",
        _ahead(("ssdpt",), _BEST),
    ),
    "ssdpt-over-best-pauc": Check(
        "main",
        table_one(("ssdpt",), _BEST, _PAUC),
        "against the stronger of MNv2-LOF and WaveNet-ensemble",
        _ahead(("ssdpt",), _BEST, _PAUC),
    ),
    "ssdpt-value": Check(
        "main",
        no_numbers("Table II gives 0.720, the harmonic mean of the same machine types"),
        "arithmetic mean over the seven machine types, less the printed value",
        _reached("ssdpt"),
    ),
    "ensemble-over-ssdpt": Check(
        "main",
        table_one(("ssdpt-ensemble",), ("ssdpt",), _BOTH, _NO_INTERVAL),
        "paired difference",
        _ahead(("ssdpt-ensemble",), ("ssdpt",), _BOTH),
    ),
    "ensemble-value": Check(
        "main",
        no_numbers(_ITSELF),
        "arithmetic mean over the seven machine types, less the printed value",
        _reached("ssdpt-ensemble"),
    ),
    "wavenet-toytrain-fan": Check(
        "main",
        no_numbers(),
        "against the strongest of all other systems of Table I",
        _ahead(
            ("wavenet-ensemble",),
            (*_BASELINES, *_BEST, *_NETWORKS),
            machines=("ToyTrain", "fan"),
        ),
    ),
    "lof-gearbox": Check(
        "main",
        no_numbers(),
        "against the strongest of all other systems of Table I",
        _ahead(("mnv2-lof",), (*_BASELINES, *_BEST, *_NETWORKS), machines=("gearbox",)),
    ),
    "networks-toycar-slider-valve": Check(
        "main",
        no_numbers(),
        "SSDPT and the ensemble against the strongest of the four other systems",
        _ahead(
            ("ssdpt", "ssdpt-ensemble"),
            (*_BASELINES, *_BEST),
            machines=("ToyCar", "slider", "valve"),
        ),
    ),
    "ensemble-toycar-gearbox-valve": Check(
        "main",
        no_numbers(),
        "paired difference for each type",
        _ahead(("ssdpt-ensemble",), ("ssdpt",), machines=("ToyCar", "gearbox", "valve")),
    ),
    "noaux-value": Check(
        "main",
        no_numbers(_ITSELF),
        "arithmetic mean over the seven machine types, less the printed value",
        _reached("ssdpt-noaux"),
    ),
    "auxiliary-helps": Check(
        "main",
        table_one(("ssdpt",), ("ssdpt-noaux",), _BOTH, _NO_INTERVAL),
        "against SSDPT without the task, and against the same with masks",
        _ahead(("ssdpt",), ("ssdpt-noaux", "ssdpt-noaux-masked"), _BOTH),
    ),
    "patch-best-overall": Check(
        "masking",
        no_numbers("two sentences on, ToyCar and ToyTrain are given to no masking"),
        "PM against the strongest other method, over all types together",
        _ahead((mask_name("PM"),), _MASKS),
    ),
    "patch-best-machines": Check(
        "masking",
        no_numbers(),
        "PM against the strongest other method for each type",
        _ahead((mask_name("PM"),), _MASKS, machines=("fan", "gearbox", "pump", "slider")),
    ),
    "unmasked-best-machines": Check(
        "masking",
        no_numbers(),
        "NM against the strongest other method for each type",
        _ahead((mask_name("NM"),), _MASKS, machines=("ToyCar", "ToyTrain")),
    ),
    "stripes-hurt": Check(
        "masking",
        no_numbers(),
        "no masking against each of the three, over all types together",
        _steps([(mask_name("NM"), mask_name(label)) for label in ("TM", "FM", "SpecAugment")]),
    ),
    "patch-three-five-overall": Check(
        "patches",
        no_numbers(),
        "against the strongest other setting, over all types together",
        _ahead((patch_name(3, 5),), _PATCHES),
    ),
    "patch-three-five-machines": Check(
        "patches",
        no_numbers(),
        "against the strongest other setting for each type",
        _ahead((patch_name(3, 5),), _PATCHES, machines=("pump", "slider", "valve")),
    ),
    "patch-three-ten-machines": Check(
        "patches",
        no_numbers(),
        "against the strongest other setting for each type",
        _ahead((patch_name(3, 10),), _PATCHES, machines=("fan", "gearbox")),
    ),
    "patch-depends": Check(
        "patches",
        no_numbers(),
        "the setting best over all types is beaten for a type; the largest lead of any setting, "
        "chosen on the test labels and so too favourable",
        _patch_depends,
    ),
    "long-segments-help": Check(
        "blocks",
        table_two(((_LONG, _THREE),), ("ToyCar", "ToyTrain", "valve"), _NO_INTERVAL),
        "P = 128 against 64 for each type, M = 3",
        _steps(((_LONG, _THREE),), ("ToyCar", "ToyTrain", "valve")),
    ),
    "long-segments-not-everywhere": Check(
        "blocks",
        table_two(((_THREE, _LONG), (_THREE, _LONGEST))),
        "P = 64 against 128 and 256: the machine type that loses most by the longer one, chosen on "
        "the test labels and so too favourable",
        _loses_somewhere,
    ),
    "blocks-help-overall": Check(
        "blocks",
        table_two(_GROWING),
        "M = 2 against 1 and 3 against 2, over all types together",
        _steps(_GROWING),
    ),
    "blocks-help-machines": Check(
        "blocks",
        table_two(_GROWING, _OTHERS),
        "M = 2 against 1 and 3 against 2, for each type but gearbox",
        _steps(_GROWING, _OTHERS),
    ),
    "two-blocks-gearbox": Check(
        "blocks",
        table_two(((_TWO, _ONE), (_TWO, _THREE)), ("gearbox",)),
        "M = 2 against 1 and 3",
        _steps(((_TWO, _ONE), (_TWO, _THREE)), ("gearbox",)),
    ),
    "one-block-value": Check(
        "blocks",
        no_numbers("0.032 below three blocks, and below MNv2-LOF; no bound for comparable"),
        "harmonic mean over the seven machine types, less the printed value",
        lambda evidence: [
            evidence.reaches(_ONE, published().table_two[_ONE].all, "h_auc", "harmonic")
        ],
    ),
    "one-block-parameters": Check(
        "blocks",
        printed_parameters,
        "parameters of the network itself: the printed count less the true one",
        _parameters,
    ),
    "dpt-over-best": Check(
        "main",
        table_one(("ssdpt-noaux",), _BEST, _BOTH),
        "SSDPT without the auxiliary task against the stronger of the two",
        _ahead(("ssdpt-noaux",), _BEST, _BOTH),
    ),
    "robust-representations": Check(
        "main",
        no_numbers("no measure is named"),
        "not tested: the paper names no measure of robustness",
        lambda _: [],
    ),
}

BETA_STATEMENTS: Mapping[str, Check[BetaCurves]] = {
    "beta-stable": Check(
        "beta",
        no_numbers(),
        f"values in this range differ by less than {betas.STEADY:g}, a bound chosen here",
        betas.stable,
    ),
    "beta-declines": Check(
        "beta", no_numbers(), "β = 0.001 against 0.002 and 0.005", betas.declines
    ),
    "beta-range": Check(
        "beta",
        no_numbers(),
        "best β in the range against the best outside it, including 0",
        betas.range_is_best,
    ),
    "beta-machines-differ": Check(
        "beta",
        no_numbers(),
        "height of the highest box (quartiles over β) less that of the lowest",
        betas.machines_differ,
    ),
    "beta-gearbox-valve": Check(
        "beta",
        no_numbers(),
        "height of each box less the mean height of the other types",
        betas.more_susceptible("h_auc", ("gearbox", "valve"), 1),
    ),
    "beta-toycar-gearbox-slider": Check(
        "beta",
        no_numbers(),
        "mean height of the other types' boxes less that of each",
        betas.more_susceptible("h_pauc", ("ToyCar", "gearbox", "slider"), -1),
    ),
    "beta-adjusted": Check(
        "beta",
        no_numbers(),
        "the largest gain of a type's best β over 0.001, chosen on the test labels and so too "
        "favourable",
        betas.machine_specific_beta_helps,
    ),
}
