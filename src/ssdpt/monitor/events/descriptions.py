"""What events say: one sentence each, for page, mail, MQTT and webhooks.

The name of the machine is shown beside it, so no sentence repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DRIFT = "The normal sound has changed slowly; accept it, or learn a new baseline"
_CLEAR_DB = 3.0  # smaller differences of the level are not mentioned


def anomaly(operating_point: str, difference_db: float | None) -> str:
    """`operating_point`: its name, or empty; `difference_db`: level against the usual one."""
    at_point = f" at {operating_point}" if operating_point else ""
    level = ""
    if difference_db is not None and abs(difference_db) >= _CLEAR_DB:
        direction = "louder" if difference_db > 0 else "quieter"
        level = f", {abs(difference_db):.0f} dB {direction} than usual"
    return f"Unusual sound{at_point}{level}"


def level_difference(recent_dbfs: Sequence[float], usual_dbfs: float | None) -> float | None:
    """The median recent level against the usual one, in dB; None where that is not known."""
    if usual_dbfs is None or not recent_dbfs:
        return None
    return float(np.median(recent_dbfs)) - usual_dbfs
