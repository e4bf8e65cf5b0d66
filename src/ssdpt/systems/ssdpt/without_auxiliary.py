"""SSDPT without its auxiliary task: neither masks nor reconstruction; mixup stays."""

from __future__ import annotations

from typing import ClassVar, Self

from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.systems.base import FitContext
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.systems.ssdpt.system import ClassName, Ssdpt


class SsdptWithoutAuxiliary(Ssdpt):
    """Trained and scored by the machine ID alone; the error is only reported."""

    name: ClassVar[str] = "ssdpt-noaux"
    origin: ClassVar[str] = "SSDPT (w/o auxiliary task)"

    def __init__(
        self, config: Config, classes: tuple[ClassName, ...], network: DualPathTransformer
    ) -> None:
        super().__init__(without_auxiliary(config), classes, network)

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        return super().fit(clips, without_auxiliary(config), context)


def without_auxiliary(config: Config) -> Config:
    """The same settings with α = β = 0 and no masks, whatever they say."""
    settings = config.part(SsdptConfig)
    mask = settings.mask.model_copy(update={"kind": "none"})
    bare = settings.model_copy(update={"alpha": 0.0, "beta": 0.0, "mask": mask})
    return config.with_parts(bare)
