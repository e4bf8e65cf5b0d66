"""What events say: one sentence each, for page, notifications, MQTT and webhooks.

The name of the machine is shown beside it, so no sentence repeats it. Events store it in English;
`cause` says it in the language of whoever is notified.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ssdpt.alarms.findings import Finding, Words, describe
from ssdpt.alarms.operating_points import title_worded
from ssdpt.alarms.source_health import CLIPPING, LOST, SILENT, UNUSABLE
from ssdpt.common.numbers import Numbers
from ssdpt.monitor.messages import Event
from ssdpt.sentences import Sentence

DRIFT = Sentence("events.drift")
QUESTION = Sentence("events.question")
_SENTENCES = (DRIFT, LOST, SILENT, CLIPPING, UNUSABLE)
# What `anomaly` and `change` write where nothing was found.
_UNUSUAL = re.compile(
    r"Unusual (?P<what>sound|vibration)"
    r"(?: at (?P<point>.+?)| on axis (?P<axis>.+?))?"
    r"(?:, (?P<db>\d+) dB (?P<direction>louder|quieter) than usual)?"
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
        level = f", {Numbers().fixed(abs(difference_db))} dB {direction} than usual"
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


def cause(event: Event, words: Words) -> str:
    """Why there is an event, in a language: its most important finding, or its message."""
    if event.findings:
        return event.findings[0].worded(words)
    for sentence in _SENTENCES:
        if event.message.startswith(sentence):
            return words.text(sentence) + event.message.removeprefix(sentence)
    unusual = _UNUSUAL.fullmatch(event.message)
    return event.message if unusual is None else _unusual(unusual, words)


def _unusual(parts: re.Match[str], words: Words) -> str:
    text = words.text("Unusual sound" if parts["what"] == "sound" else "Unusual vibration")
    if parts["point"]:
        text += words.text(" at {point}", point=title_worded(parts["point"], words))
    if parts["axis"]:
        text += words.text(" on axis {axis}", axis=parts["axis"])
    if parts["direction"] == "louder":
        text += words.text(", {db} dB louder than usual", db=parts["db"])
    elif parts["direction"]:
        text += words.text(", {db} dB quieter than usual", db=parts["db"])
    return text
