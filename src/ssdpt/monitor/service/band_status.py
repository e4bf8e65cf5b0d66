"""The frequency bands of a machine against their limits, as shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ssdpt.alarms.change_score import DEFAULT_LIMITS
from ssdpt.alarms.indicator_baseline import IndicatorBaseline
from ssdpt.monitor.messages import BandStatus
from ssdpt.types import Floats


def band_statuses(
    baseline: IndicatorBaseline | None, edges: Floats, now_db: Sequence[float]
) -> tuple[BandStatus, ...]:
    """The bands between `edges` (bands + 1,) in Hz; `now_db` is empty while nothing arrives."""
    if baseline is None:
        return ()
    now = now_db or [np.nan] * (len(edges) - 1)
    return tuple(
        BandStatus(
            low_hz=round(float(low), 1),
            high_hz=round(float(high), 1),
            now_db=level,
            usual_db=round(float(usual), 2),
            alert_db=round(float(highest) + limit.alert, 2),
            alarm_db=round(float(highest) + limit.alarm, 2),
        )
        for (low, high), level, usual, highest, limit in zip(
            pairwise(edges),
            now,
            baseline.usual_db[1:],
            baseline.highest_db[1:],
            DEFAULT_LIMITS.of_bands(),
            strict=True,
        )
    )
