"""What figures per clip mean for a machine in a plant: false alerts a week, and faults found."""

from __future__ import annotations

from collections.abc import Sequence

from ssdpt.evaluation.clips import ScoredClip
from ssdpt.evaluation.reliability import measured_rates, share

RATES = (0.1, 0.01, 0.001)
"""Shares of false alarms that a person may choose from."""
CLIPS_A_WEEK = 7 * 24 * 6  # one every ten minutes
ALL = "all"


def practice_rows(clips: Sequence[ScoredClip]) -> list[dict[str, str]]:
    """A row for each machine, and one for all if there are several; keys are headings.

    A clip is above the threshold for a rate if its p-value is below that rate.
    """
    names = list(dict.fromkeys(clip.recording.machine for clip in clips))
    groups = {name: [clip for clip in clips if clip.recording.machine == name] for name in names}
    if len(names) > 1:
        groups[ALL] = list(clips)
    return [{"machine": name, **_columns(group)} for name, group in groups.items()]


def _columns(clips: Sequence[ScoredClip]) -> dict[str, str]:
    normal = [clip.score.p_value for clip in clips if not clip.is_faulty]
    faulty = [clip.score.p_value for clip in clips if clip.is_faulty]
    columns = {}
    for rate, alerts in zip(RATES, measured_rates(normal, RATES), strict=True):
        a_week = [f"{CLIPS_A_WEEK * value:,.0f}" for value in (alerts.low, alerts.high)]
        columns[f"{share(rate)}: false alerts a week"] = (
            f"{CLIPS_A_WEEK * alerts.rate:,.0f} ({a_week[0]}–{a_week[1]})" if normal else "–"
        )
        found = sum(value < rate for value in faulty)
        columns[f"{share(rate)}: faulty clips found"] = (
            f"{found} of {len(faulty)}" if faulty else "–"
        )
    return columns
