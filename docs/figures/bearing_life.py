"""Draws the life of a bearing that ran to failure: vibration, score, and when each rule alarmed.

    python docs/figures/bearing_life.py FEMTO/Bearing1_1.flac docs/images/bearing-life.png

FEMTO/Bearing1_1.flac: horizontal acceleration of the public data set FEMTO-ST PRONOSTIA, snapshots
of a tenth of a second end to end, one every ten seconds. The verdicts are those of
`ssdpt evaluate --run-to-failure`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.lib.stride_tricks import sliding_window_view
from style import ALARM, ALERT, FAULTY, GRID, INK, MUTED, NORMAL, OTHERS, new_figure, save

from ssdpt.alarms import change_score
from ssdpt.alarms.indicator_baseline import STEPS_AVERAGED
from ssdpt.data.snapshots import Run, read_run
from ssdpt.evaluation.run_to_failure.run_outcome import RunOutcome, follow_run, measure_run

RULES = {"RMS + 6 σ": OTHERS[0], "eight bands": OTHERS[1], "kurtosis + 6 σ": OTHERS[2]}
_HEALTHY = 0.2  # share of the life: the end of what is learned
_HIGHEST_SCORE = 4.0  # drawn; the last snapshots lie far above
_HOUR = 3600.0


def draw(run_file: Path, out: Path, snapshot: float, every: float) -> None:
    """Write the picture."""
    outcome = follow_run(measure_run(read_run(run_file, snapshot, every)))
    figure = new_figure(6.4)
    panels = figure.subplot_mosaic(
        [["healthy", "failing"], ["score", "score"], ["level", "level"], ["rules", "rules"]],
        height_ratios=(2.2, 3, 2.6, 1.5),
    )
    _draw_snapshots(panels["healthy"], panels["failing"], outcome.run)
    _draw_score(panels["score"], outcome)
    _draw_level(panels["level"], outcome)
    _draw_first_alarms(panels["rules"], outcome)
    hours = outcome.run.times / _HOUR
    for name in ("score", "level", "rules"):
        panels[name].set_xlim(0, hours[-1])
        for moment, colour in ((_first_alert(outcome), ALERT), (outcome.alarm, ALARM)):
            if moment is not None:
                panels[name].axvline(hours[moment], color=colour, linewidth=0.8, zorder=0)
    for name in ("score", "level"):
        panels[name].tick_params(labelbottom=False)
        panels[name].grid(axis="y")
    panels["rules"].set_xlabel("hours of running")
    save(figure, out)


def _draw_snapshots(healthy: Axes, failing: Axes, run: Run) -> None:
    """A snapshot of the healthy bearing and its last one, on one scale."""
    unit = run.unit or "of full scale"
    milliseconds = 1000 * np.arange(run.snapshots.shape[1]) / run.sample_rate
    early = int(_HEALTHY * len(run.times))
    for axes, at, colour in ((healthy, early, NORMAL), (failing, -1, FAULTY)):
        axes.plot(milliseconds, run.full_scale * run.snapshots[at], color=colour, linewidth=0.4)
        axes.set_xlabel("milliseconds")
    most = float(run.full_scale * np.abs(run.snapshots[-1]).max())
    healthy.set(title=f"healthy, after {run.times[early] / _HOUR:.1f} h", ylim=(-most, most))
    failing.set(title=f"the end, after {run.times[-1] / _HOUR:.1f} h", ylim=(-most, most))
    healthy.set_ylabel(f"acceleration, {unit}")
    failing.tick_params(labelleft=False)


def _draw_score(axes: Axes, outcome: RunOutcome) -> None:
    """The score that has lasted, as the live service computes it, with its limits."""
    start = outcome.measured.learned.stop
    hours = outcome.run.times / _HOUR
    learned = outcome.measured.learned
    axes.axvspan(hours[learned.start], hours[learned.stop], color=GRID, linewidth=0)
    middle = (hours[learned.start] + hours[learned.stop]) / 2
    axes.text(middle, _HIGHEST_SCORE * 0.8, "learned", ha="center", color=MUTED)
    score = np.array([verdict.score for verdict in outcome.verdicts])
    axes.plot(hours[start:], np.clip(score, 0, _HIGHEST_SCORE), color=INK, linewidth=1)
    limits = ((change_score.ALERT, "alert", ALERT), (change_score.ALARM, "alarm", ALARM))
    for limit, name, colour in limits:
        axes.axhline(limit, color=colour, linewidth=0.9, linestyle="--")
        axes.text(hours[learned.stop] * 1.02, limit + 0.06, name, color=colour)
    for moment, colour in ((_first_alert(outcome), ALERT), (outcome.alarm, ALARM)):
        if moment is not None:
            axes.plot(hours[moment], score[moment - start], "o", color=colour, markersize=5)
    axes.set(ylim=(0, _HIGHEST_SCORE), title="score of ssdpt", ylabel="score")


def _draw_level(axes: Axes, outcome: RunOutcome) -> None:
    """Root mean square in dB against the learning part, two minutes' mean."""
    level = np.array([step.level_db for step in outcome.measured.steps])
    level -= np.median(level[outcome.measured.learned])
    means = sliding_window_view(level, STEPS_AVERAGED).mean(-1)
    hours = outcome.run.times[STEPS_AVERAGED - 1 :] / _HOUR
    axes.plot(hours, means, color=RULES["RMS + 6 σ"], linewidth=1)
    axes.set(title="strength of the vibration (RMS)", ylabel="dB above usual")


def _draw_first_alarms(axes: Axes, outcome: RunOutcome) -> None:
    """A row for each rule, with its first alarm."""
    alarms = {"ssdpt": outcome.alarm} | {name: outcome.rules[name] for name in RULES}
    colours = {"ssdpt": ALARM} | RULES
    hours = outcome.run.times / _HOUR
    for row, (name, alarm) in enumerate(alarms.items()):
        if alarm is None:
            axes.text(hours[-1] * 0.99, row, "never", ha="right", va="center", color=colours[name])
        else:
            axes.plot(hours[alarm], row, "o", color=colours[name], markersize=7)
    alert = _first_alert(outcome)
    if alert is not None:
        axes.plot(hours[alert], 0, "o", color=ALERT, markersize=7, markerfacecolor="white")
        axes.text(hours[alert] - 0.02 * hours[-1], 0, "first alert", ha="right", va="center")
    axes.set_yticks(range(len(alarms)), list(alarms))
    axes.set(ylim=(len(alarms) - 0.5, -0.6), title="first alarm")
    axes.tick_params(axis="y", length=0)


def _first_alert(outcome: RunOutcome) -> int | None:
    """The snapshot at which the first alert began, if one came before the first alarm."""
    start = outcome.measured.learned.stop
    began = (at for at, verdict in enumerate(outcome.verdicts, start) if verdict.began)
    first = next(began, None)
    return None if first == outcome.alarm else first


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]), snapshot=0.1, every=10.0)
