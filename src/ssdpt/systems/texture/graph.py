"""Scoring by views as one module, for export: from the frames of a clip to the scores of its rows.

It is made from what the fit has left in the `SectionModel`s, whatever led to it: matrix, normal
clips and weight of every view. Whether it is the same model is checked when it is exported.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from ssdpt.features.views import LEAST_FRAMES
from ssdpt.scoring.condition import Condition
from ssdpt.scoring.references import References
from ssdpt.scoring.section_model import SectionModel, View
from ssdpt.systems.parts.graph import GraphOutput, SystemGraph
from ssdpt.systems.texture.view_graphs import Rows

_SMALLEST = 1e-9  # distance, as in ssdpt.scoring.references


class ViewsGraph(SystemGraph):
    """The rows of a clip in every view and as every section."""

    def __init__(
        self,
        models: Mapping[str, SectionModel],
        views: Mapping[str, nn.Module],
        rows: Rows,
        *,
        clip_frames: int,
    ) -> None:
        """`views`: what describes a clip, (frames, values) to (rows, d), by view."""
        weights = {name: [model.views[name].weight for model in models.values()] for name in views}
        super().__init__(weights, LEAST_FRAMES, 1)
        self.clip_frames, self.rows = clip_frames, rows
        self.views = nn.ModuleDict(views)
        self.section_models = nn.ModuleDict(
            {
                view: nn.ModuleList([_ViewScores(model.views[view]) for model in models.values()])
                for view in views
            }
        )

    def forward(self, frames: Tensor) -> GraphOutput:
        # A short clip is repeated: there is no modulation in a moment.
        count = frames.shape[0]
        repeats = (LEAST_FRAMES + count - 1) // count
        place = torch.arange(count * repeats) % torch.scalar_tensor(count, dtype=torch.int64)
        rows = self.rows(count * repeats)
        parts, embedding = [], []
        for name, view in self.views.items():
            described = view(frames if isinstance(view, WholeClipView) else frames[place].double())
            sections = self.section_models[name]
            assert isinstance(sections, nn.ModuleList)
            scores = torch.stack([as_section(described) for as_section in sections], 1)
            # A view of the whole clip says the same of each of its rows.
            parts.append((scores + torch.zeros((rows, 1), dtype=scores.dtype)).float())
            embedding.append(described.mean(0, keepdim=True))
        return GraphOutput(tuple(parts), torch.cat(embedding, 1).float())


class WholeClipView(nn.Module):
    """A view of the clip as it is, without repetition, such as that of a network."""

    def __init__(self, view: nn.Module) -> None:
        super().__init__()
        self.view = view

    def forward(self, frames: Tensor) -> Tensor:
        described: Tensor = self.view(frames[None])
        return described


class _ViewScores(nn.Module):
    """What each row adds to the score in one view, as one section: `View.z_over_time`.

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
        self.register_buffer("matrix", _float32(view.matrix))
        self.register_buffer("centre", torch.from_numpy(centre))
        averaged = view.averaged
        self.groups = nn.ModuleList(
            [
                *(_Nearest(references, moved, averaged) for references in bank.domains.values()),
                *(_Rescaled(condition, moved, averaged) for condition in bank.added),
            ]
        )

    def forward(self, rows: Tensor) -> Tensor:
        """(rows, d) to (rows,)."""
        points = (rows - self.centre.double()) @ self.matrix.double()
        if len(self.groups) == 1:
            only: Tensor = self.groups[0](points)
            return only
        over_time = torch.stack([group(points) for group in self.groups])  # (groups, rows)
        return over_time[over_time.mean(1).argmin()]


class _Nearest(nn.Module):
    """`References.z_over_time` of points around another centre."""

    points: Tensor  # (n, d)
    spacing: Tensor  # (n,)

    def __init__(self, references: References, centre: np.ndarray, averaged: bool) -> None:
        super().__init__()
        self.scale, self.averaged = references.scale, averaged
        points = np.asarray(references.points, np.float64) - centre
        self.register_buffer("points", torch.from_numpy(points))
        self.register_buffer("spacing", _float32(references.neighbour_distance))

    def forward(self, points: Tensor) -> Tensor:
        others, spacing = self.points, self.spacing.double()
        compared = points.mean(0, keepdim=True) if self.averaged else points
        squares = compared.square().sum(1)[:, None] + others.square().sum(1)
        squares = squares - 2 * compared @ others.T
        nearest = (squares.clamp_min(0).sqrt() / spacing).argmin(1)
        # Of the nearest once more: a difference of squares has few digits left in float32.
        offsets = points - others[nearest]  # (rows, d)
        if self.averaged:
            mean_offset = offsets.mean(0)
            size = mean_offset.square().sum().sqrt().clamp_min(_SMALLEST)
            along = offsets @ (mean_offset / size)
        else:
            along = offsets.square().sum(1).sqrt()
        mean, sd = torch.tensor([self.scale.mean, self.scale.sd], dtype=torch.float64)
        return (along / spacing[nearest] - mean) / sd


class _Rescaled(nn.Module):
    """`Condition.z_over_time` of points around another centre."""

    directions: Tensor  # (r, d)
    factors: Tensor  # (r,)

    def __init__(self, condition: Condition, centre: np.ndarray, averaged: bool) -> None:
        super().__init__()
        self.register_buffer("directions", _float32(condition.directions))
        self.register_buffer("factors", _float32(condition.factors))
        moved = condition.rescaled(centre[None])[0]
        self.nearest = _Nearest(condition.references, moved, averaged)

    def forward(self, points: Tensor) -> Tensor:
        directions = self.directions.double()
        along = (points @ directions.T) * (self.factors.double() - 1)
        scores: Tensor = self.nearest(points + along @ directions)
        return scores


def _float32(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(values, np.float32))
