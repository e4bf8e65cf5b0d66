"""The figure of the masks: one segment unmasked and with every masking method."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ssdpt.config.tree import Config
from ssdpt.experiments.paper.variants import MASKS
from ssdpt.experiments.report.picture import PANEL, Picture, make_picture
from ssdpt.features.logmel import mel_frequencies
from ssdpt.nn.masking import draw_boxes, visible
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.types import Floats

_HERTZ = (125, 250, 500, 1000, 2000, 4000, 8000, 16000)
_NAMES = {
    "NM": "no masking (NM)",
    "TM": "time (TM)",
    "FM": "frequency (FM)",
    "SpecAugment": "SpecAugment",
    "PM": "patches (PM)",
}
_HIDDEN = "#d55e00"


def mask_examples(
    log_mel: Floats, config: Config, *, seed: int = 0, smoke: bool = False
) -> Picture:
    """Five panels of the segment in the middle of a clip, `log_mel` (frames, bins) in dB."""
    length = min(config.part(SsdptConfig).frames, len(log_mel))
    first = (len(log_mel) - length) // 2
    segment = log_mel[first : first + length]  # (P, F)
    bins = segment.shape[1]
    step = config.features.hop_length / config.audio.sample_rate
    quiet, loud = np.percentile(segment, [1, 99.5])

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(MASKS), sharey=True)
        for axes, (name, hidden) in zip(
            panels, masks(config, length, bins, seed).items(), strict=True
        ):
            axes.imshow(
                segment.T,
                origin="lower",
                aspect="auto",
                interpolation="none",
                cmap="viridis",
                vmin=quiet,
                vmax=loud,
                extent=(0.0, length * step, -0.5, bins - 0.5),
            )
            cover = np.zeros((bins, length, 4))
            cover[hidden.T] = (*(int(_HIDDEN[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0)
            axes.imshow(
                cover,
                origin="lower",
                aspect="auto",
                interpolation="none",
                extent=(0.0, length * step, -0.5, bins - 0.5),
            )
            axes.set_title(_NAMES[name], fontsize=9, loc="left")
            axes.set_xlabel("seconds")
            axes.tick_params(length=2.5)
        frequencies = mel_frequencies(config.features, config.audio.sample_rate)
        ticks: list[tuple[float, int]] = []
        for hertz in _HERTZ:
            place = float(np.interp(hertz, frequencies, np.arange(bins), left=-1, right=-1))
            # Low octaves are close together on the mel axis: skip ticks that would overlap.
            if place >= 0 and (not ticks or place - ticks[-1][0] > bins / 14):
                ticks.append((place, hertz))
        panels[0].set_yticks(
            [place for place, _ in ticks],
            [f"{hertz} Hz" if hertz < 1000 else f"{hertz // 1000} kHz" for _, hertz in ticks],
        )
        right = panels[-1].twinx()
        right.set_ylim(panels[-1].get_ylim())
        right.set_yticks([*range(0, bins, max(1, bins // 4)), bins - 1])
        right.set_ylabel("mel bin")
        right.spines["right"].set_visible(True)
        right.tick_params(length=2.5)
        figure.legend(
            handles=[Patch(facecolor=_HIDDEN, edgecolor=PANEL, label="hidden")],
            loc="outside lower center",
        )

    mask = config.part(SsdptConfig).mask
    return make_picture(
        "masks",
        "A segment with every masking method",
        f"One segment of {length} frames and {bins} mel bins of a normal clip; light is loud. TM "
        f"and FM: {mask.stripes} stripes of {mask.stripe_width}, SpecAugment: both, PM: "
        f"{mask.patches} squares of {mask.patch_size} × {mask.patch_size}. Hidden points are zero "
        "after the input normalisation, which is the mean of their bin.",
        draw,
        (10.0, 3.0),
        smoke,
    )


def masks(config: Config, frames: int, bins: int, seed: int) -> dict[str, np.ndarray]:
    """(frames, bins) for every method: whether a point is hidden."""
    hidden = {}
    for name, kind in MASKS.items():
        generator = torch.Generator().manual_seed(seed)
        chosen = config.part(SsdptConfig).mask.model_copy(update={"kind": kind})
        boxes = draw_boxes(chosen, 1, 1, frames, bins, generator)[0]  # (1, boxes, 4)
        shown = visible(boxes, frames, bins)
        hidden[name] = np.zeros((frames, bins), bool) if shown is None else shown[0].numpy() == 0
    return hidden
