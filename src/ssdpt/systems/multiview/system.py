"""Hand-made views and dual-path Transformers: the recipe of preset `best`.

The networks learn to tell machines apart; a clip is described by their outputs, and that
description is a view like the hand-made ones: compared with the nearest normal clips, put on the
scale of normal clips, averaged with the others.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn

from ssdpt.config.tree import Config
from ssdpt.features.texture import TextureFrames
from ssdpt.scoring.section_model import ClipViews
from ssdpt.systems.multiview import MultiViewConfig
from ssdpt.systems.parts.network import count_parameters
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.systems.ssdpt.system import build_network
from ssdpt.systems.texture.system import Texture
from ssdpt.types import Floats


class MultiView(Texture):
    """`Texture` with the views of trained networks."""

    name: ClassVar[str] = "multiview"
    origin: ClassVar[str] = "Hand-made views and dual-path Transformers (preset best)"
    has_network: ClassVar[bool] = True
    trains_networks: ClassVar[bool] = True
    requires_torch: ClassVar[bool] = True

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        settings = config.part(MultiViewConfig)
        network = count_parameters(build_network(config.with_parts(settings.network), sections))
        embedding = 3 * config.features.n_mels
        networks = len(settings.inputs) * settings.networks
        views = networks * sections * embedding**2
        return super().parameter_count(config, sections) + networks * network + views

    @classmethod
    def views(
        cls, frames: Floats, front_end: TextureFrames, config: Config, shared: SharedReference
    ) -> ClipViews:
        views = dict(super().views(frames, front_end, config, shared))
        if shared.networks is not None:
            views |= shared.networks.embed(front_end.log_mels(frames))
        return views

    @classmethod
    def shares(cls, config: Config, shared: SharedReference) -> dict[str, float]:
        shares = super().shares(config, shared)
        return shares if shared.networks is None else shares | shared.networks.shares

    def view_graphs(self, longest: int) -> dict[str, nn.Module]:
        from ssdpt.systems.texture.graph import WholeClipView

        networks, graphs = self.shared_reference.networks, super().view_graphs(longest)
        embedding = {} if networks is None else networks.graphs()
        return graphs | {name: WholeClipView(graph) for name, graph in embedding.items()}

    def fit_warnings(self) -> list[str]:
        if self.shared_reference.networks is not None:
            return []
        return [
            "one machine ID and nothing to compare it with: using the hand-made views without "
            "networks; recordings of other machines (--background) would add them"
        ]

    def training_log(self) -> str:
        networks = self.shared_reference.networks
        return networks.log if networks is not None else ""

    def to(self, device: torch.device) -> None:
        if self.shared_reference.networks is not None:
            self.shared_reference.networks.to(device)

    @property
    def on_gpu(self) -> bool:
        networks = self.shared_reference.networks
        return networks is not None and networks.on_gpu
