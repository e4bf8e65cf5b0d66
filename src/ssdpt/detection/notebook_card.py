"""A detector in a notebook: what it was fitted on, its thresholds, components and size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ssdpt.common.files import printable
from ssdpt.common.numbers import Numbers
from ssdpt.data.audio import describe_rate
from ssdpt.notebook.html import block, small, table

if TYPE_CHECKING:
    from ssdpt.detection.scorer import Scorer

_MOST_SECTIONS = 20  # rows of the table
_NUMBERS = Numbers()


def scorer_html(scorer: Scorer) -> str:
    """The card of a fitted or exported detector."""
    facts = scorer.facts()
    rows = [
        ("System", scorer.system_name),
        ("Fitted on", _fitted_on(scorer, facts)),
        ("Hears", _input(scorer)),
        ("Components", ", ".join(_components(facts["system"]))),
        ("Size", _size(scorer, facts)),
        ("Thresholds", _basis(scorer)),
    ]
    left_out = len(scorer.sections) - _MOST_SECTIONS
    return block(
        f"Detector of {printable(scorer.machine)}",
        table((), [(name, text) for name, text in rows if text]),
        table(("machine ID", "normal clips", "alert above", "alarm above"), _thresholds(scorer)),
        small(f"and {left_out} further IDs" if left_out > 0 else ""),
        *(small(note) for note in (*scorer.remarks, *facts["notes"])),
    )


def _fitted_on(scorer: Scorer, facts: dict[str, Any]) -> str:
    count, clips = len(scorer.fingerprint), facts["system"].get("clips")
    cut = f", cut into {clips} clips" if clips not in (None, count) else ""
    return f"{count} normal recordings{cut}"


def _input(scorer: Scorer) -> str:
    front_end = scorer.front_end
    return (
        f"{describe_rate(scorer.sample_rate)}, {front_end.name}: {front_end.bins} values every "
        f"{_NUMBERS.figures(1000 * front_end.frame_seconds)} ms"
    )


def _components(system: dict[str, Any]) -> Iterator[str]:
    """Views or members, as the description of the system has them."""
    for views in list(system.get("section_models", {}).values())[:1]:
        for name, view in views.items():
            yield f"{name} {100 * view['weight']:.0f} %"
    if members := system.get("members"):
        yield f"{len(members)} networks, averaged"


def _size(scorer: Scorer, facts: dict[str, Any]) -> str:
    parts = []
    if parameters := facts["system"].get("parameters"):
        parts.append(f"{parameters:,} parameters")
    if scorer.model_bytes is not None:
        parts.append(f"{_NUMBERS.figures(scorer.model_bytes / 1e6)} MB")
    return ", ".join(parts)


def _basis(scorer: Scorer) -> str:
    rate, ratio = scorer.calibration.false_alarm_rate, scorer.calibration.alarm_ratio
    text = (
        f"for an alert in 1 of {_NUMBERS.figures(1 / rate)} normal clips and an alarm in 1 of "
        f"{_NUMBERS.figures(1 / (rate * ratio))}"
    )
    if provisional := scorer.provisional:
        text += f"; provisional: from {provisional}, and no other day has confirmed them"
    return text


def _thresholds(scorer: Scorer) -> Iterator[tuple[str, ...]]:
    for section in scorer.sections[:_MOST_SECTIONS]:
        alert, alarm = scorer.calibration.thresholds(section)
        clips = scorer.calibration.tail(section).clips
        name = printable(section) or "all"
        yield name, str(clips), _NUMBERS.score(alert), _NUMBERS.score(alarm)
