"""The report's plots as SVG with the colours of the page, light or dark."""

from __future__ import annotations

import io
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from ssdpt.evaluation.examples import Example
from ssdpt.evaluation.metrics import MAX_FALSE_POSITIVE_RATE, Doubles, Estimate, Rates, roc
from ssdpt.evaluation.reliability import CURVE, RATES, Reliability, share
from ssdpt.evaluation.spectrogram import draw_spectrogram
from ssdpt.evaluation.tables import Row
from ssdpt.evaluation.web_page import inline_svg

# Placeholder colours for matplotlib; `inline_svg` replaces each by a CSS variable of the page.
INK, MUTED, GRID, PANEL = "#010203", "#010204", "#010205", "#010206"
NORMAL, FAULTY = "#010207", "#010208"
REFERENCES = ("#010209", "#01020a", "#01020b")
_VARIABLES = {
    **{INK: "--ink", MUTED: "--muted", GRID: "--grid", PANEL: "--panel"},
    **{NORMAL: "--normal", FAULTY: "--faulty"},
    **{colour: f"--reference-{index}" for index, colour in enumerate(REFERENCES)},
}
_MARKERS = ("s", "D", "^")


def style(ink: str, muted: str, grid: str) -> dict[Any, Any]:
    """Matplotlib settings shared by all plots, with these colours."""
    return {
        "svg.fonttype": "none",
        "text.parse_math": False,  # the name of a machine may contain dollar signs
        "font.size": 9,
        "axes.edgecolor": muted,
        "axes.labelcolor": ink,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": ink,
        "ytick.labelcolor": ink,
        "text.color": ink,
        "grid.color": grid,
        "grid.linewidth": 0.7,
        "legend.frameon": False,
        "legend.fontsize": 8,
    }


_STYLE = {**style(INK, MUTED, GRID), "savefig.transparent": True}
_BARS = 40


def overview(
    machines: Mapping[str, Estimate], references: Mapping[str, Mapping[str, Estimate | None]]
) -> str:
    """AUC of every machine with its 95 % interval, and of the reference detectors."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = np.arange(len(machines))[::-1]
        for place, auc in zip(places, machines.values(), strict=True):
            axes.plot([auc.low, auc.high], [place, place], color=NORMAL, linewidth=3, alpha=0.5)
            axes.plot(
                auc.value,
                place,
                "o",
                color=NORMAL,
                markersize=7,
                label="this model" if place == places[0] else None,
            )
        for index, (name, values) in enumerate(references.items()):
            points = [
                (area.value, place)
                for place, machine in zip(places, machines, strict=True)
                if (area := values.get(machine)) is not None
            ]
            axes.plot(
                *zip(*points, strict=True),
                _MARKERS[index % len(_MARKERS)],
                color=REFERENCES[index % len(REFERENCES)],
                markerfacecolor="none",
                label=name,
            )
        axes.axvline(0.5, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.text(0.5, len(machines) - 0.45, "chance", ha="center", va="bottom", color=MUTED)
        lowest = min(
            [0.45]
            + [auc.low for auc in machines.values()]
            + [x.value for values in references.values() for x in values.values() if x is not None]
        )
        axes.set_xlim(max(0.0, lowest - 0.03), 1.01)
        axes.set_ylim(-0.6, len(machines) - 0.4)
        axes.set_yticks(places, list(machines))
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_locator(MultipleLocator(0.1))
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("AUC (line: 95 % interval)")
        if references:
            figure.legend(loc="outside upper left", ncols=4, handletextpad=0.2)

    legend = 0.3 if references else 0.0
    return svg_plot(draw, 4.8, 0.85 + legend + 0.36 * len(machines), "AUC by machine")


def roc_curves(
    machine: str, rows: Sequence[Row], rates: Rates, references: Mapping[str, Sequence[Row]]
) -> str:
    """ROC curves of every section and domain, their mean, and the references' means."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axvspan(0, MAX_FALSE_POSITIVE_RATE, color=GRID, linewidth=0, zorder=0)
        axes.text(MAX_FALSE_POSITIVE_RATE + 0.012, 0.02, "◂ pAUC range", color=MUTED, fontsize=8)
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        curves = _cell_curves(rows)
        for domain, style in (("source", "-"), ("target", (0, (3, 2)))):
            members = [curve for (_, where), curve in curves.items() if where == domain]
            for index, (false_positive, true_positive) in enumerate(members):
                axes.plot(
                    false_positive,
                    true_positive,
                    color=NORMAL,
                    linewidth=0.9,
                    alpha=0.55,
                    linestyle=style,
                    label=f"sections, {domain}" if index == 0 and len(curves) > 1 else None,
                )
        for index, (name, other) in enumerate(references.items()):
            axes.plot(
                *_mean_curve(_cell_curves(other)),
                color=REFERENCES[index % len(REFERENCES)],
                linewidth=1.4,
                linestyle=(0, (1, 1)),
                label=name,
            )
        axes.plot(*_mean_curve(curves), color=NORMAL, linewidth=2.4, label="mean", clip_on=False)
        axes.plot(
            rates.false_alarm_rate,
            rates.recall,
            "o",
            markersize=8,
            markeredgewidth=1.8,
            color=FAULTY,
            markerfacecolor=PANEL,
            label="at the alert threshold",
            zorder=5,
            clip_on=False,
        )
        axes.set(xlim=(0, 1), ylim=(0, 1.01), xlabel="false alarm rate", ylabel="share detected")
        axes.set_aspect("equal")
        axes.legend(loc="lower right", handlelength=1.8)

    return svg_plot(draw, 4.3, 3.7, f"ROC curves of {machine}")


