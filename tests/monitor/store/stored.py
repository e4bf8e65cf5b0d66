"""Readings and events for the tests of stores."""

from __future__ import annotations

from ssdpt.monitor.types import Event, Reading

BEGIN = 1_700_002_800.0  # a whole hour


def readings(machine, begin, scores, state="normal"):
    """One a second; None is a second in which nothing is judged."""
    return [
        Reading(machine, begin + n, state, -30.0, score, score, 0.5)
        for n, score in enumerate(scores)
    ]


def event(number=0, **changes):
    values = {
        "id": f"{number:032x}",
        "machine": "fan-1",
        "kind": "anomaly",
        "level": "alert",
        "began": BEGIN + number,
        "words": "Louder than ever between 1 and 2 kHz.",
    }
    return Event(**(values | changes))
