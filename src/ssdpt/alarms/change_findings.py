"""What a change of the condition indicators is, as findings: level, bands, knocks."""

from __future__ import annotations

import numpy as np

from ssdpt.alarms.change_score import DEFAULT_LIMITS, Change, ChangeReason
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.indicator_baseline import IndicatorBaseline, levels_of
from ssdpt.features.indicators import Indicators

_BANDS_NAMED: dict[ChangeReason, int] = {"band": 1, "sudden": 1, "two_bands": 2, "three_bands": 3}
_KNOCKING = float(np.log(4.0))  # log kurtosis from which on there were knocks before


def change_findings(
    change: Change, step: Indicators, baseline: IndicatorBaseline, edges: np.ndarray
) -> tuple[Finding, ...]:
    """What has changed with `step`, the cause of the score first.

    `edges` (bands + 1,) of the bands in Hz. Levels are compared with the usual ones.
    """
    if not change.reason:
        return ()
    levels = levels_of(step)
    above_usual = levels - baseline.usual_db  # (1 + bands,) dB
    louder = Finding(code="level", db=round(float(above_usual[0]), 1))
    findings: list[Finding] = []
    if change.reason == "level":
        findings.append(louder)
    elif change.reason == "knocks":
        findings.append(_knocks(change.band, baseline, edges))
    else:
        above_highest = (levels - baseline.highest_db)[1:]
        loudest = np.argsort(above_highest)[::-1][: _BANDS_NAMED[change.reason]].tolist()
        if change.band is not None and change.band not in loudest:
            loudest = [change.band, *loudest[:-1]]
        findings += [_band(band, float(above_usual[1 + band]), edges) for band in loudest]
    if change.reason != "level" and levels[0] - baseline.highest_db[0] > DEFAULT_LIMITS.level.alert:
        findings.append(louder)
    return tuple(findings)


def _band(band: int, db: float, edges: np.ndarray) -> Finding:
    return Finding(
        code="band",
        db=round(db, 1),
        low_hz=round(float(edges[band]), 1),
        high_hz=round(float(edges[band + 1]), 1),
    )


def _knocks(band: int | None, baseline: IndicatorBaseline, edges: np.ndarray) -> Finding:
    number = 0 if band is None else 1 + band
    new = bool(baseline.highest_log_kurtosis[number] < _KNOCKING)
    if band is None:
        return Finding(code="knocks", new=new)
    low, high = edges[band], edges[band + 1]
    return Finding(
        code="knocks", low_hz=round(float(low), 1), high_hz=round(float(high), 1), new=new
    )
