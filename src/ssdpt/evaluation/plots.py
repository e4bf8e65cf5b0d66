"""The report's pictures as SVG that takes its colours from the page, in light and in dark."""

from __future__ import annotations

import html
import io
import re
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

# Stand-in colours for matplotlib; in the finished SVG each becomes the page's CSS variable.
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
    """How all plots of the project look, in these colours."""
    return {
        "svg.fonttype": "none",
        "text.parse_math": False,  # a machine may have dollar signs in its name
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
    """AUC of every machine with its 95 % interval, and of the references beside it."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = np.arange(len(machines))[::-1]
        for place, found in zip(places, machines.values(), strict=True):
            axes.plot([found.low, found.high], [place, place], color=NORMAL, linewidth=3, alpha=0.5)
            axes.plot(
                found.value,
                place,
                "o",
                color=NORMAL,
                markersize=7,
                label="this model" if place == places[0] else None,
            )
        for index, (name, values) in enumerate(references.items()):
            known = [
                (area.value, place)
                for place, machine in zip(places, machines, strict=True)
                if (area := values.get(machine)) is not None
            ]
            axes.plot(
                *zip(*known, strict=True),
                _MARKERS[index % len(_MARKERS)],
                color=REFERENCES[index % len(REFERENCES)],
                markerfacecolor="none",
                label=name,
            )
        axes.axvline(0.5, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.text(0.5, len(machines) - 0.45, "chance", ha="center", va="bottom", color=MUTED)
        lowest = min(
            [0.45]
            + [found.low for found in machines.values()]
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
    return _svg(draw, 4.8, 0.85 + legend + 0.36 * len(machines), "AUC by machine")


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
            label="at the alert limit",
            zorder=5,
            clip_on=False,
        )
        axes.set(xlim=(0, 1), ylim=(0, 1.01), xlabel="false alarm rate", ylabel="share caught")
        axes.set_aspect("equal")
        axes.legend(loc="lower right", handlelength=1.8)

    return _svg(draw, 4.3, 3.7, f"ROC curves of {machine}")


def distributions(
    machine: str, rows: Sequence[Row], limits: Mapping[str, tuple[float, float]]
) -> str:
    """Score histograms, normal clips upward and faulty ones downward, a panel for each section.

    `limits` gives the alert and the alarm limit of each section.
    """
    values = np.array([row.value for row in rows])
    low, high = float(values.min()), float(values.max())
    # One far-off clip must not squeeze the rest into a single bar.
    shown = max(float(np.percentile(values, 98)), *(alarm for _, alarm in limits.values()))
    high = max(min(high, shown + 0.2 * (shown - low)), shown)
    margin = 0.02 * (high - low) or 1.0
    edges = np.linspace(low - margin, high + margin, _BARS + 1)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(len(limits), 1, sharex=True, squeeze=False)[:, 0]
        for index, (axes, section) in enumerate(zip(panels, sorted(limits), strict=True)):
            _histogram(axes, [row for row in rows if row.section == section], edges)
            alert, alarm = limits[section]
            for limit, word, style in ((alert, "alert", (0, (4, 2))), (alarm, "alarm", "-")):
                axes.axvline(limit, color=INK, linewidth=1.1, linestyle=style)
                if index == 0:
                    axes.annotate(
                        word,
                        (limit, 1),
                        xycoords=("data", "axes fraction"),
                        xytext=(-3 if word == "alert" else 3, 2),
                        textcoords="offset points",
                        ha="right" if word == "alert" else "left",
                        fontsize=8,
                    )
            if len(limits) > 1:
                axes.set_ylabel(section, rotation=0, ha="right", va="center")
        panels[-1].set_xlabel(
            "score, higher = more anomalous"
            + (" (last bar: all beyond)" if values.max() > edges[-1] else "")
        )
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)

    return _svg(draw, 4.3, max(3.1, 1.1 + 0.8 * len(limits)), f"Score distributions of {machine}")


def reliability(machine: str, found: Sequence[Reliability]) -> str:
    """False-alarm rates asked for and found, with 95 % intervals, a curve for each domain."""
    lowest, highest = CURVE[0], CURVE[-1]
    looks: dict[str, tuple[Any, str, float]] = {
        "source": ("-", "o", 0.97),
        "target": ((0, (3, 2)), "D", 1.03),  # beside each other, not on top
    }

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        ends = np.array([lowest, highest])
        axes.fill_between(ends, ends / 2, ends * 2, color=GRID, linewidth=0, zorder=0)
        axes.plot(ends, ends, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        for one in found:
            line, marker, beside = looks[one.domain]
            axes.step(
                CURVE,
                [max(point.rate, lowest) for point in one.curve],  # none found: at the edge
                where="post",
                color=NORMAL,
                linewidth=1.2,
                linestyle=line,
                label=f"{one.domain}, {one.clips} normal clips",
            )
            for point in one.rates:
                place = point.requested * beside
                axes.plot(
                    [place] * 2, [max(point.low, lowest), point.high], color=NORMAL, alpha=0.5
                )
                axes.plot(
                    place,
                    max(point.rate, lowest),
                    marker,
                    color=NORMAL if point.is_kept else FAULTY,
                    markerfacecolor=PANEL,
                    markersize=6,
                    clip_on=False,
                )
        axes.set(xscale="log", yscale="log", xlim=(lowest, highest), ylim=(lowest, 1))
        ticks = [*RATES, highest]
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(ticks, [share(tick) for tick in ticks])
            axis.set_ticks([], minor=True)
        axes.set(xlabel="false alarms asked for", ylabel="found")
        axes.legend(loc="upper left", handlelength=1.8)

    return _svg(draw, 4.3, 3.4, f"False alarms asked for and found, {machine}")


def spectrogram(example: Example) -> str:
    """The log-mel in grey with the anomaly map in orange, the strongest part framed."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        draw_spectrogram(axes, example.picture)
        axes.set_xlabel("seconds")

    name = example.clip.recording.path.name
    return _svg(draw, 4.4, 2.4, f"Spectrogram of {name} with the anomaly laid over it")


def _histogram(axes: Axes, rows: Sequence[Row], edges: Doubles) -> None:
    width = np.diff(edges)
    for anomalous, sign, colour, word in (
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
            label=word,
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
    """The share caught at each false alarm rate, averaged over cells; its area is the mean AUC."""
    grid = np.linspace(0, 1, 201)
    return grid, np.mean([np.interp(grid, *curve) for curve in curves.values()], axis=0)


def _svg(draw: Callable[[Figure], None], width: float, height: float, title: str) -> str:
    """Inline SVG drawn for `width` × `height` inches, that shrinks and grows with the page."""
    # The salt names clip paths apart from those of the page's other pictures.
    salt = f"{zlib.crc32(title.encode()):08x}"
    with warnings.catch_warnings(), matplotlib.rc_context({**_STYLE, "svg.hashsalt": salt}):
        # The browser draws the letters, with fonts of its own.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*">', "<g>", text)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(
        r"<svg[^>]*?viewBox=\"([^\"]*)\"[^>]*>",
        f'<svg role="img" aria-label="{html.escape(title)}" viewBox="\\1" '
        f'style="max-width: {1.2 * width:g}in">',
        text,
        count=1,
        flags=re.DOTALL,
    )
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    return text
