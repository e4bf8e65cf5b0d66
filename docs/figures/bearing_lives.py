"""Draws when each rule first alarmed in the lives of several bearings that ran to failure.

    python docs/figures/bearing_lives.py FEMTO docs/images/bearing-lives.png

FEMTO: a folder with the lives of the public data set FEMTO-ST PRONOSTIA, see `bearing_life.py`.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from matplotlib.axes import Axes
from style import ALARM, GRID, INK, MUTED, OTHERS, new_figure, save

from ssdpt.data.snapshots import read_runs
from ssdpt.evaluation.run_to_failure.run_outcome import (
    HALF_LIFE,
    LATE,
    RunOutcome,
    follow_run,
    measure_run,
)

_RULES = {"RMS + 6 σ": OTHERS[0], "eight bands": OTHERS[1], "kurtosis + 6 σ": OTHERS[2]}
_NEVER = 106.0  # per cent of the life: where a missed failure is drawn


def draw(runs: Path, out: Path, snapshot: float, every: float) -> None:
    """Write the picture."""
    outcomes = [follow_run(measure_run(run)) for run in read_runs(runs, snapshot, every)]
    figure = new_figure(1.5 + 0.62 * len(outcomes))
    axes = figure.subplots()
    rules = {"ssdpt": ALARM} | _RULES
    for number, (rule, colour) in enumerate(rules.items()):
        height = (number - (len(rules) - 1) / 2) * 0.19
        alarms = [outcome.alarm if rule == "ssdpt" else outcome.rules[rule] for outcome in outcomes]
        places = [
            _NEVER if alarm is None else 100 * (outcome.share(alarm) or 0.0)
            for outcome, alarm in zip(outcomes, alarms, strict=True)
        ]
        axes.plot(
            places,
            [row + height for row in range(len(outcomes))],
            "D" if rule == "ssdpt" else "o",
            color=colour,
            markersize=7 if rule == "ssdpt" else 5.5,
            label=f"{rule}: {_counted(outcomes, alarms)}",
        )
    _draw_verdicts(axes, len(outcomes))
    axes.set_yticks(range(len(outcomes)), [outcome.run.name for outcome in outcomes])
    axes.set_xticks([20, 50, 95, _NEVER], ["20", "50", "95", "never"])
    axes.set(xlim=(20, 110), xlabel="first alarm, in per cent of the life")
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower left", ncols=1, handletextpad=0.2)
    save(figure, out)


def _counted(outcomes: list[RunOutcome], alarms: list[int | None]) -> str:
    """The verdicts, as in “5 right, 1 late”."""
    counts = Counter(o.verdict(alarm) for o, alarm in zip(outcomes, alarms, strict=True))
    return ", ".join(
        f"{counts[verdict]} {verdict}"
        for verdict in ("right", "late", "false", "missed")
        if counts[verdict]
    )


def _draw_verdicts(axes: Axes, count: int) -> None:
    """What an alarm at each time of the life is."""
    axes.set_ylim(count - 0.5, -0.95)
    axes.axvspan(100 * HALF_LIFE, 100 * LATE, color=GRID, linewidth=0, zorder=0)
    for middle, name in ((35, "too early: false"), (72.5, "right"), (97.5, "late")):
        axes.text(middle, -0.7, name, ha="center", va="center", color=MUTED)
    axes.text(_NEVER, -0.7, "missed", ha="center", va="center", color=MUTED)
    axes.axvline(100, color=INK, linewidth=0.8)
    for edge in range(1, count):
        axes.axhline(edge - 0.5, color=GRID, linewidth=0.7)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]), snapshot=0.1, every=10.0)
