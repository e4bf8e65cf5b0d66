"""What has changed in a machine's sound: codes and numbers, which outputs and languages word.

A finding compares now with the baseline. `describe` is the English wording; the page has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

FindingCode = Literal["level", "band", "tone", "knocks", "modulation"]
_NAMED_AT_MOST = 3  # findings in a sentence


class Finding(BaseModel):
    """One thing that differs from the baseline; numbers that do not apply are null."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )

    code: FindingCode
    db: float | None = Field(None, description="Above the baseline; below 0: under it.")
    hz: float | None = Field(None, description="Of a tone.")
    low_hz: float | None = Field(None, description="Of the band that changed, knocks or pulses.")
    high_hz: float | None = None
    per_second: float | None = Field(
        None, description="How often it knocks, or how fast its strength goes up and down."
    )
    new: bool = Field(False, description="Whether the baseline has no such tone, knocks or pulses.")

    @property
    def text(self) -> str:
        """In English, for example `new tone at 130 Hz, 30 dB above normal`."""
        return _TEXTS[self.code](self)


def describe(findings: Sequence[Finding]) -> str:
    """The most important findings in one phrase; empty where there are none."""
    return "; ".join(finding.text for finding in findings[:_NAMED_AT_MOST])


def _level(finding: Finding) -> str:
    return f"{_decibels(finding.db)} {'quieter' if (finding.db or 0) < 0 else 'louder'} than normal"


def _band(finding: Finding) -> str:
    direction = "weaker" if (finding.db or 0) < 0 else "stronger"
    return f"{direction} from {_band_text(finding)}{_above(finding)}"


def _tone(finding: Finding) -> str:
    return f"{'new' if finding.new else 'stronger'} tone at {_hertz(finding.hz)}{_above(finding)}"


def _knocks(finding: Finding) -> str:
    rate = "" if finding.per_second is None else f", {finding.per_second:.3g} per second"
    kind = "new" if finding.new else "stronger"
    return f"{kind} knocks{rate}{_in_band(finding)}{_above(finding)}"


def _modulation(finding: Finding) -> str:
    rate = "" if finding.per_second is None else f", {finding.per_second:.3g} times per second"
    return f"strength rises and falls{rate}{_in_band(finding)}{_above(finding)}"


_TEXTS = {
    "level": _level,
    "band": _band,
    "tone": _tone,
    "knocks": _knocks,
    "modulation": _modulation,
}


def _band_text(finding: Finding) -> str:
    """Such as `2.5 to 3.2 kHz`, `800 Hz to 1.3 kHz`."""
    low, high = (float(f"{hz or 0.0:.2g}") for hz in (finding.low_hz, finding.high_hz))
    same_unit = (low < 1000) == (high < 1000)
    first = _hertz(low).split()[0] if same_unit else _hertz(low)
    return f"{first} to {_hertz(high)}"


def _in_band(finding: Finding) -> str:
    return "" if finding.low_hz is None else f", from {_band_text(finding)}"


def _above(finding: Finding) -> str:
    if finding.db is None:
        return ""
    return f", {_decibels(finding.db)} {'below' if finding.db < 0 else 'above'} normal"


def _decibels(value: float | None) -> str:
    return f"{abs(value or 0.0):.0f} dB"


def _hertz(value: float | None) -> str:
    hz = value or 0.0
    return f"{hz:.0f} Hz" if hz < 1000 else f"{hz / 1000:.3g} kHz"
