"""Draw a clip's spectrogram with its anomaly map on top."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from ssdpt.evaluation.explanation import Explanation

_HEAT = np.array([255, 106, 0], np.float32)  # orange on grey is visible to colour-blind readers too
_HERTZ = (63, 125, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000)


def draw_spectrogram(axes: Axes, explanation: Explanation, *, with_map: bool = True) -> None:
    """The spectrogram in grey, the anomaly map in orange, its most anomalous part framed."""
    bins = explanation.frames.shape[1]
    axes.imshow(
        _blend(explanation, with_map).transpose(1, 0, 2),
        origin="lower",
        aspect="auto",
        interpolation="none",
        extent=(explanation.start, explanation.end, -0.5, bins - 0.5),
    )
    places = np.interp(_HERTZ, explanation.frequencies, np.arange(bins), left=-1, right=-1)
    # Low octaves are close together on the mel axis: skip ticks that would overlap.
    ticks: list[tuple[float, str]] = []
    for hertz, place in zip(_HERTZ, places, strict=True):
        if place >= 0 and (not ticks or place - ticks[-1][0] > bins / 12):
            ticks.append((float(place), f"{hertz} Hz" if hertz < 1000 else f"{hertz // 1000} kHz"))
    axes.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
    axes.tick_params(length=2.5)
    if with_map and explanation.seconds and explanation.hertz:
        low, high = np.interp(explanation.hertz, explanation.frequencies, np.arange(bins))
        begin, finish = explanation.seconds
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


def _blend(explanation: Explanation, with_map: bool) -> NDArray[np.uint8]:
    """(frames, mel bins, 3): quiet is dark, loud is light, anomalous is orange."""
    quiet, loud = np.percentile(explanation.frames, [2, 99.8])
    grey = np.clip((explanation.frames - quiet) / max(loud - quiet, 1e-6), 0, 1)
    mixed = (25 + 215 * grey)[..., None] * np.ones(3, np.float32)
    if with_map:
        most = float(np.percentile(explanation.heat, 99.7)) or float(explanation.heat.max()) or 1.0
        median = float(np.median(explanation.heat))
        anomaly = np.clip((explanation.heat - median) / max(most - median, 1e-12), 0, 1)[..., None]
        orange = _HEAT * (0.75 + 0.25 * grey[..., None])
        mixed = mixed * (1 - 0.75 * anomaly) + 0.75 * anomaly * orange
    # 64 levels per channel look the same and halve the file size.
    return (np.clip(mixed, 0, 255).astype(np.uint8) >> 2) << 2
