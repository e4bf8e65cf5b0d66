"""Draws how a threshold comes about, and how many false alarms it gives.

    python docs/figures/thresholds.py docs/images/thresholds.png

The machine is simulated. Prints what the page says: thresholds, false alarms and misses.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from simulated_machine import SimulatedMachine
from style import ALARM, ALERT, FAULTY, INK, MUTED, NORMAL, new_figure, save

from ssdpt.evaluation.metrics import auc
from ssdpt.evaluation.reliability import RATES, MeasuredRate, exact_interval, measured_rates
from ssdpt.types import Score

_BINS = 50
_SHOWN = 4  # times the alarm threshold
_LOWEST, _HIGHEST = 0.005, 0.3  # shares, on the axes of asked and got


def draw(out: Path, machine: SimulatedMachine, learn: int, healthy: int, faulty: int) -> None:
    """Write the picture, and print its numbers."""
    detector = machine.fit(learn)
    held_out = np.concatenate([*map(np.asarray, detector.system.held_out_scores().values())])
    normal = [detector.score(clip) for clip in machine.healthy("test", healthy)]
    broken = [detector.score(clip) for clip in machine.faulty(faulty)]
    alert, alarm = detector.calibration.thresholds(detector.sections[0])
    figure = new_figure(7.6)
    panels = figure.subplots(4, 1, height_ratios=(2, 2, 2, 5))
    rows = (
        ("held-out healthy clips: these set the threshold", held_out, MUTED),
        ("other healthy clips: above it is a false alarm", _values(normal), NORMAL),
        ("faulty clips: below it is a miss", _values(broken), FAULTY),
    )
    most = _SHOWN * alarm
    edges = np.linspace(float(held_out.min()), most, _BINS)
    for axes, (title, values, colour) in zip(panels, rows, strict=False):
        axes.hist(values, edges, color=colour)
        axes.axvline(alert, color=ALERT, linewidth=1.3)
        axes.axvline(alarm, color=ALARM, linewidth=1.3)
        axes.set(ylabel="clips", xlim=(edges[0], most))
        axes.set_title(f"{len(values)} {title}", pad=14 if axes is panels[0] else 6)
    for axes in panels[:2]:
        axes.tick_params(labelbottom=False)
    panels[2].set_xlabel("score")
    beyond = int((_values(broken) > most).sum())
    panels[2].text(
        1,
        0.95,
        f"{beyond} more score higher →",
        transform=panels[2].transAxes,
        ha="right",
        va="top",
    )
    top = panels[0].get_ylim()[1]
    panels[0].text(alert, top, "alert ", color=ALERT, ha="right", va="bottom")
    panels[0].text(alarm, top, " alarm", color=ALARM, va="bottom")
    rates = measured_rates([score.p_value for score in normal], RATES)
    _draw_rates(panels[3], rates)
    save(figure, out)
    _print(detector.false_alarm_rate, alert, alarm, rates, _values(normal), _values(broken))


def _values(scores: Sequence[Score]) -> np.ndarray:
    return np.array([score.value for score in scores])


def _draw_rates(axes: Axes, rates: Sequence[MeasuredRate]) -> None:
    """Measured over requested share of false alarms, with 95 % intervals."""
    axes.plot([_LOWEST, _HIGHEST], [_LOWEST, _HIGHEST], color=MUTED, linewidth=0.8, linestyle="--")
    for rate in rates:
        at = rate.requested
        low = max(rate.low, _LOWEST)
        axes.plot([at, at], [low, rate.high], color=NORMAL, linewidth=3, alpha=0.4)
        if rate.alarms:
            axes.plot(at, rate.rate, "o", color=NORMAL, markersize=7)
        axes.annotate(
            f"{rate.alarms} of {rate.clips}",
            (at, rate.high),
            (0, 5),
            textcoords="offset points",
            ha="center",
            color=INK,
        )
    axes.set(xscale="log", yscale="log", xlim=(_LOWEST, _HIGHEST), ylim=(_LOWEST, _HIGHEST))
    axes.set(title="false alarms: asked and got", xlabel="asked", ylabel="got (line: 95 %)")
    ticks = [0.01, 0.05, 0.1]
    axes.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    axes.set_yticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    axes.minorticks_off()


def _print(
    rate: float,
    alert: float,
    alarm: float,
    rates: Sequence[MeasuredRate],
    normal: np.ndarray,
    faulty: np.ndarray,
) -> None:
    labels = np.repeat([0, 1], [len(normal), len(faulty)])
    print(f"AUC {auc(labels, np.concatenate([normal, faulty])):.3f}")
    for name, threshold, asked in (("alert", alert, rate), ("alarm", alarm, rate / 10)):
        missed = int((faulty <= threshold).sum())
        low, high = exact_interval(missed, len(faulty))
        print(
            f"{name}: threshold {threshold:.2f}, asked for {asked:.0%} false alarms; "
            f"missed {missed} of {len(faulty)} faulty clips ({low:.0%} to {high:.0%})"
        )
    for measured in rates:
        print(
            f"asked {measured.requested:.0%}: {measured.alarms} of {measured.clips} healthy clips, "
            f"{measured.rate:.1%} ({measured.low:.1%} to {measured.high:.1%})"
        )


if __name__ == "__main__":
    draw(Path(sys.argv[1]), SimulatedMachine("fan", "demo"), learn=200, healthy=500, faulty=200)
