"""How far a detector treats the two domains of a machine alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.evaluation.metrics import Doubles, auc, pauc
from ssdpt.evaluation.tables import Row, harmonic

_DEVIATIONS_PER_MAD = 1.4826  # of a normal distribution


@dataclass(frozen=True, slots=True)
class DomainGap:
    """The parts of the official 2022 score, harmonic means over the sections of a machine, and the
    shift of normal scores. None where clips of a kind are missing."""

    auc_source: float | None
    auc_target: float | None
    pauc: float | None
    shift: float | None
    """Median of normal target clips less that of normal source clips, in deviations of the latter;
    mean over sections. 0: one threshold suits both; far from 0: it cannot."""

    @property
    def gap(self) -> float | None:
        """AUC of the source domain less that of the target domain."""
        if self.auc_source is None or self.auc_target is None:
            return None
        return self.auc_source - self.auc_target


def domain_gap(rows: Sequence[Row]) -> DomainGap:
    """The gap from the labelled clips of one machine."""
    by_section: dict[str, list[Row]] = {}
    for row in rows:
        by_section.setdefault(row.section, []).append(row)
    sections = by_section.values()
    return DomainGap(
        auc_source=_harmonic([_auc(section, "source") for section in sections]),
        auc_target=_harmonic([_auc(section, "target") for section in sections]),
        pauc=_harmonic([pauc(_labels(section), _values(section)) for section in sections]),
        shift=_mean([_shift(section) for section in sections]),
    )


def _auc(section: Sequence[Row], domain: str) -> float:
    """2022 definition: normal clips of the domain against the anomalies of both."""
    chosen = [row for row in section if row.anomalous or row.domain == domain]
    return auc(_labels(chosen), _values(chosen))


def _shift(section: Sequence[Row]) -> float:
    source, target = (
        np.array([row.value for row in section if not row.anomalous and row.domain == domain])
        for domain in ("source", "target")
    )
    if not len(source) or not len(target):
        return float("nan")
    middle = float(np.median(source))
    deviation = _DEVIATIONS_PER_MAD * float(np.median(np.abs(source - middle)))
    return (float(np.median(target)) - middle) / deviation if deviation > 0 else float("nan")


def _labels(rows: Sequence[Row]) -> list[bool]:
    return [row.anomalous for row in rows]


def _values(rows: Sequence[Row]) -> list[float]:
    return [row.value for row in rows]


def _defined(values: Sequence[float]) -> Doubles:
    array = np.array(values, float)
    return array[np.isfinite(array)]


def _harmonic(values: Sequence[float]) -> float | None:
    defined = _defined(values)
    return float(harmonic(defined[None])[0]) if len(defined) else None


def _mean(values: Sequence[float]) -> float | None:
    defined = _defined(values)
    return float(defined.mean()) if len(defined) else None