def distributions(
    machine: str, rows: Sequence[Row], thresholds: Mapping[str, tuple[float, float]]
) -> str:
    """Score histograms, normal clips upward and faulty clips downward, a panel per section.

    `thresholds` holds the alert and the alarm threshold of each section.
    """
    values = np.array([row.value for row in rows])
    low, high = float(values.min()), float(values.max())
    # A single outlier must not compress all other clips into one bar.
    shown = max(float(np.percentile(values, 98)), *(alarm for _, alarm in thresholds.values()))
    high = max(min(high, shown + 0.2 * (shown - low)), shown)
    margin = 0.02 * (high - low) or 1.0
    edges = np.linspace(low - margin, high + margin, _BARS + 1)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(len(thresholds), 1, sharex=True, squeeze=False)[:, 0]
        for index, (axes, section) in enumerate(zip(panels, sorted(thresholds), strict=True)):
            _histogram(axes, [row for row in rows if row.section == section], edges)
            alert, alarm = thresholds[section]
            for threshold, level, line in ((alert, "alert", (0, (4, 2))), (alarm, "alarm", "-")):
                axes.axvline(threshold, color=INK, linewidth=1.1, linestyle=line)
                if index == 0:
                    axes.annotate(
                        level,
                        (threshold, 1),
                        xycoords=("data", "axes fraction"),
                        xytext=(-3 if level == "alert" else 3, 2),
                        textcoords="offset points",
                        ha="right" if level == "alert" else "left",
                        fontsize=8,
                    )
            if len(thresholds) > 1:
                axes.set_ylabel(section, rotation=0, ha="right", va="center")
        panels[-1].set_xlabel(
            "score, higher = more anomalous"
            + (" (last bar: all higher scores)" if values.max() > edges[-1] else "")
        )
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)

    return svg_plot(
        draw, 4.3, max(3.1, 1.1 + 0.8 * len(thresholds)), f"Score distributions of {machine}"
    )


