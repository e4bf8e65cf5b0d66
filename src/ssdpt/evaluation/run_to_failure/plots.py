"""The life of a run in pictures: change score, levels and kurtosis, with the first alarms."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.lib.stride_tricks import sliding_window_view

from ssdpt.alarms.change_score import ALARM, ALERT
from ssdpt.alarms.indicator_baseline import STEPS_AVERAGED, levels_of
from ssdpt.evaluation.plots import FAULTY, GRID, INK, MUTED, NORMAL, REFERENCES, svg_plot
from ssdpt.evaluation.run_to_failure.run_outcome import HALF_LIFE, LATE, RunOutcome

_HIGHEST_SCORE = 6.0  # drawn; the last snapshots of a life lie far above


def life(outcome: RunOutcome) -> str:
    """Three plots over the life: change score, levels against the learned ones, kurtosis."""

    def draw(figure: Figure) -> None:
        score, level, kurtosis = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 2))
        _draw_score(score, outcome)
        _draw_levels(level, outcome)
        _draw_kurtosis(kurtosis, outcome)
        kurtosis.set_xlabel("share of the life in per cent")
        kurtosis.set_xlim(0, 100)
        for axes in (score, level, kurtosis):
            axes.grid(axis="y")
            for share in (HALF_LIFE, LATE):
                axes.axvline(100 * share, color=MUTED, linewidth=0.7, linestyle=":")
            if (alarm := outcome.share(outcome.alarm)) is not None:
                axes.axvline(100 * alarm, color=FAULTY, linewidth=1.5)

    return svg_plot(draw, 8.5, 6.0, f"Life of {outcome.run.name}")


def _shares(outcome: RunOutcome, start: int = 0) -> np.ndarray:
    """(snapshots,) of the life in per cent."""
    times = outcome.run.times
    return 100 * times[start:] / times[-1]


def _draw_score(axes: Axes, outcome: RunOutcome) -> None:
    learned = outcome.measured.learned
    begin, end = (100 * outcome.measured.share(at) for at in (learned.start, learned.stop))
    axes.axvspan(begin, end, color=GRID, linewidth=0)
    axes.text((begin + end) / 2, _HIGHEST_SCORE * 0.9, "learned", ha="center", color=MUTED)
    scores = np.array([verdict.change.score for verdict in outcome.verdicts])
    lasting = np.array([verdict.score for verdict in outcome.verdicts])
    times = _shares(outcome, learned.stop)
    axes.plot(times, np.clip(scores, 0, _HIGHEST_SCORE), color=NORMAL, linewidth=0.4, alpha=0.6)
    axes.plot(times, np.clip(lasting, 0, _HIGHEST_SCORE), color=INK, linewidth=1.2)
    for limit, name in ((ALERT, "alert"), (ALARM, "alarm")):
        axes.axhline(limit, color=FAULTY, linewidth=0.7, linestyle="--")
        axes.text(0.5, limit + 0.08, name, color=FAULTY)
    for colour, (name, snapshot) in zip(REFERENCES, outcome.rules.items(), strict=False):
        if (share := outcome.share(snapshot)) is not None:
            axes.plot(100 * share, 0, "^", color=colour, clip_on=False, label=name)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper center", ncols=3, title="first alarm of plain rules")
    axes.set_ylim(0, _HIGHEST_SCORE)
    axes.set_ylabel("change score")


def _draw_levels(axes: Axes, outcome: RunOutcome) -> None:
    measured = outcome.measured
    levels = np.array([levels_of(step) for step in measured.steps])  # (snapshots, 1 + bands)
    levels -= np.median(levels[measured.learned], axis=0)
    means = sliding_window_view(levels, STEPS_AVERAGED, axis=0).mean(-1)
    times = _shares(outcome, STEPS_AVERAGED - 1)
    for band in range(1, means.shape[1]):
        axes.plot(times, means[:, band], color=NORMAL, linewidth=0.7, alpha=0.55)
    axes.plot(times, means[:, 0], color=INK, linewidth=1.3, label="whole level")
    axes.plot([], [], color=NORMAL, linewidth=0.8, label="bands")
    axes.legend(loc="upper left")
    axes.set_ylabel("dB above usual")


def _draw_kurtosis(axes: Axes, outcome: RunOutcome) -> None:
    kurtosis = np.log([step.kurtosis for step in outcome.measured.steps])
    means = np.exp(sliding_window_view(kurtosis, STEPS_AVERAGED).mean(-1))
    axes.plot(_shares(outcome, STEPS_AVERAGED - 1), means, color=NORMAL, linewidth=0.9)
    axes.set_ylabel("kurtosis")
