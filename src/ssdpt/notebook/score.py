"""A score in a notebook: its level in words, and the timeline with the threshold."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from ssdpt.common.files import printable
from ssdpt.common.numbers import Numbers
from ssdpt.notebook.html import BLUE, LEVEL_COLOURS, ORANGE, block, line, small
from ssdpt.notebook.svg import Plot, round_ticks
from ssdpt.types import Floats, Score, Timeline

_HEIGHT = 170
_MOST_BARS = 300  # of a long recording, a bar shows the highest score of its stretch
_RAREST = 0.001  # no fit has the clips to tell smaller shares apart
_WORDS = {
    "normal": "Normal: below the threshold",
    "alert": "Alert: unusual sound, above the threshold",
    "alarm": "Alarm: very unusual sound, far above the threshold",
}
_NUMBERS = Numbers()


def score_html(score: Score) -> str:
    """The level, the timeline, and what the score is made of."""
    name = printable(PurePath(score.path).name)
    of = f"{printable(score.machine)}" + (f", ID {printable(score.section)}" * bool(score.section))
    numbers = (
        f"Score {_NUMBERS.score(score.value)}, threshold {_NUMBERS.score(score.threshold)}; "
        f"{_share(score.p_value)}."
    )
    parts = ", ".join(f"{name} {_NUMBERS.score(value)}" for name, value in score.parts.items())
    return block(
        f"{name} ({of})",
        line(f"{_WORDS[score.level]}."),
        line(numbers),
        _timeline_svg(score) if len(score.timeline.value) else "",
        small("Dashed: the threshold. Orange: above it." + (f" Parts: {parts}." if parts else "")),
        *(small(note) for note in score.notes),
        colour=LEVEL_COLOURS[score.level],
    )


def _share(p_value: float) -> str:
    """How rare the score is among normal clips."""
    if p_value >= 1:
        return "every normal clip scores as high"
    if p_value > 0.5:
        return "most normal clips score as high"
    if p_value < _RAREST:
        return f"fewer than 1 of {_NUMBERS.fixed(1 / _RAREST)} normal clips score as high"
    return f"1 of {_NUMBERS.fixed(1 / p_value)} normal clips scores as high"


def _timeline_svg(score: Score) -> str:
    begin, end, values = _bars(score.timeline)
    shown = values[np.isfinite(values)]
    low = float(min(0.0, score.threshold, shown.min(initial=0.0)))
    high = float(max(score.threshold, shown.max(initial=0.0)))
    spare = 0.12 * ((high - low) or 1.0)
    plot = Plot((0.0, float(end[-1])), (low - spare * (low < 0), high + spare), _HEIGHT)
    for first, last, value in zip(begin, end, values, strict=True):
        if np.isfinite(value):
            colour = ORANGE if value > score.threshold else BLUE
            plot.bar(float(first), float(last), float(value), colour)
    plot.level(score.threshold)
    plot.x_axis(round_ticks(0.0, float(end[-1]), 10), "seconds")
    plot.y_axis(round_ticks(low, high + spare, 5))
    return plot.svg(f"Score over time: {len(values)} values from 0 to {end[-1]:.0f} seconds")


def _bars(timeline: Timeline) -> tuple[Floats, Floats, Floats]:
    """Begin and end in seconds, and height, of every bar.

    Segments may overlap: a bar ends where the next segment begins.
    """
    count = len(timeline.start)
    begin = timeline.start
    last = float(begin[-1]) + timeline.duration
    firsts = np.unique(
        np.arange(_MOST_BARS) * count // _MOST_BARS if count > _MOST_BARS else np.arange(count)
    )
    edges = np.append(begin[firsts], np.float32(last))
    return edges[:-1], edges[1:], np.maximum.reduceat(timeline.value, firsts)
