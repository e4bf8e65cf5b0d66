"""Draws the five views of a clip: what is normal, a further healthy clip, and a faulty one.

    python docs/figures/views.py docs/images/views.png

The machine is simulated. Grey is what its other healthy clips do, from the lowest to the highest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from simulated_machine import SimulatedMachine
from style import FAULTY, INK, MUTED, NORMAL, in_hertz, new_figure, save

from ssdpt.config.tree import load_config
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import (
    RateBands,
    envelope_bands,
    modulation_bands,
    rhythm_bands,
    views_of,
)
from ssdpt.types import Clip

_GREY = "#c9d1d8"
_SECONDS = 1.0


def draw(out: Path, machine: SimulatedMachine, fault: str, clips: int) -> None:
    """Write the picture."""
    config = load_config("default")
    front_end = TextureFrames(config.features, config.audio.sample_rate)
    described = [_described(clip, front_end) for clip in machine.healthy("train", clips)]
    healthy = _described(machine.healthy("test", 1)[0], front_end)
    faulty = _described(machine.faulty(1, fault)[0], front_end)
    fine_hz = front_end.fine_edges * front_end.sample_rate / front_end.n_fine
    places = {"spectrum": np.sqrt(fine_hz[:-1] * fine_hz[1:]), "roughness": front_end.frequencies}
    rates = {
        "modulation": modulation_bands(front_end),
        "envelope": envelope_bands(front_end),
        "rhythm": rhythm_bands(front_end),
    }
    figure = new_figure(8.0)
    panels = dict(zip(described[0], figure.subplots(5, 1), strict=True))
    for view, axes in panels.items():
        usual = np.array([clip[view] for clip in described])
        if view in rates:
            group = _strongest_group(usual, faulty[view], rates[view])
            choose = [group + step * rates[view].groups for step in range(_bands(rates[view]))]
            at = np.array([np.sqrt(low * high) for low, high in pairwise(rates[view].edges)])
        else:
            choose, at = list(range(len(places[view]))), places[view]
        _draw_view(axes, at, usual[:, choose], healthy[view][choose], faulty[view][choose])
    _label(panels)
    figure.legend(
        [*panels["spectrum"].get_lines(), panels["spectrum"].collections[0]],
        [
            "a healthy clip",
            f"a clip with a fault: {fault.replace('_', ' ')}",
            f"{clips} other healthy clips",
        ],
        loc="outside upper left",
        ncols=1,
    )
    save(figure, out)


def _described(clip: Clip, front_end: TextureFrames) -> dict[str, np.ndarray]:
    """Every view of a clip as the mean over its seconds, (values,)."""
    frames = np.concatenate(list(front_end.stream([clip.samples])))
    return {view: rows.mean(0) for view, rows in views_of(frames, front_end, _SECONDS).items()}


def _bands(rates: RateBands) -> int:
    return len(rates.edges) - 1


def _strongest_group(usual: np.ndarray, faulty: np.ndarray, rates: RateBands) -> int:
    """The group of neighbouring frequencies in which the faulty clip differs most."""
    deviations = (faulty - usual.mean(0)) / usual.std(0)
    return int(np.abs(deviations).reshape(-1, rates.groups).max(0).argmax())


def _draw_view(
    axes: Axes, at: np.ndarray, usual: np.ndarray, healthy: np.ndarray, faulty: np.ndarray
) -> None:
    """Values over frequency or rate `at`; `usual` (clips, values)."""
    axes.fill_between(at, usual.min(0), usual.max(0), color=_GREY, linewidth=0)
    axes.plot(at, healthy, color=NORMAL, linewidth=1)
    axes.plot(at, faulty, color=FAULTY, linewidth=1.2)
    in_hertz(axes)


def _label(panels: dict[str, Axes]) -> None:
    titles: Sequence[tuple[str, str, str]] = (
        ("spectrum: tones that come, go or move", "level, dB", "frequency, Hz"),
        ("roughness: rattle, rub", "jumps, dB", "frequency, Hz"),
        ("modulation: how it rises and falls", "log power", "times per second"),
        ("envelope: fast knocks of bearings", "log power", "times per second"),
        ("rhythm: strokes and cycles", "log power", "times per second"),
    )
    for axes, (title, y_label, x_label) in zip(panels.values(), titles, strict=True):
        axes.set(title=title, ylabel=y_label)
        axes.set_xlabel(x_label, color=MUTED)
        axes.yaxis.label.set_color(INK)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), SimulatedMachine("fan", "demo"), fault="bearing", clips=40)
