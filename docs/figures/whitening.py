"""Draws what whitening does to the distances between seconds of sound.

    python docs/figures/whitening.py docs/images/whitening.png

The machine is simulated, the view is its spectrum. Prints how well the distance alone tells faulty
clips from healthy ones, in every view: as it is, whitened, and divided by the local density.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from simulated_machine import SimulatedMachine
from style import FAULTY, MUTED, NORMAL, new_figure, save

from ssdpt.detection.detector import Detector
from ssdpt.evaluation.metrics import auc
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import views_of
from ssdpt.scoring.distances import distances
from ssdpt.scoring.section_model import ClipViews, View
from ssdpt.systems.texture.system import Texture
from ssdpt.types import Clip

_VIEW = "spectrum"
_BINS = 25
Distance = Callable[[np.ndarray], np.ndarray]  # of the rows of a clip, (rows, d): (rows,)


@dataclass(frozen=True, slots=True)
class Steps:
    """The three distances of a row to the learned ones, in one view."""

    as_it_is: Distance
    whitened: Distance
    by_density: Distance

    @classmethod
    def of(cls, view: View, learned: Sequence[np.ndarray]) -> Steps:
        """`learned`: the clips of the fit in this view, (rows, d) each."""
        raw = np.concatenate([_compared(rows, view) for rows in learned]).astype(np.float32)
        references = next(iter(view.bank.domains.values()))
        return cls(
            lambda rows: distances(_compared(rows, view).astype(np.float32), raw).min(1),
            lambda rows: distances(view.points([rows])[0], references.points).min(1),
            lambda rows: references.distances(view.points([rows])[0]),
        )


def draw(out: Path, machine: SimulatedMachine, fault: str, learn: int, judge: int) -> None:
    """Write the picture, and print how well each distance separates."""
    training = machine.healthy("train", learn)
    detector = Detector.fit(training, machine=machine.kind)
    learned = _views(detector, training)
    healthy = _views(detector, machine.healthy("test", judge))
    faulty = _views(detector, machine.faulty(judge, fault))
    assert isinstance(detector.system, Texture)
    model = detector.system.section_models[detector.sections[0]]
    figure = new_figure(6.8)
    panels = figure.subplot_mosaic(
        [["before", "after"], ["raw", "raw"], ["whitened", "whitened"]], height_ratios=(4, 2, 2)
    )
    view = model.views[_VIEW]
    _draw_seconds(panels["before"], panels["after"], view, healthy, faulty)
    steps = Steps.of(view, [clip[_VIEW] for clip in learned])
    for name, title, distance in (
        ("raw", "distance to the nearest normal second", steps.as_it_is),
        ("whitened", "the same, whitened", steps.whitened),
    ):
        _draw_distances(panels[name], title, distance, healthy, faulty)
    panels["whitened"].set_xlabel("mean over a clip; 1 = the median healthy clip")
    panels["raw"].legend()
    save(figure, out)
    for name, view in model.views.items():
        steps = Steps.of(view, [clip[name] for clip in learned])
        areas = [
            _area(_of_clips(step, healthy, name), _of_clips(step, faulty, name))
            for step in (steps.as_it_is, steps.whitened, steps.by_density)
        ]
        print(f"{name}: AUC {areas[0]:.3f}, whitened {areas[1]:.3f}, by density {areas[2]:.3f}")


def _views(detector: Detector, clips: Sequence[Clip]) -> list[ClipViews]:
    front_end = detector.front_end
    assert isinstance(front_end, TextureFrames)
    return [views_of(detector.frames(clip), front_end, 1.0) for clip in clips]


def _compared(rows: np.ndarray, view: View) -> np.ndarray:
    """The rows of a clip, or their mean where that is compared."""
    return rows.mean(0, keepdims=True) if view.averaged else rows


def _draw_seconds(
    before: Axes, after: Axes, view: View, healthy: Sequence[ClipViews], faulty: Sequence[ClipViews]
) -> None:
    """Seconds in two directions: in which healthy ones differ most, and in which faults lie."""
    rows = {NORMAL: _rows(healthy), FAULTY: _rows(faulty)}
    centre = rows[NORMAL].mean(0)
    whitened = {colour: (some - centre) @ view.matrix for colour, some in rows.items()}
    widest = view.matrix / np.linalg.norm(view.matrix, axis=0)  # directions, one a column
    offsets = np.abs(np.median(whitened[FAULTY], axis=0))
    # The last column is the direction in which the machine varies most by itself.
    across, along = int(offsets[:-1].argmax()), widest.shape[1] - 1
    for colour, name in ((NORMAL, "healthy"), (FAULTY, "faulty")):
        raw = (rows[colour] - centre) @ widest
        before.plot(raw[:, along], raw[:, across], ".", color=colour, markersize=2, label=name)
        some = whitened[colour]
        after.plot(some[:, along], some[:, across], ".", color=colour, markersize=2)
    before.set(title="seconds as they are", xlabel="dB", ylabel="dB")
    after.set(title="whitened", xlabel="deviations", ylabel="deviations")
    for axes in (before, after):
        axes.set_aspect("equal", adjustable="datalim")
        axes.yaxis.label.set_color(MUTED)
        axes.xaxis.label.set_color(MUTED)


def _rows(clips: Sequence[ClipViews]) -> np.ndarray:
    return np.concatenate([clip[_VIEW] for clip in clips])


def _draw_distances(
    axes: Axes,
    title: str,
    distance: Distance,
    healthy: Sequence[ClipViews],
    faulty: Sequence[ClipViews],
) -> None:
    normal, broken = (_of_clips(distance, clips, _VIEW) for clips in (healthy, faulty))
    area = _area(normal, broken)
    usual = float(np.median(normal))
    most = float(max(normal.max(), np.quantile(broken, 0.95))) / usual
    edges = np.linspace(min(normal.min(), broken.min()) / usual, most, _BINS)
    for values, colour, name in ((normal, NORMAL, "healthy"), (broken, FAULTY, "faulty")):
        axes.hist(np.clip(values / usual, None, most), edges, color=colour, alpha=0.6, label=name)
    axes.set(title=f"{title}: AUC {area:.2f}", ylabel="clips")


def _of_clips(distance: Distance, clips: Sequence[ClipViews], name: str) -> np.ndarray:
    """The mean distance of each clip, (clips,)."""
    return np.array([float(distance(clip[name]).mean()) for clip in clips])


def _area(healthy: np.ndarray, faulty: np.ndarray) -> float:
    labels = np.repeat([0, 1], [len(healthy), len(faulty)])
    return auc(labels, np.concatenate([healthy, faulty]))


if __name__ == "__main__":
    draw(Path(sys.argv[1]), SimulatedMachine("pump", "demo"), fault="leak", learn=100, judge=100)
