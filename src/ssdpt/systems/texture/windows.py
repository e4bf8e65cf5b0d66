"""Windows of two seconds, for the score over time of clips that are scored as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from ssdpt.features.front_end import FrontEnd
from ssdpt.features.views import LEAST_FRAMES
from ssdpt.scoring.fusion import Scale
from ssdpt.scoring.section_model import SectionModel, ViewVectors
from ssdpt.scoring.windows import Parts, ScoredClip, WindowGrid
from ssdpt.types import Floats

MOST_CLIPS = 24  # normal clips of a section whose windows set the scale
_SECONDS = 2.0
_SHARES = (0.5, 0.9)  # of windows and clips, whose scores are to agree
_SMALLEST = 1e-3  # between the two, of windows or clips that are copies of each other

Describe = Callable[[Floats], ViewVectors]  # frames (frames, values) to every view
Scales = Mapping[str, Scale]  # of normal windows, by view


def grid_of(front_end: FrontEnd) -> WindowGrid:
    """Windows of two seconds, one every second; of slow frames, as many as a view needs."""
    frames = max(round(_SECONDS / front_end.frame_seconds), LEAST_FRAMES)
    return WindowGrid(frames, frames // 2)


def normal_scales(
    model: SectionModel,
    clips: Iterable[tuple[ViewVectors, Floats]],
    held_out: Sequence[float],
    grid: WindowGrid,
    describe: Describe,
) -> dict[str, Scale]:
    """The scale of a section's normal windows, by view; empty if its clips are too short.

    `clips` are normal clips of the fit: all views, and the frames (frames, values). The windows of
    a clip are compared with the others: not with the clip that they are a part of. Of normal
    windows one half and one in ten shall score above what one half and one in ten of normal clips,
    `held_out` from the fit, score above.
    """
    scores: dict[str, list[np.ndarray]] = {view: [] for view in model.views}
    for whole, frames in clips:
        if not grid.starts(len(frames)):
            continue
        windows = _windows(frames, grid, describe)
        for name, view in model.views.items():
            scores[name].append(view.without(whole[name]).z_scores(windows[name]))
    joined = {view: np.concatenate(values) for view, values in scores.items() if values}
    scales = {view: Scale.of(values) for view, values in joined.items()}
    if not scales:
        return {}
    fused = sum(
        view.weight * scales[name].z_scores(joined[name]) for name, view in model.views.items()
    )
    usual, high = np.quantile(fused, _SHARES)
    usual_clip, high_clip = np.quantile(held_out, _SHARES) if len(held_out) else (usual, high)
    stretch = max(high_clip - usual_clip, _SMALLEST) / max(high - usual, _SMALLEST)
    shift = usual_clip - stretch * usual
    return {
        view: Scale(float(scale.mean - shift * scale.sd / stretch), float(scale.sd / stretch))
        for view, scale in scales.items()
    }


def scales_to_json(scales: Mapping[str, Scales]) -> dict[str, Any]:
    """Scales by section and view as plain values."""
    return {
        section: {view: [scale.mean, scale.sd] for view, scale in by_view.items()}
        for section, by_view in scales.items()
    }


def scales_from_json(tree: Mapping[str, Any]) -> dict[str, dict[str, Scale]]:
    """The reverse of `scales_to_json`."""
    return {
        section: {view: Scale(float(mean), float(sd)) for view, (mean, sd) in by_view.items()}
        for section, by_view in tree.items()
    }


class DescribedClip:
    """One clip of a recording in every view; its windows once they are asked for."""

    def __init__(self, frames: Floats, grid: WindowGrid, describe: Describe) -> None:
        self.vectors = describe(frames)
        self._frames, self._grid, self._describe = frames, grid, describe

    def score_as(self, model: SectionModel, scales: Scales) -> ScoredClip:
        """Its scores by the model of one section, whose normal windows have these scales."""
        return ScoredClip(
            len(self._frames), model.z_scores(self.vectors), partial(self._scored, model, scales)
        )

    @cached_property
    def _window_vectors(self) -> dict[str, np.ndarray]:
        return _windows(self._frames, self._grid, self._describe)

    def _scored(self, model: SectionModel, scales: Scales) -> Parts:
        return {
            name: scales[name].z_scores(model.views[name].z_scores(windows)).astype(np.float32)
            for name, windows in self._window_vectors.items()
            if name in scales
        }


def _windows(frames: Floats, grid: WindowGrid, describe: Describe) -> dict[str, np.ndarray]:
    """All windows of a clip (frames, values) in every view, (windows, d) each."""
    windows = [describe(frames[start : start + grid.frames]) for start in grid.starts(len(frames))]
    views = windows[0] if windows else {}
    return {view: np.array([window[view] for window in windows]) for view in views}
