"""Scoring by views as one module, for export: from the frames of a clip to the scores of its views.

It is made from what the fit has left in the `SectionModel`s, whatever led to it: matrix, normal
clips and weight of every view. Whether it is the same model is checked when it is exported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ssdpt.features.views import LEAST_FRAMES
from ssdpt.scoring.condition import Condition
from ssdpt.scoring.fusion import Scale
from ssdpt.scoring.references import References
from ssdpt.scoring.section_model import SectionModel, View
from ssdpt.scoring.windows import WindowGrid
from ssdpt.systems.parts.graph import GraphOutput, SystemGraph


class ViewsGraph(SystemGraph):
    """The clip as a whole, and its windows, in every view and as every section."""

    def __init__(
        self,
        models: Mapping[str, SectionModel],
        views: Mapping[str, nn.Module],
        window_scales: Mapping[str, Mapping[str, Scale]],
        *,
        clip_frames: int,
        windows: WindowGrid | None,
    ) -> None:
        """`views`: what describes clips, by view; `window_scales`: by section and view."""
        weights = {name: [model.views[name].weight for model in models.values()] for name in views}
        super().__init__(weights, LEAST_FRAMES, 1)
        self.clip_frames, self.windows = clip_frames, windows
        self.views = nn.ModuleDict(views)
        self.section_models = nn.ModuleDict(
            {
                view: nn.ModuleList([_ViewScores(model.views[view]) for model in models.values()])
                for view in views
            }
        )
        self.scales = [
            [window_scales[section][view] for view in views] for section in window_scales
        ]

    def forward(self, frames: Tensor) -> GraphOutput:
        vectors = {name: view(frames[None]) for name, view in self.views.items()}
        embedding = torch.cat(list(vectors.values()), 1)
        if self.windows is not None:
            cut = self._cut(frames, self.windows)  # (windows, frames, values)
            vectors = {
                name: torch.cat([vectors[name], view(cut)]) for name, view in self.views.items()
            }
        scores = [
            torch.stack([as_section(vectors[name]) for as_section in sections], 1)
            for name, sections in self._by_view()
        ]  # (1 + windows, sections) each
        return GraphOutput(
            tuple(part[:1].float() for part in scores),
            embedding.float(),
            windows=self._scaled(torch.stack(scores, 2)[1:]) if self.windows else None,
        )

    def _by_view(self) -> list[tuple[str, nn.ModuleList]]:
        sections = self.section_models.items()
        return [(name, part) for name, part in sections if isinstance(part, nn.ModuleList)]

    def _cut(self, frames: Tensor, grid: WindowGrid) -> Tensor:
        """All windows of a clip (frames, values); one that is shorter is repeated to fill one."""
        count = torch.sym_max(frames.shape[0] - grid.frames, 0) // grid.hop + 1  # type: ignore[no-untyped-call]
        position = torch.arange(count)[:, None] * grid.hop + torch.arange(grid.frames)
        return frames[position % torch.scalar_tensor(frames.shape[0], dtype=torch.int64)]

    def _scaled(self, windows: Tensor) -> Tensor:
        """Scores (windows, sections, views) on the scale of normal windows."""
        scales = [[(scale.mean, scale.sd) for scale in by_view] for by_view in self.scales]
        mean, sd = torch.tensor(scales, dtype=torch.float64).unbind(2)  # (sections, views)
        return ((windows - mean) / sd).float()


class HandMadeView(nn.Module):
    """A hand-made view of clips (clips, frames, values); short ones are repeated."""

    def __init__(self, view: nn.Module) -> None:
        super().__init__()
        self.view = view

    def forward(self, clips: Tensor) -> Tensor:
        count = clips.shape[1]
        repeats = (LEAST_FRAMES + count - 1) // count
        place = torch.arange(count * repeats) % torch.scalar_tensor(count, dtype=torch.int64)
        vectors: Tensor = self.view(clips[:, place].double())
        return vectors


class _ViewScores(nn.Module):
    """How unusual clips are in one view, as one section: `View.z_scores`.

    Everything is moved so that the normal clips lie around 0: runtimes that compute in float32
    would lose the small differences between large numbers.
    """

    matrix: Tensor  # (d, d)
    centre: Tensor  # (d,)

    def __init__(self, view: View) -> None:
        super().__init__()
        bank, matrix = view.bank, np.asarray(view.matrix, np.float64)
        middle = np.mean([group.points.mean(0) for group in bank.domains.values()], axis=0)
        centre = np.linalg.lstsq(matrix.T, middle, rcond=None)[0].astype(np.float32)
        moved = centre.astype(np.float64) @ matrix
        self.register_buffer("matrix", torch.from_numpy(np.asarray(view.matrix, np.float32)))
        self.register_buffer("centre", torch.from_numpy(centre))
        self.groups = nn.ModuleList(
            [
                *(_Nearest(references, moved) for references in bank.domains.values()),
                *(_Rescaled(condition, moved) for condition in bank.added),
            ]
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """(clips, d) to (clips,)."""
        points = (vectors - self.centre.double()) @ self.matrix.double()
        return torch.stack([group(points) for group in self.groups]).amin(0)


class _Nearest(nn.Module):
    """`References.z_scores` of points around another centre."""

    points: Tensor  # (normal clips, d)
    spacing: Tensor  # (normal clips,)

    def __init__(self, references: References, centre: np.ndarray) -> None:
        super().__init__()
        self.scale = references.scale
        points = np.asarray(references.points, np.float64) - centre
        self.register_buffer("points", torch.from_numpy(points))
        spacing = np.asarray(references.neighbour_distance, np.float32)
        self.register_buffer("spacing", torch.from_numpy(spacing.copy()))

    def forward(self, points: Tensor) -> Tensor:
        others, spacing = self.points, self.spacing.double()
        squares = points.square().sum(1)[:, None] + others.square().sum(1) - 2 * points @ others.T
        nearest = (squares.clamp_min(0).sqrt() / spacing).argmin(1)
        # Of the nearest once more: a difference of squares has few digits left in float32.
        distance = (points - others[nearest]).square().sum(1).sqrt() / spacing[nearest]
        mean, sd = torch.tensor([self.scale.mean, self.scale.sd], dtype=torch.float64)
        return (distance - mean) / sd


class _Rescaled(nn.Module):
    """`Condition.z_scores` of points around another centre."""

    directions: Tensor  # (r, d)
    factors: Tensor  # (r,)

    def __init__(self, condition: Condition, centre: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("directions", _float32(condition.directions))
        self.register_buffer("factors", _float32(condition.factors))
        self.nearest = _Nearest(condition.references, condition.rescaled(centre[None])[0])

    def forward(self, points: Tensor) -> Tensor:
        directions = self.directions.double()
        along = (points @ directions.T) * (self.factors.double() - 1)
        scores: Tensor = self.nearest(points + along @ directions)
        return scores


def _float32(values: np.ndarray | Sequence[float]) -> Tensor:
    return torch.from_numpy(np.array(values, np.float32))
