"""The paper's figures: bars by machine type, curves and boxes over β.

Bars start at 0.5, the value of chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from ssdpt.experiments.claims.published import MEASURES, Printed, published
from ssdpt.experiments.paper.beta import beta_name
from ssdpt.experiments.paper.results import ExperimentResults, Mean, Spread
from ssdpt.experiments.paper.variants import (
    BETAS,
    TABLE_ONE,
    block_variants,
    mask_variants,
    patch_variants,
)
from ssdpt.experiments.report.picture import GRID, INK, MUTED, PANEL, Picture, make_picture

# The colours of Okabe and Ito, safe for colour-blind readers; hatches mark related variants.
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#e69f00", "#009e73", "#cc79a7"
SKY, RED, YELLOW, GREY = "#56b4e9", "#d55e00", "#f0e442", "#8a949c"
_SYSTEMS = {
    "ae": (GREY, ""),
    "mnv2": (ORANGE, ""),
    "mnv2-log-odds": (ORANGE, "////"),
    "mnv2-dcase": (ORANGE, "xxxx"),
    "mnv2-lof": (PURPLE, ""),
    "wavenet-ensemble": (GREEN, ""),
    "ssdpt-noaux": (SKY, ""),
    "ssdpt-noaux-masked": (SKY, "////"),
    "ssdpt": (BLUE, ""),
    "ssdpt-ensemble": (RED, ""),
    "gmm": (YELLOW, ""),
}
_FIVE = (GREY, SKY, ORANGE, PURPLE, BLUE)
_CHANCE = 0.5

# The curves of β: mean, colour, line, and an offset that separates their error bars.
_CURVES: tuple[tuple[Mean, str, str, float], ...] = (
    ("harmonic", BLUE, "-", -1.5e-5),
    ("arithmetic", RED, "--", 1.5e-5),
)


@dataclass(frozen=True, slots=True)
class _Series:
    """The bars of one variant."""

    label: str
    colour: str
    hatch: str
    bars: Sequence[Spread | None]  # one for each group
    paper: Sequence[float | None]


def system_bars(results: ExperimentResults, measure: Printed) -> Picture:
    """The bars of all systems by machine type."""
    name = MEASURES[measure]
    chosen = [
        (variant, results.variants[variant].label, *_SYSTEMS[variant])
        for variant in TABLE_ONE
        if variant in results.variants
    ]
    return make_picture(
        f"machines-{name.lower()}",
        f"{name} of all systems by machine type",
        "Bars start at chance, 0.5; error bars: standard deviation over seeds. Diamonds: the "
        "paper's values (Table I for All; Table II, M = 3 and P = 64, for SSDPT). All: arithmetic "
        "mean over machine types.",
        lambda figure: _grouped(figure, results, [(measure, chosen)], "arithmetic"),
        (max(8.4, 1.2 + 1.25 * (len(results.machines) + 1)), 4.2),
        results.quick,
    )


def masking_bars(results: ExperimentResults) -> Picture:
    """Masking methods by machine type."""
    labels = [variant.label for variant in mask_variants()]
    chosen = [
        (variant.name, label, colour, "")
        for variant, label, colour in zip(mask_variants(), labels, _FIVE, strict=True)
    ]
    return _two_measures(
        results,
        "masking",
        "Masking methods by machine type",
        "NM: none, TM: 2 stripes in time, FM: 2 in frequency, SpecAugment: both, PM: patches.",
        chosen,
    )


def patch_bars(results: ExperimentResults) -> Picture:
    """Number and size of patches by machine type."""
    colours = dict(zip((1, 3, 5), (SKY, BLUE, PURPLE), strict=True))
    hatches = dict(zip((5, 10, 15), ("", "////", "xxxx"), strict=True))
    chosen = [
        (
            variant.name,
            variant.label,
            colours[variant.settings["ssdpt.mask.patches"]],
            hatches[variant.settings["ssdpt.mask.patch_size"]],
        )
        for variant in patch_variants()
    ]
    return _two_measures(
        results,
        "patches",
        "Patch masks by machine type",
        "k*r²: k squares of r frames by r mel bins. Colour: number; hatching: size.",
        chosen,
    )


def block_bars(results: ExperimentResults) -> Picture:
    """Table II by machine type."""
    chosen = [
        (variant.name, variant.label, colour, "")
        for variant, colour in zip(block_variants(), (SKY, BLUE, RED, ORANGE, PURPLE), strict=True)
    ]
    return _two_measures(
        results,
        "blocks",
        "DPT blocks (M) and frames per segment (P) by machine type",
        "Diamonds: the paper's values (Table II).",
        chosen,
    )


def beta_curves(rescored: ExperimentResults) -> Picture:
    """h-AUC and h-pAUC against β, with both means over machine types."""

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2)
        for axes, (measure, name) in zip(panels, MEASURES.items(), strict=True):
            axes.axvspan(*published().beta_range, color=GRID, linewidth=0, zorder=0)
            low, high = [], []
            for mean, colour, style, offset in _CURVES:
                spreads = _over_beta(rescored, measure, mean)
                values = np.array([spread.mean for spread in spreads.values()])
                deviations = np.array([spread.deviation for spread in spreads.values()])
                axes.errorbar(
                    [beta + offset for beta in spreads],
                    values,
                    deviations if len(rescored.seeds) > 1 else None,
                    color=colour,
                    linestyle=style,
                    marker="o" if mean == "harmonic" else "s",
                    markersize=4,
                    linewidth=1.4,
                    capsize=2,
                    elinewidth=0.8,
                    label=f"{mean} mean over machine types",
                )
                low += list(values - deviations)
                high += list(values + deviations)
            if low:  # a flat curve should look flat
                middle, span = (min(low) + max(high)) / 2, max(max(high) - min(low), 0.03)
                axes.set_ylim(middle - 0.62 * span, middle + 0.62 * span)
            axes.set_xlim(-0.0002, 0.0052)
            axes.set_xticks([0, 0.001, 0.002, 0.003, 0.004, 0.005])
            axes.set_xticklabels(["0", ".001", ".002", ".003", ".004", ".005"])
            axes.set_xlabel("β")
            axes.set_title(name, loc="left", fontsize=10)
            axes.grid(axis="y")
            axes.set_axisbelow(True)
        handles, labels = panels[0].get_legend_handles_labels()
        shaded = Patch(color=GRID, label="suggested by the paper")
        figure.legend(
            handles=[*handles, shaded],
            labels=[*labels, "suggested by the paper"],
            loc="outside lower center",
            ncols=3,
        )

    return make_picture(
        "beta-curves",
        "h-AUC and h-pAUC against β",
        "The same networks, scored with another weight β of the reconstruction error; points: the "
        "values tried. Error bars: standard deviation over seeds. The paper gives no values.",
        draw,
        (8.4, 3.4),
        rescored.quick,
    )


def beta_boxes(rescored: ExperimentResults) -> Picture:
    """h-AUC and h-pAUC of each machine type over the values of β."""
    machines = rescored.machines_of(beta_name(BETAS[0]))

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2)
        for axes, (measure, name) in zip(panels, MEASURES.items(), strict=True):
            values = []
            for machine in machines:
                spreads = [rescored.spread(beta_name(beta), machine, measure) for beta in BETAS]
                values.append([spread.mean for spread in spreads if spread is not None])
            line = {"color": INK, "linewidth": 0.9}
            axes.boxplot(
                values,
                widths=0.55,
                patch_artist=True,
                boxprops={"facecolor": SKY, **line, "color": INK},
                whiskerprops=line,
                capprops=line,
                medianprops={"color": INK, "linewidth": 1.6},
                flierprops={"marker": "o", "markersize": 3, "markeredgecolor": INK},
            )
            axes.axhline(_CHANCE, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
            axes.set_xticks(range(1, len(machines) + 1), machines, rotation=30, ha="right")
            axes.set_title(name, loc="left", fontsize=10)
            axes.grid(axis="y")
            axes.set_axisbelow(True)

    return make_picture(
        "beta-boxes",
        "Spread of h-AUC and h-pAUC over β by machine type",
        f"Boxes: quartiles over the {len(BETAS)} values of β, line: median, whiskers: up to 1.5 "
        "times the height of the box. Dashed: chance.",
        draw,
        (8.4, 3.4),
        rescored.quick,
    )


def _two_measures(
    results: ExperimentResults,
    name: str,
    title: str,
    caption: str,
    chosen: Sequence[tuple[str, str, str, str]],
) -> Picture:
    panels = [(measure, chosen) for measure in MEASURES]
    return make_picture(
        name,
        title,
        f"{caption} Bars start at chance, 0.5; error bars: standard deviation over seeds. All: "
        "harmonic mean over machine types.",
        lambda figure: _grouped(figure, results, panels, "harmonic"),
        (max(8.4, 1.2 + 1.05 * (len(results.machines) + 1)), 5.2),
        results.quick,
    )


def _grouped(
    figure: Figure,
    results: ExperimentResults,
    panels: Sequence[tuple[Printed, Sequence[tuple[str, str, str, str]]]],
    mean: Mean,
) -> None:
    """A panel per metric, a group of bars per machine type and one for all."""
    column = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    groups = [*results.machines, "All"]
    printed = False
    for axes, (measure, chosen) in zip(column, panels, strict=True):
        series = [_series(results, measure, mean, *variant) for variant in chosen]
        printed |= _bars(axes, series)
        axes.axhline(_CHANCE, color=INK, linewidth=0.9)
        axes.axvline(len(groups) - 1.5, color=MUTED, linewidth=0.7, linestyle=(0, (1, 2)))
        axes.set_ylabel(MEASURES[measure])
        axes.set_xlim(-0.5, len(groups) - 0.5)
        axes.yaxis.set_major_locator(MultipleLocator(0.1 if measure == "h_auc" else 0.05))
        across = axes.get_yaxis_transform()
        axes.text(1.005, _CHANCE, "chance", transform=across, va="center", color=MUTED)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.tick_params(axis="x", length=0)
    column[-1].set_xticks(range(len(groups)), groups)
    handles: list[Any] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=PANEL, linewidth=0, label=label)
        for _, label, colour, hatch in panels[0][1]
    ]
    if printed:
        handles.append(_diamonds([], "the paper"))
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = int(figure.get_figwidth() / (0.6 + 0.062 * longest))  # inches of one entry
    figure.legend(handles=handles, loc="outside lower center", ncols=max(1, columns))


def _series(
    results: ExperimentResults,
    measure: Printed,
    mean: Mean,
    name: str,
    label: str,
    colour: str,
    hatch: str,
) -> _Series:
    available = name in results.variants
    bars = [
        results.spread(name, machine, measure) if available else None
        for machine in results.machines
    ]
    paper = [published().of_machine(name, machine, measure) for machine in results.machines]
    same = set(results.machines) == set(published().machines)  # else not comparable
    return _Series(
        label,
        colour,
        hatch,
        [*bars, results.overall(name, measure, mean=mean) if available else None],
        [*paper, published().overall(name, measure, mean) if same else None],
    )


def _bars(axes: Axes, series: Sequence[_Series]) -> bool:
    """Draw bars side by side; return whether the paper has values for any of them."""
    width = 0.84 / max(1, len(series))
    printed = False
    for index, variant in enumerate(series):
        places = np.arange(len(variant.bars)) + (index - (len(series) - 1) / 2) * width
        measured = [
            (x, bar) for x, bar in zip(places, variant.bars, strict=True) if bar is not None
        ]
        axes.bar(
            [x for x, _ in measured],
            [bar.mean - _CHANCE for _, bar in measured],
            width,
            bottom=_CHANCE,
            color=variant.colour,
            hatch=variant.hatch,
            edgecolor=PANEL,
            linewidth=0.4,
        )
        several = [(x, bar) for x, bar in measured if bar.seeds > 1]
        axes.errorbar(
            [x for x, _ in several],
            [bar.mean for _, bar in several],
            [bar.deviation for _, bar in several],
            linestyle="none",
            color=INK,
            elinewidth=0.8,
            capsize=1.2,
        )
        for x, bar in zip(places, variant.bars, strict=True):
            if bar is None:
                axes.text(x, _CHANCE, "–", ha="center", va="bottom", color=MUTED)
        paper = [
            (x, value) for x, value in zip(places, variant.paper, strict=True) if value is not None
        ]
        if paper:
            axes.add_line(_diamonds(paper))
            axes.update_datalim(paper)
            printed = True
    axes.autoscale_view()
    return printed


def _diamonds(points: Sequence[tuple[float, float]], label: str = "") -> Line2D:
    return Line2D(
        [x for x, _ in points],
        [y for _, y in points],
        marker="D",
        markersize=4,
        linestyle="none",
        markerfacecolor=PANEL,
        markeredgecolor=INK,
        markeredgewidth=1.0,
        zorder=5,
        label=label,
    )


def _over_beta(rescored: ExperimentResults, measure: Printed, mean: Mean) -> Mapping[float, Spread]:
    spreads = {beta: rescored.overall(beta_name(beta), measure, mean=mean) for beta in BETAS}
    return {beta: spread for beta, spread in spreads.items() if spread is not None}
