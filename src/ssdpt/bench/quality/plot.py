"""The scores of all systems by set, as a picture."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from ssdpt.bench.quality.results import QualityResults
from ssdpt.evaluation.plots import FAULTY, INK, MUTED, NORMAL, REFERENCES, svg_plot

_COLOURS = (NORMAL, FAULTY, *REFERENCES, INK)
_MARKERS = ("o", "s", "D", "^", "v", "P")
_LINE = 0.17  # inches of height for a system


def scores_by_set(results: QualityResults) -> str:
    """Inline SVG: a band per set and for the mean, a line per system in it."""
    names = [*results.data.machines, "mean"]
    systems = results.rows

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        lowest = 0.45
        for number, row in enumerate(systems):
            estimates = [
                *(
                    (place, row.sets[name].official)
                    for place, name in enumerate(names[:-1])
                    if name in row.sets
                ),
                *([(len(names) - 1, row.official)] if row.official is not None else []),
            ]
            offset = (number - (len(systems) - 1) / 2) * 0.8 / max(len(systems), 3)
            colour = _COLOURS[number % len(_COLOURS)]
            for index, (place, estimate) in enumerate(estimates):
                height = place + offset
                axes.plot(
                    [estimate.low, estimate.high],
                    [height] * 2,
                    color=colour,
                    alpha=0.45,
                    linewidth=2,
                )
                axes.plot(
                    estimate.value,
                    height,
                    _MARKERS[number % len(_MARKERS)],
                    color=colour,
                    markersize=5,
                    label=f"{row.system.label}, {row.system.fitted}" if index == 0 else None,
                )
                lowest = min(lowest, estimate.low)
        for edge in range(1, len(names)):
            axes.axhline(edge - 0.5, color=MUTED, linewidth=1.2 if edge == len(names) - 1 else 0.3)
        axes.axvline(0.5, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.set_xlim(max(0.0, lowest - 0.02), 1.0)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_locator(MultipleLocator(0.1))
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("official 2022 score (line: 95 % interval)")
        figure.legend(loc="outside upper left", ncols=2, handletextpad=0.2)

    height = 0.9 + 0.2 * ((len(systems) + 1) // 2) + len(names) * (0.15 + _LINE * len(systems))
    return svg_plot(draw, 6.4, height, "Official 2022 score by set and system")
