"""The DCASE baseline autoencoder: its settings."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import SystemSettings, TrainingConfig


class AutoencoderTrainingConfig(TrainingConfig):
    """The DCASE baseline's own way of training."""

    epochs: int = Field(100, ge=1)
    batch_size: int = Field(512, ge=2)  # BatchNorm takes no batch of one vector
    optimiser: Literal["adamw", "adam"] = "adam"
    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["exponential", "cosine", "constant"] = "constant"
    clip_norm: float | None = Field(None, gt=0)
    hop: int = Field(1, ge=1)


class AutoencoderConfig(SystemSettings):
    """The DCASE baseline autoencoder."""

    key: ClassVar[str] = "ae"

    frames: int = Field(5, ge=1, description="frames of one input vector")
    hidden: int = Field(128, ge=1, description="units of the four layers on either side")
    bottleneck: int = Field(8, ge=1, description="units in the middle")
    training: AutoencoderTrainingConfig = AutoencoderTrainingConfig()

    @property
    def epochs(self) -> int:
        return self.training.epochs


SYSTEMS = (
    SystemEntry("ae", "ssdpt.systems.autoencoder.system:AutoencoderSystem", (AutoencoderConfig,)),
)
