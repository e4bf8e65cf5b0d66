"""Hand-made views and trained networks: the settings of the networks."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import FeatureConfig, SystemSettings, TrainingConfig
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.systems.texture import TextureConfig


class EmbeddingTrainingConfig(TrainingConfig):
    """Short, and steadied by averaged weights."""

    epochs: int = Field(20, ge=1)
    batch_size: int = Field(64, ge=2)
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["exponential", "cosine", "constant"] = "cosine"
    warmup: float = Field(0.05, ge=0, lt=1)
    clip_norm: float | None = Field(1.0, gt=0)
    averaging: float = Field(0.99, ge=0, lt=1)


class EmbeddingNetworkConfig(SsdptConfig):
    """A dual-path Transformer that describes clips instead of scoring them."""

    blocks: int = Field(2, ge=1, description="M: DPT blocks")
    alpha: float = Field(0.0, ge=0, description="α: weight of the reconstruction loss")
    target: Literal["raw", "standardised"] = Field(
        "standardised", description="what is reconstructed, where alpha is above 0"
    )
    classes: Literal["section", "section+attributes"] = Field(
        "section+attributes", description="what the networks tell apart, of all machines together"
    )
    hop: int = Field(16, ge=1, description="frames from one described segment to the next")
    training: EmbeddingTrainingConfig = EmbeddingTrainingConfig()


class MultiViewConfig(SystemSettings):
    """Dual-path Transformers, in addition to the hand-made views of `texture`."""

    key: ClassVar[str] = "multiview"

    inputs: tuple[Literal["steady", "moving"], ...] = Field(
        ("steady", "moving"),
        min_length=1,
        description="what networks are given: the log-mel, or the log-mel minus its mean over time",
    )
    networks: int = Field(2, ge=1, description="networks per input, which count as one view")
    network: EmbeddingNetworkConfig = EmbeddingNetworkConfig()

    def check_with(self, features: FeatureConfig) -> None:
        if features.n_mels % self.network.heads:
            raise ValueError(
                f"features.n_mels ({features.n_mels}) must be a multiple of "
                f"multiview.network.heads ({self.network.heads})"
            )


SYSTEMS = (
    SystemEntry(
        "multiview",
        "ssdpt.systems.multiview.system:MultiView",
        (MultiViewConfig, TextureConfig, EncoderConfig),
    ),
)
