"""A score as plain values and as a row of a table: what is printed, and what is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdpt.types import Score

COLUMNS = (
    *("path", "machine", "section", "level", "value", "threshold", "p_value"),
    *("parts", "notes"),
)


def as_json(score: Score, with_timeline: bool) -> dict[str, Any]:
    """A score as plain values; higher = more anomalous."""
    content: dict[str, Any] = {
        "path": score.path,
        "machine": score.machine,
        "section": score.section,
        "level": score.level,
        "value": score.value,
        "threshold": score.threshold,
        "p_value": score.p_value,
        "parts": dict(score.parts),
        "notes": list(score.notes),
    }
    if with_timeline:
        line = score.timeline
        content["timeline"] = {
            "start_s": line.start.tolist(),
            "duration_s": line.duration,
            "value": line.value.tolist(),
            "parts": {name: part.tolist() for name, part in line.parts.items()},
        }
    return content


def as_row(score: Score) -> list[Any]:
    """The cells of a score, one for each of COLUMNS; numbers stay numbers."""
    content = as_json(score, False)
    content["parts"] = json.dumps(content["parts"])
    content["notes"] = "; ".join(score.notes)
    return [content[name] for name in COLUMNS]
