"""How all figures look: light, few colours, and large enough to be read on a phone.

A page on a phone is about 360 pixels wide. A figure of 5 inches there has 72 pixels per inch, so
letters of 9 points are 9 pixels high.
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

WIDTH = 5.0  # inches
DOTS = 140  # per inch: no wider than the text of a page
INK, MUTED, GRID = "#16202a", "#5a6772", "#dfe4e8"
NORMAL, FAULTY, ALERT, ALARM = "#0067a8", "#c2410c", "#b87a00", "#a8123a"
OTHERS = ("#7a4fa3", "#00796b", "#5f6b12")  # rules and detectors to compare with
_SETTINGS = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "grid.color": GRID,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def new_figure(height: float) -> Figure:
    """An empty figure of this height in inches."""
    matplotlib.rcParams.update(_SETTINGS)
    return Figure(figsize=(WIDTH, height), layout="constrained")


def save(figure: Figure, out: Path) -> None:
    """Write the figure as a small PNG."""
    out.parent.mkdir(parents=True, exist_ok=True)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=DOTS)
    # 128 colours make half of the file; chosen by coverage, a small dot keeps its own.
    few = Image.open(picture).convert("RGB").quantize(128, Image.Quantize.MAXCOVERAGE)
    few.save(out, optimize=True)


def in_hertz(axes: Axes) -> None:
    """A logarithmic axis of frequencies or rates, with 100 and 1k instead of powers of ten."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticks = [t * 10.0**power for power in range(-1, 5) for t in (1, 2, 5)]
    ticks = [t for t in ticks if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" if t < 1000 else f"{t / 1000:g}k" for t in ticks])
    axes.minorticks_off()
