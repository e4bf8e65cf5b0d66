"""Draws the architecture as one picture: sound flows from the top to the bottom.

python docs/figures/architecture.py docs/images/architecture.png
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from style import ALARM, FAULTY, INK, MUTED, NORMAL, new_figure, save

_LEFT, _RIGHT, _MIDDLE = 2.4, 7.6, 5.0  # centres of the columns; the picture is 10 wide
_HALF, _WHOLE = 4.6, 9.8  # widths


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is done to the sound, and the package that does it."""

    title: str
    text: str
    package: str
    x: float
    y: float
    width: float
    colour: str


_STEPS = (
    Step(
        "recordings",
        "sound files, vibration tables,\nfolders, DCASE sets",
        "ssdpt.data",
        _LEFT,
        13.9,
        _HALF,
        MUTED,
    ),
    Step(
        "live",
        "microphones, network streams,\nfolders, HTTP, MQTT",
        "ssdpt.monitor.sources",
        _RIGHT,
        13.9,
        _HALF,
        MUTED,
    ),
    Step(
        "frames",
        "log-mel, fast envelopes, fine spectrum: 31 a second",
        "ssdpt.features",
        _MIDDLE,
        11.3,
        _WHOLE,
        NORMAL,
    ),
    Step(
        "views of every second",
        "spectrum, roughness, modulation,\nenvelope, rhythm",
        "ssdpt.features",
        _LEFT,
        8.7,
        _HALF,
        NORMAL,
    ),
    Step(
        "networks, if trained",
        "dual-path Transformers\nand others",
        "ssdpt.nn, ssdpt.training",
        _RIGHT,
        8.7,
        _HALF,
        NORMAL,
    ),
    Step(
        "score",
        "distance to the nearest normal sound; higher = more anomalous",
        "ssdpt.scoring, ssdpt.systems",
        _MIDDLE,
        6.1,
        _WHOLE,
        FAULTY,
    ),
    Step(
        "normal · alert · alarm",
        "thresholds from normal sound alone, and how long it lasts",
        "ssdpt.scoring, ssdpt.alarms",
        _MIDDLE,
        3.7,
        _WHOLE,
        ALARM,
    ),
    Step(
        "results",
        "scores, CSV, DCASE files,\nreport with pictures",
        "ssdpt.evaluation",
        _LEFT,
        1.1,
        _HALF,
        MUTED,
    ),
    Step(
        "events",
        "web page, history, messages,\nMQTT, HTTP, metrics",
        "ssdpt.monitor, ssdpt.server",
        _RIGHT,
        1.1,
        _HALF,
        MUTED,
    ),
)
_ARROWS = (  # from step, to step, at x
    (0, 2, _LEFT),
    (1, 2, _RIGHT),
    (2, 3, _LEFT),
    (2, 4, _RIGHT),
    (3, 5, _LEFT),
    (4, 5, _RIGHT),
    (5, 6, _MIDDLE),
    (6, 7, _LEFT),
    (6, 8, _RIGHT),
)


def draw(out: Path) -> None:
    """Write the picture."""
    figure = new_figure(6.6)
    axes = figure.subplots()
    for step in _STEPS:
        _draw_step(axes, step)
    for start, end, x in _ARROWS:
        begin = _STEPS[start].y - _height(_STEPS[start]) / 2
        finish = _STEPS[end].y + _height(_STEPS[end]) / 2
        axes.annotate(
            "", (x, finish), (x, begin), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.2}
        )
    axes.set(xlim=(0, 10), ylim=(-0.1, 15.1))
    axes.axis("off")
    save(figure, out)


def _height(step: Step) -> float:
    return 1.3 + 0.42 * (1 + step.text.count("\n"))


def _draw_step(axes: Axes, step: Step) -> None:
    height = _height(step)
    left, top = step.x - step.width / 2, step.y + height / 2
    axes.add_patch(
        FancyBboxPatch(
            (left, top - height),
            step.width,
            height,
            boxstyle="round,pad=0,rounding_size=0.15",
            facecolor="white",
            edgecolor=step.colour,
            linewidth=1.3,
        )
    )
    axes.text(step.x, top - 0.22, step.title, ha="center", va="top", weight="bold", fontsize=10)
    axes.text(step.x, top - 0.75, step.text, ha="center", va="top", linespacing=1.15)
    axes.text(step.x, top - height + 0.15, step.package, ha="center", color=step.colour, fontsize=8)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
