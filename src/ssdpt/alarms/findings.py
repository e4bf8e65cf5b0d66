"""What has changed in a machine's sound: codes and numbers, which outputs and languages word.

A finding compares now with the baseline. All wording of this side is here: English as events store
it, or any other language that translates its phrases; the page has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from ssdpt.common.numbers import Numbers
from ssdpt.diagnosis.lines import LineKind, NamedLine

FindingCode = Literal["level", "band", "tone", "knocks", "modulation"]
_NAMED_AT_MOST = 3  # findings in a sentence


class Words(Protocol):
    """A language: the translations of English phrases, and numbers as its readers write them."""

    @property
    def numbers(self) -> Numbers:
        """How it writes numbers."""

    def text(self, sentence: str, /, **values: object) -> str:
        """The translation of an English phrase, with `{name}` replaced by its value."""


class English:
    """The language that events are stored in."""

    numbers = Numbers()

    def text(self, sentence: str, /, **values: object) -> str:
        """The phrase itself."""
        return sentence.format(**values)


ENGLISH = English()


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
    lines: tuple[NamedLine, ...] = Field(
        (),
        description="Lines of the machine it lies on, the nearest first; empty where it lies on "
        "none, or the speed is not known.",
    )

    @property
    def text(self) -> str:
        """In English, for example `new tone at 130 Hz, 30 dB above normal`."""
        return self.worded(ENGLISH)

    def worded(self, words: Words) -> str:
        """In a language."""
        return self.change_worded(words) + _on_lines(self, words)

    def change_worded(self, words: Words) -> str:
        """In a language, without the lines of the machine that it lies on."""
        return _WORDING[self.code](self, words)


def describe(findings: Sequence[Finding], words: Words = ENGLISH) -> str:
    """The most important findings in one phrase; empty where there are none."""
    phrases = []
    named: set[tuple[str, str]] = set()  # each line once: one fault is heard in several places
    for finding in findings[:_NAMED_AT_MOST]:
        keys = {(line.kind, line.part) for line in finding.lines}
        phrases.append(finding.change_worded(words) if keys & named else finding.worded(words))
        named |= keys
    return "; ".join(phrases)


def line_text(line: NamedLine, words: Words = ENGLISH) -> str:
    """Such as `the outer race of bearing drive end (BPFO, 108 Hz, 2 harmonics)`."""
    short = _ABBREVIATIONS.get(line.kind, "")
    facts = [words.numbers.hertz(line.hz)]
    if short:
        facts.insert(0, short if line.multiple == 1 else f"{line.multiple} × {short}")
    elif line.multiple > 1:
        facts.append(words.text("{count} times", count=line.multiple))
    if line.sideband:
        facts.append(words.text("sideband {number}", number=f"{line.sideband:+d}"))
    if line.harmonics == 1:
        facts.append(words.text("1 harmonic"))
    elif line.harmonics:
        facts.append(words.text("{count} harmonics", count=line.harmonics))
    name = words.text(_LINE_NAMES[line.kind], part=line.part).strip()
    return f"{name} ({', '.join(facts)})"


_LINE_NAMES: dict[LineKind, str] = {
    "shaft": "the shaft speed",
    "bpfo": "the outer race of bearing {part}",
    "bpfi": "the inner race of bearing {part}",
    "bsf": "a rolling element of bearing {part}",
    "ftf": "the cage of bearing {part}",
    "mesh": "the gear mesh {part}",
    "blade": "the blade pass",
}
_ABBREVIATIONS: dict[LineKind, str] = {"bpfo": "BPFO", "bpfi": "BPFI", "bsf": "BSF", "ftf": "FTF"}


def _on_lines(finding: Finding, words: Words) -> str:
    texts = [line_text(line, words) for line in finding.lines]
    if not texts:
        return ""
    if len(texts) == 1:
        return words.text(", on the line of {line}", line=texts[0])
    return words.text(", on the line of {line} or {other}", line=texts[0], other=texts[1])


def _level(finding: Finding, words: Words) -> str:
    phrase = "{db} dB quieter than normal" if _falls(finding) else "{db} dB louder than normal"
    return words.text(phrase, db=_decibels(finding, words))


def _band(finding: Finding, words: Words) -> str:
    phrase = "weaker from {band}" if _falls(finding) else "stronger from {band}"
    return words.text(phrase, band=_band_text(finding, words)) + _above(finding, words)


def _tone(finding: Finding, words: Words) -> str:
    phrase = "new tone at {frequency}" if finding.new else "stronger tone at {frequency}"
    frequency = words.numbers.hertz(finding.hz or 0.0)
    return words.text(phrase, frequency=frequency) + _above(finding, words)


def _knocks(finding: Finding, words: Words) -> str:
    kind = words.text("new knocks" if finding.new else "stronger knocks")
    rate = _rate(finding, ", {rate} per second", words)
    return kind + rate + _in_band(finding, words) + _above(finding, words)


def _modulation(finding: Finding, words: Words) -> str:
    kind = words.text("strength rises and falls")
    rate = _rate(finding, ", {rate} times per second", words)
    return kind + rate + _in_band(finding, words) + _above(finding, words)


_WORDING = {
    "level": _level,
    "band": _band,
    "tone": _tone,
    "knocks": _knocks,
    "modulation": _modulation,
}


def _falls(finding: Finding) -> bool:
    return (finding.db or 0) < 0


def _rate(finding: Finding, phrase: str, words: Words) -> str:
    if finding.per_second is None:
        return ""
    return words.text(phrase, rate=words.numbers.figures(finding.per_second))


def _band_text(finding: Finding, words: Words) -> str:
    """Such as `2.5 to 3.2 kHz`, `800 Hz to 1.3 kHz`."""
    low, high = words.numbers.band(finding.low_hz or 0.0, finding.high_hz or 0.0)
    return words.text("{low} to {high}", low=low, high=high)


def _in_band(finding: Finding, words: Words) -> str:
    if finding.low_hz is None:
        return ""
    return words.text(", from {band}", band=_band_text(finding, words))


def _above(finding: Finding, words: Words) -> str:
    if finding.db is None:
        return ""
    phrase = ", {db} dB below normal" if finding.db < 0 else ", {db} dB above normal"
    return words.text(phrase, db=_decibels(finding, words))


def _decibels(finding: Finding, words: Words) -> str:
    return words.numbers.fixed(abs(finding.db or 0.0))
