"""A clip's spectrogram on axes, with what is odd in it laid over."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from ssdpt.evaluation.explanation import Explanation

_HEAT = np.array([255, 106, 0], np.float32)  # orange over grey is told apart by every eye
_HERTZ = (63, 125, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000)


def draw_spectrogram(axes: Axes, shown: Explanation, *, with_map: bool = True) -> None:
    """The frames in grey; with the map in orange, and its strongest part framed."""
    bins = shown.frames.shape[1]
    axes.imshow(
        _blend(shown, with_map).transpose(1, 0, 2),
        origin="lower",
        aspect="auto",
        interpolation="none",
        extent=(shown.start, shown.end, -0.5, bins - 0.5),
    )
    places = np.interp(_HERTZ, shown.frequencies, np.arange(bins), left=-1, right=-1)
    # Low octaves crowd on the mel axis: a tick needs a distance of its own.
    ticks: list[tuple[float, str]] = []
    for hertz, place in zip(_HERTZ, places, strict=True):
        if place >= 0 and (not ticks or place - ticks[-1][0] > bins / 12):
            ticks.append((float(place), f"{hertz} Hz" if hertz < 1000 else f"{hertz // 1000} kHz"))
    axes.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
    axes.tick_params(length=2.5)
    if with_map and shown.seconds and shown.hertz:
        low, high = np.interp(shown.hertz, shown.frequencies, np.arange(bins))
        begin, finish = shown.seconds
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


def _blend(shown: Explanation, with_map: bool) -> NDArray[np.uint8]:
    """(frames, mel bins, 3): quiet is dark, loud is light, odd is orange."""
    quiet, loud = np.percentile(shown.frames, [2, 99.8])
    grey = np.clip((shown.frames - quiet) / max(loud - quiet, 1e-6), 0, 1)
    mixed = (25 + 215 * grey)[..., None] * np.ones(3, np.float32)
    if with_map:
        most = float(np.percentile(shown.heat, 99.7)) or float(shown.heat.max()) or 1.0
        usual = float(np.median(shown.heat))
        odd = np.clip((shown.heat - usual) / max(most - usual, 1e-12), 0, 1)[..., None]
        mixed = mixed * (1 - 0.75 * odd) + 0.75 * odd * _HEAT * (0.75 + 0.25 * grey[..., None])
    # 64 shades a channel look the same and halve the file.
    return (np.clip(mixed, 0, 255).astype(np.uint8) >> 2) << 2
