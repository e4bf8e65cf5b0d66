"""WaveNets on raw samples: the settings of the ensemble and its members."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import SystemSettings, TrainingConfig
from ssdpt.nn.settings import WaveNetMember


class WaveNetTrainingConfig(TrainingConfig):
    """Steps in samples instead of frames."""

    epochs: int = Field(10, ge=1)
    batch_size: int = Field(32, ge=2)  # BatchNorm takes no batch of one
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["exponential", "cosine", "constant"] = "cosine"
    warmup: float = Field(0.05, ge=0, lt=1)
    clip_norm: float | None = Field(1.0, gt=0)
    hop: int = Field(16000, ge=1, description="samples from one training segment to the next")


class WaveNetConfig(SystemSettings):
    """WaveNets on raw samples with x-vector pooling, and the ensemble of several."""

    key: ClassVar[str] = "wavenet"

    samples: int = Field(32000, ge=16, description="samples per segment")
    hop: int = Field(16000, ge=1, description="samples between segments when scoring")
    embedding: int = Field(128, ge=1, description="values of the x-vector")
    margin: float = Field(0.2, ge=0, description="taken from the cosine of the own class")
    scale: float = Field(30.0, gt=0, description="of the cosines before the softmax")
    members: tuple[WaveNetMember, ...] = Field(
        (
            WaveNetMember(),
            WaveNetMember(preprocessing="pre-emphasis"),
            WaveNetMember(preprocessing="levelled"),
            WaveNetMember(stacks=3),
        ),
        min_length=1,
        description="the networks; all count alike, none is chosen by its results",
    )
    training: WaveNetTrainingConfig = WaveNetTrainingConfig()

    @property
    def epochs(self) -> int:
        return self.training.epochs


SYSTEMS = (
    SystemEntry(
        "wavenet-ensemble", "ssdpt.systems.wavenet.system:WaveNetEnsemble", (WaveNetConfig,)
    ),
)
