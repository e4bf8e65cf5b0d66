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
from matplotlib.patches import Rectangle
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from ssdpt.evaluation.examples import Example
from ssdpt.evaluation.metrics import MAX_FALSE_POSITIVE_RATE, Doubles, Estimate, Rates, roc
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
_HEAT = np.array([255, 106, 0], np.float32)  # orange over grey is told apart by every eye
_BARS = 40
_HERTZ = (63, 125, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000)


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


def spectrogram(example: Example) -> str:
    """The log-mel in grey with the anomaly map in orange, the strongest part framed."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        frames, bins = example.frames.shape
        end = example.start + frames * example.frame_seconds
        axes.imshow(
            _blend(example).transpose(1, 0, 2),
            origin="lower",
            aspect="auto",
            interpolation="none",
            extent=(example.start, end, -0.5, bins - 0.5),
        )
        places = np.interp(_HERTZ, example.frequencies, np.arange(bins), left=-1, right=-1)
        # Low octaves crowd on the mel axis: a tick needs a distance of its own.
        ticks: list[tuple[float, str]] = []
        for hertz, place in zip(_HERTZ, places, strict=True):
            if place >= 0 and (not ticks or place - ticks[-1][0] > bins / 12):
                ticks.append(
                    (float(place), f"{hertz} Hz" if hertz < 1000 else f"{hertz // 1000} kHz")
                )
        axes.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
        axes.set_xlabel("seconds")
        axes.tick_params(length=2.5)
        if example.seconds and example.hertz:
            low, high = np.interp(example.hertz, example.frequencies, np.arange(bins))
            begin, finish = example.seconds
            axes.add_patch(
                Rectangle(
                    (begin, low),
                    finish - begin,
                    high - low,
                    fill=False,
                    edgecolor="white",
                    linewidth=1.2,
                    linestyle=(0, (3, 2)),
                )
            )

    name = example.clip.recording.path.name
    return _svg(draw, 4.4, 2.4, f"Spectrogram of {name} with the anomaly laid over it")


def _blend(example: Example) -> NDArray[np.uint8]:
    """(frames, mel bins, 3): quiet is dark, loud is light, odd is orange."""
    quiet, loud = np.percentile(example.frames, [2, 99.8])
    grey = np.clip((example.frames - quiet) / max(loud - quiet, 1e-6), 0, 1)
    most = float(np.percentile(example.heat, 99.7)) or float(example.heat.max()) or 1.0
    usual = float(np.median(example.heat))
    odd = np.clip((example.heat - usual) / max(most - usual, 1e-12), 0, 1)[..., None]
    base = (25 + 215 * grey)[..., None] * np.ones(3, np.float32)
    mixed = base * (1 - 0.75 * odd) + 0.75 * odd * _HEAT * (0.75 + 0.25 * grey[..., None])
    # 64 shades a channel look the same and halve the file.
    return (np.clip(mixed, 0, 255).astype(np.uint8) >> 2) << 2


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
