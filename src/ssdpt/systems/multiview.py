"""Hand-made views beside dual-path Transformers: the recipe of preset `best`.

The networks learn to tell machines apart; a clip is described by what they make of it, and that
description is a view like the hand-made ones: compared with the nearest normal clips, put on the
scale of normal clips, averaged with the others. Where the machine has several IDs, a view counts
by how far it keeps them apart.
"""

from __future__ import annotations

from typing import ClassVar

import torch

from ssdpt.config.tree import Config
from ssdpt.features.texture import TextureFrames
from ssdpt.scoring.section_model import Vectors
from ssdpt.systems.network import count_parameters
from ssdpt.systems.shared_reference import SharedReference
from ssdpt.systems.ssdpt import build_network
from ssdpt.systems.texture import Texture
from ssdpt.types import Floats


class MultiView(Texture):
    """`Texture` with the views of trained networks."""

    name: ClassVar[str] = "multiview"
    origin: ClassVar[str] = "Hand-made views beside dual-path Transformers (preset best)"
    needs_torch: ClassVar[bool] = True

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        settings = config.multiview
        own = config.model_copy(update={"ssdpt": settings.network})
        network = count_parameters(build_network(own, sections))
        embedding = 3 * config.features.n_mels
        networks = len(settings.inputs) * settings.networks
        views = networks * sections * embedding**2
        return super().parameter_count(config, sections) + networks * network + views

    @classmethod
    def views(
        cls, frames: Floats, front_end: TextureFrames, config: Config, background: SharedReference
    ) -> Vectors:
        found = dict(super().views(frames, front_end, config, background))
        if background.ears is not None:
            found |= background.ears.embed(front_end.log_mels(frames))
        return found

    @classmethod
    def shares(cls, config: Config, background: SharedReference) -> dict[str, float]:
        found = super().shares(config, background)
        return found if background.ears is None else found | background.ears.shares

    def to(self, device: torch.device) -> None:
        if self.background.ears is not None:
            self.background.ears.to(device)

    @property
    def on_gpu(self) -> bool:
        return self.background.ears is not None and self.background.ears.on_gpu
