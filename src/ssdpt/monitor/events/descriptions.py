"""What events say: one sentence each, for page, mail, MQTT and webhooks.

The name of the machine is shown beside it, so no sentence repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssdpt.alarms.findings import Finding, describe

DRIFT = "The normal sound has changed slowly; accept it, or learn a new baseline"
QUESTION = (
    "Sounds different from the recordings it learned from, steadily since the start: is it healthy?"
)
_CLEAR_DB = 3.0  # smaller differences of the level are not mentioned


def anomaly(
    operating_point: str, difference_db: float | None, findings: Sequence[Finding] = ()
) -> str:
    """Such as `Unusual sound at half load: new tone at 130 Hz, 30 dB above normal`.

    `operating_point`: its name, or empty; `difference_db`: level against the usual one, mentioned
    where nothing else was found.
    """
    at_point = f" at {operating_point}" if operating_point else ""
    if findings:
        return f"Unusual sound{at_point}: {describe(findings)}"
    level = ""
    if difference_db is not None and abs(difference_db) >= _CLEAR_DB:
        direction = "louder" if difference_db > 0 else "quieter"
        level = f", {abs(difference_db):.0f} dB {direction} than usual"
    return f"Unusual sound{at_point}{level}"


def with_findings(message: str, before: Sequence[Finding], now: Sequence[Finding]) -> str:
    """The message of an event that named the findings of `before`, with those of `now`."""
    if not now:
        return message
    named = f": {describe(before)}" if before else ""
    return f"{message.removesuffix(named)}: {describe(now)}"


def level_difference(recent_dbfs: Sequence[float], usual_dbfs: float | None) -> float | None:
    """The median recent level against the usual one, in dB; None where that is not known."""
    if usual_dbfs is None or not recent_dbfs:
        return None
    return float(np.median(recent_dbfs)) - usual_dbfs


def change(axis: str, findings: Sequence[Finding], *, vibration: bool) -> str:
    """What snapshots show: `axis` has changed most; empty where it has no name."""
    noun = "Unusual vibration" if vibration else "Unusual sound"
    on_axis = f" on axis {axis}" if axis else ""
    what = describe(findings)
    return f"{noun}{on_axis}{f': {what}' if what else ''}"
