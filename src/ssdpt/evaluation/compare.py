"""`ssdpt compare`: two models on the same clips, and whether their difference is significant."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError
from ssdpt.evaluation.clips import LeftOut, choose_clips, count, score_clips
from ssdpt.evaluation.metrics import RESAMPLES, Doubles, Estimate
from ssdpt.evaluation.tables import Draws, Row, estimate, machine_draws
from ssdpt.notebook.html import block, table_of
from ssdpt.version import __version__

if TYPE_CHECKING:
    from ssdpt.data.layouts import Dataset
    from ssdpt.fleet.fleet import Fleet


@dataclass(frozen=True, slots=True)
class Difference:
    """One machine, or all: the metrics of A and B, and B − A on the same resamples."""

    machine: str
    clips: int
    auc_a: Estimate
    auc_b: Estimate
    auc_difference: Estimate
    pauc_a: Estimate
    pauc_b: Estimate
    pauc_difference: Estimate


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences per machine and overall, and what they mean."""

    names: tuple[str, str]
    machines: tuple[Difference, ...]
    overall: Difference
    left_out: tuple[LeftOut, ...]
    seed: int

    def _repr_html_(self) -> str:
        """The verdict and the table, in a notebook."""
        return block(self.verdict, table_of(self.summary_rows()))

    @property
    def verdict(self) -> str:
        """The result in sentences."""
        sentences = [_sentence(self.overall, self.names)]
        if len(self.machines) > 1:
            for name, sign in zip(self.names, (-1, 1), strict=True):
                better = [x.machine for x in self.machines if _clear_sign(x.auc_difference) == sign]
                if better:
                    sentences.append(f"{name} is clearly better on {', '.join(better)}.")
            unclear = [x.machine for x in self.machines if not _clear_sign(x.auc_difference)]
            if unclear:
                sentences.append(f"No clear difference on {', '.join(unclear)}.")
        return " ".join(sentences)

    def summary_rows(self) -> list[dict[str, str]]:
        """A row of text per machine and, for several machines, one for all; keys are headings."""
        rows = [*self.machines, *([self.overall] if len(self.machines) > 1 else [])]
        a, b = self.names
        return [
            {
                "machine": row.machine,
                "clips": str(row.clips),
                f"AUC {a}": f"{row.auc_a.value:.3f}",
                f"AUC {b}": f"{row.auc_b.value:.3f}",
                "AUC difference": _signed(row.auc_difference),
                f"pAUC {a}": f"{row.pauc_a.value:.3f}",
                f"pAUC {b}": f"{row.pauc_b.value:.3f}",
                "pAUC difference": _signed(row.pauc_difference),
            }
            for row in rows
        ]

    def as_json(self) -> dict[str, Any]:
        """Everything except the names of the clips left out."""
        return {
            "ssdpt": __version__,
            "models": list(self.names),
            "difference": "second minus first",
            "seed": self.seed,
            "machines": [dataclasses.asdict(row) for row in self.machines],
            "overall": dataclasses.asdict(self.overall),
            "left_out": [
                {"reason": left.reason, "clips": len(left.names)} for left in self.left_out
            ],
            "verdict": self.verdict,
        }


def compare(
    fleet_a: Fleet,
    fleet_b: Fleet,
    dataset: Dataset,
    *,
    names: tuple[str, str] = ("A", "B"),
    seed: int = 0,
    reporter: Reporter = SILENT,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare two models on labelled clips that neither of them was trained on.

    AUC and pAUC are arithmetic means over sections and domains (2021 definition). Both models are
    evaluated on the same resampled clips, so common variation cancels in the interval.
    """
    if names[0] == names[1]:
        names = (f"{names[0]} (first)", f"{names[1]} (second)")
    recordings, left_out = choose_clips(dataset, [fleet_a, fleet_b], reporter=reporter)
    first, failed_a = score_clips(fleet_a, recordings, reporter=reporter)
    # Only clips that both models can score are compared.
    second, failed_b = score_clips(fleet_b, [clip.recording for clip in first], reporter=reporter)
    kept = {clip.recording for clip in second}
    first = [clip for clip in first if clip.recording in kept]
    left_out += [*failed_a, *failed_b]
    for left in left_out:
        reporter.say(str(left))

    rows: dict[str, tuple[list[Row], list[Row]]] = {}
    for a, b in zip(first, second, strict=True):
        rows_a, rows_b = rows.setdefault(a.recording.machine, ([], []))
        rows_a.append(a.row)
        rows_b.append(b.row)
    differences, draws = [], []
    for machine, (rows_a, rows_b) in rows.items():
        pair = tuple(
            machine_draws(side, seed=seed, resamples=resamples) for side in (rows_a, rows_b)
        )
        if pair[0].auc.shape[1] == 0:
            reporter.warn(f"{machine}: no section has both normal and faulty clips; left out")
            continue
        draws.append((pair[0], pair[1]))
        differences.append(_difference(machine, len(rows_a), draws[-1:]))
    if not differences:
        reasons = "; ".join(f"{len(left.names):,} {left.reason}" for left in left_out)
        raise SsdptError(
            "Nothing to compare: no machine has both normal and faulty clips that are new to both "
            f"models ({reasons or 'nothing was left out'}); provide labelled clips of both kinds"
        )
    total = sum(difference.clips for difference in differences)
    return Comparison(
        names=names,
        machines=tuple(differences),
        overall=_difference("all", total, draws),
        left_out=tuple(left_out),
        seed=seed,
    )


def _difference(machine: str, clips: int, draws: Sequence[tuple[Draws, Draws]]) -> Difference:
    def mean(side: int, measure: str) -> Doubles:
        return np.hstack([getattr(pair[side], measure) for pair in draws]).mean(axis=1)

    auc_a, auc_b, pauc_a, pauc_b = (mean(side, m) for m in ("auc", "pauc") for side in (0, 1))
    return Difference(
        machine=machine,
        clips=clips,
        auc_a=estimate(auc_a),
        auc_b=estimate(auc_b),
        auc_difference=estimate(auc_b - auc_a),
        pauc_a=estimate(pauc_a),
        pauc_b=estimate(pauc_b),
        pauc_difference=estimate(pauc_b - pauc_a),
    )


def _clear_sign(difference: Estimate) -> int:
    """1 or −1 if the whole interval lies on that side of zero, else 0."""
    return int(difference.low > 0) - int(difference.high < 0)


def _sentence(row: Difference, names: tuple[str, str]) -> str:
    sign = _clear_sign(row.auc_difference)
    result = f"AUC difference {_signed(row.auc_difference)} on {count(row.clips, 'clip')}"
    if sign == 0:
        return f"No clear difference between {names[0]} and {names[1]}: {result}."
    return f"{names[sign > 0]} is better than {names[sign < 0]}: {result}."


def _signed(difference: Estimate) -> str:
    return f"{difference.value:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})"