def reliability(machine: str, domains: Sequence[Reliability]) -> str:
    """Requested and measured false-alarm rates, with 95 % intervals, a curve per domain."""
    lowest, highest = CURVE[0], CURVE[-1]
    styles: dict[str, tuple[Any, str, float]] = {
        "source": ("-", "o", 0.97),
        "target": ((0, (3, 2)), "D", 1.03),  # side by side, not on top of each other
    }

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        ends = np.array([lowest, highest])
        axes.fill_between(ends, ends / 2, ends * 2, color=GRID, linewidth=0, zorder=0)
        axes.plot(ends, ends, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        for entry in domains:
            line, marker, offset = styles[entry.domain]
            axes.step(
                CURVE,
                [max(point.rate, lowest) for point in entry.curve],  # 0 is drawn at the edge
                where="post",
                color=NORMAL,
                linewidth=1.2,
                linestyle=line,
                label=f"{entry.domain}, {entry.clips} normal clips",
            )
            for point in entry.rates:
                place = point.requested * offset
                axes.plot(
                    [place] * 2, [max(point.low, lowest), point.high], color=NORMAL, alpha=0.5
                )
                axes.plot(
                    place,
                    max(point.rate, lowest),
                    marker,
                    color=NORMAL if point.as_requested else FAULTY,
                    markerfacecolor=PANEL,
                    markersize=6,
                    clip_on=False,
                )
        axes.set(xscale="log", yscale="log", xlim=(lowest, highest), ylim=(lowest, 1))
        ticks = [*RATES, highest]
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(ticks, [share(tick) for tick in ticks])
            axis.set_ticks([], minor=True)
        axes.set(xlabel="requested false-alarm rate", ylabel="measured")
        axes.legend(loc="upper left", handlelength=1.8)

    return svg_plot(draw, 4.3, 3.4, f"Requested and measured false-alarm rates, {machine}")


def spectrogram(example: Example) -> str:
    """The log-mel in grey with the anomaly map in orange, its most anomalous part framed."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        draw_spectrogram(axes, example.explanation)
        axes.set_xlabel("seconds")

    name = example.clip.recording.path.name
    return svg_plot(draw, 4.4, 2.4, f"Spectrogram of {name} with anomaly map")


def _histogram(axes: Axes, rows: Sequence[Row], edges: Doubles) -> None:
    width = np.diff(edges)
    for anomalous, sign, colour, label in (
        (False, 1, NORMAL, "normal clips"),
        (True, -1, FAULTY, "faulty clips"),
    ):
        values = [row.value for row in rows if row.anomalous == anomalous]
        heights = np.histogram(np.minimum(values, edges[-1]), edges)[0]
        axes.bar(
            edges[:-1],
            sign * heights,
            width * 0.92,
            align="edge",
            color=colour,
            linewidth=0,
            label=label,
        )
    axes.axhline(0, color=MUTED, linewidth=0.7)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlim(edges[0], edges[-1])


def _cell_curves(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[Doubles, Doubles]]:
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        cells.setdefault((row.section, row.domain), []).append(row)
    return {
        key: roc([row.anomalous for row in members], [row.value for row in members])
        for key, members in cells.items()
        if len({row.anomalous for row in members}) == 2
    }


def _mean_curve(
    curves: Mapping[tuple[str, str], tuple[Doubles, Doubles]],
) -> tuple[Doubles, Doubles]:
    """Share detected at each false alarm rate, averaged over cells; its area is the mean AUC."""
    grid = np.linspace(0, 1, 201)
    return grid, np.mean([np.interp(grid, *curve) for curve in curves.values()], axis=0)


def svg_plot(draw: Callable[[Figure], None], width: float, height: float, title: str) -> str:
    """Inline SVG drawn for `width` × `height` inches that scales with the page."""
    # The salt makes the names of clip paths differ from those of other plots on the page.
    salt = f"{zlib.crc32(title.encode()):08x}"
    with warnings.catch_warnings(), matplotlib.rc_context({**_STYLE, "svg.hashsalt": salt}):
        # The browser draws the text with its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return inline_svg(buffer.getvalue(), title, _VARIABLES, f"max-width: {1.2 * width:g}in")
