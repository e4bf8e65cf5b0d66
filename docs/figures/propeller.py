"""Draws flights of a drone with intact and with broken propellers: two spectrograms, all scores.

    python docs/figures/propeller.py MODEL DRONE docs/tutorials/images/propeller.png

MODEL and DRONE are the folders that the tutorial docs/tutorials/propeller.md makes, from the public
UAV Propeller Anomaly Audio Data Set. Flights that the model has learned from are not drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from style import ALERT, FAULTY, INK, MUTED, NORMAL, new_figure, save

from ssdpt.common.files import digest
from ssdpt.detection.detector import Detector

HEALTHY, BROKEN = "normal/cw_f8-4.wav", "2_broken/0011-cw_f8-1.wav"  # the same way through the hall
SECONDS = (30, 40)  # of these two flights: in the air, long after take-off
HERTZ = (250, 500, 1000, 2000, 4000)
STATES = {
    "normal": "intact",
    "1_broken": "1 broken",
    "2_broken": "2 broken",
    "3_4_broken": "3 or 4 broken",
}


def draw(model: Path, drone: Path, out: Path) -> None:
    """Write the picture."""
    detector = Detector.load(model)
    figure = new_figure(5.2)
    panels = figure.subplot_mosaic(
        [["healthy", "broken"], ["scores", "scores"]], height_ratios=(3, 2.2)
    )
    levels = [_levels(detector, drone / name) for name in (HEALTHY, BROKEN)]
    limits = tuple(np.percentile(np.concatenate(levels), [1, 99.8]))
    for name, level in zip(("healthy", "broken"), levels, strict=True):
        _draw_spectrogram(panels[name], detector, level, limits)
    panels["healthy"].set_title("four intact propellers", color=NORMAL)
    panels["broken"].set_title("two broken ones", color=FAULTY)
    panels["healthy"].set_ylabel("Hz")
    panels["broken"].tick_params(labelleft=False)
    _draw_scores(panels["scores"], detector, drone)
    save(figure, out)


def _levels(detector: Detector, path: Path) -> np.ndarray:
    """Levels in dB of some seconds, (frames, bins)."""
    begin, end = (round(s / detector.frame_seconds) for s in SECONDS)
    return detector.frames(path)[begin:end]


def _draw_spectrogram(
    axes: Axes, detector: Detector, levels: np.ndarray, limits: tuple[float, float]
) -> None:
    bins = len(detector.frequencies)
    axes.imshow(
        levels[:, :bins].T,
        origin="lower",
        aspect="auto",
        cmap="magma",
        clim=limits,
        extent=(*SECONDS, -0.5, bins - 0.5),
    )
    places = np.interp(HERTZ, detector.frequencies, np.arange(bins))
    axes.set_yticks(places, [str(hertz) for hertz in HERTZ])
    axes.set_xlabel("seconds of the flight")


def _draw_scores(axes: Axes, detector: Detector, drone: Path) -> None:
    for row, folder in enumerate(STATES):
        for flight in sorted((drone / folder).glob("*.wav")):
            if digest(flight) in detector.fingerprint:
                continue
            score = detector.score(flight)
            axes.plot(score.value, row, "o", color=FAULTY if row else NORMAL, markersize=7)
    axes.axvline(score.threshold, color=ALERT, linestyle="dashed", linewidth=1)
    axes.annotate(
        "alert", (score.threshold, -0.45), (3, 0), textcoords="offset points", color=ALERT
    )
    axes.set_yticks(range(len(STATES)), STATES.values())
    axes.set_ylim(len(STATES) - 0.5, -0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel("score of a whole flight: higher = more unusual")
    axes.set_title("flights that it had not learned", color=INK)
    axes.tick_params(axis="y", length=0, labelcolor=MUTED)


if __name__ == "__main__":
    draw(*map(Path, sys.argv[1:4]))
