"""Times and changes of a run in words."""

from __future__ import annotations

from ssdpt.alarms.change_score import ChangeReason
from ssdpt.alarms.findings import describe
from ssdpt.evaluation.run_to_failure.run_outcome import RunOutcome

_REASONS: dict[ChangeReason, str] = {
    "": "",
    "level": "louder as a whole",
    "band": "louder in one band",
    "two_bands": "louder in two bands",
    "three_bands": "louder in three or more bands",
    "sudden": "suddenly louder",
    "knocks": "knocks",
}


def life_percent(share: float | None) -> str:
    """A share of the life in per cent; a dash for none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def duration(seconds: float | None) -> str:
    """In the unit that suits it; a dash for none."""
    if seconds is None:
        return "–"
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def findings_text(outcome: RunOutcome) -> str:
    """What had changed at the first alarm: tones, bands, knocks; empty where there was none."""
    return describe(outcome.findings)


def change_text(outcome: RunOutcome) -> str:
    """By which rule the first alarm came, and in which band."""
    verdict = outcome.first_alarm
    if verdict is None:
        return "–"
    reason, band = verdict.change.reason, verdict.change.band
    if band is None:
        return _REASONS[reason]
    edges = outcome.measured.edges_hz
    return f"{_REASONS[reason]}, most from {edges[band]:.0f} to {edges[band + 1]:.0f} Hz"
