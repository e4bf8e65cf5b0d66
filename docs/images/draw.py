"""Draws the picture of the README from a demo run: a normal and a faulty clip of one machine.

    make demo
    .venv/bin/python docs/images/draw.py demo valve docs/images/valve.png

The faulty clip is the one with the highest score in the source domain, the normal clip the one
with the median score of the same section. The frames are where the simulator put the fault.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from ssdpt.detection.detector import Detector

ORANGE = np.array([1.0, 0.45, 0.0])
HERTZ = (250, 500, 1000, 2000, 4000, 8000)


def draw(demo: Path, machine: str, out: Path) -> None:
    """Write the picture."""
    detector = Detector.load(demo / "models" / machine)
    normal, faulty = _choose(demo / "scores.csv", machine)
    heat = detector.anomaly_map(faulty)
    scale = float(np.percentile(heat, 99.5))
    score = detector.score(faulty)
    matplotlib.rcParams.update({"font.size": 9, "axes.spines.top": False})
    figure = Figure(figsize=(9, 4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, height_ratios=(3, 1))
    with (demo / "plant" / machine / "faults.csv").open(encoding="utf-8") as file:
        regions = [row for row in csv.DictReader(file) if row["file"] == faulty.name]
    for column, path in enumerate((normal, faulty)):
        verdict = detector.score(path)
        _spectrogram(panels[0, column], detector, path, scale)
        axes: Axes = panels[1, column]
        line = verdict.timeline
        middle = line.start + line.duration / 2
        axes.plot(middle, line.value, color="black", linewidth=1.3)
        over = line.value > verdict.threshold
        axes.fill_between(middle, verdict.threshold, line.value, where=over, color="orange")
        axes.axhline(verdict.threshold, color="black", linewidth=0.8, linestyle="dashed")
        axes.set_xlabel("seconds")
        axes.spines["right"].set_visible(False)
        truth = f"fault: {regions[0]['fault'].replace('_', ' ')}" if column else "normal"
        p_value = "< 0.001" if verdict.p_value < 0.001 else f"= {verdict.p_value:.2f}"
        panels[0, column].set_title(
            f"{machine}, {truth}  →  {verdict.level} (p {p_value})", fontsize=10, loc="left"
        )
    for row in regions:
        _frame(panels[0, 1], detector, row)
    least = min(axes.get_ylim()[0] for axes in panels[1])
    most = max(axes.get_ylim()[1] for axes in panels[1])
    for axes in panels[1]:
        axes.set_ylim(least, most)
    panels[1, 0].set_ylabel("score")
    panels[1, 0].annotate("threshold", (0.1, score.threshold), va="bottom", fontsize=8)
    out.parent.mkdir(parents=True, exist_ok=True)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=110)
    # 96 colours look the same and make a third of the file.
    Image.open(picture).convert("RGB").quantize(96).save(out, optimize=True)


def _choose(scores: Path, machine: str) -> tuple[Path, Path]:
    with scores.open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["machine"] == machine and row["domain"] == "source"
        ]
    worst = max((r for r in rows if r["label"] == "anomaly"), key=lambda r: float(r["value"]))
    calm = [r for r in rows if r["label"] == "normal" and r["section"] == worst["section"]]
    calm.sort(key=lambda row: float(row["value"]))
    return Path(calm[len(calm) // 2]["path"]), Path(worst["path"])


def _spectrogram(axes: Axes, detector: Detector, path: Path, scale: float) -> None:
    """Grey: loudness in dB. Orange: what the detector finds odd, on one scale for both clips."""
    frames = detector.frames(path)[:, : len(detector.frequencies)]  # the log-mel part
    odd = np.clip(detector.anomaly_map(path) / scale, 0, 1)[..., None]
    quiet, loud = np.percentile(frames, [2, 99.8])
    grey = np.clip((frames - quiet) / (loud - quiet), 0, 1)[..., None]
    axes.imshow(
        np.clip(grey * (1 - odd) + ORANGE * odd, 0, 1).transpose(1, 0, 2),
        origin="lower",
        aspect="auto",
        extent=(0, len(frames) * detector.frame_seconds, -0.5, frames.shape[1] - 0.5),
    )
    places = np.interp(HERTZ, detector.frequencies, np.arange(frames.shape[1]))
    axes.set_yticks(places, [f"{hertz / 1000:g} kHz" for hertz in HERTZ])


def _frame(axes: Axes, detector: Detector, row: dict[str, str]) -> None:
    bins = np.arange(len(detector.frequencies))
    low, high = np.interp([float(row["low_hz"]), float(row["high_hz"])], detector.frequencies, bins)
    begin, end = float(row["start_s"]), float(row["end_s"])
    axes.add_patch(
        Rectangle((begin, low), end - begin, high - low, fill=False, color="cyan", linewidth=0.7)
    )


if __name__ == "__main__":
    draw(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
