"""MobileNetV2 as classifier and with local outlier factors: the settings of both."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import SegmentSettings, TrainingConfig


class MobileNetTrainingConfig(TrainingConfig):
    """The DCASE baseline's own way of training."""

    epochs: int = Field(20, ge=1)
    batch_size: int = Field(32, ge=2)  # BatchNorm takes no batch of one
    optimiser: Literal["adamw", "adam"] = "adam"
    learning_rate: float = Field(1e-5, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["exponential", "cosine", "constant"] = "constant"
    clip_norm: float | None = Field(None, gt=0)


class MobileNetConfig(SegmentSettings):
    """The DCASE baseline classifier: MobileNetV2 on log-mel segments."""

    key: ClassVar[str] = "mnv2"

    width: float = Field(0.5, gt=0, description="factor of the channels of every layer")
    frames: int = Field(64, ge=1, description="frames per segment")
    score: Literal["negative-log", "log-odds", "dcase"] = Field(
        "negative-log",
        description="-log p, as in the paper; log((1-p)/p); or log((1-p) - log p), the "
        "baseline's code",
    )
    hop: int = Field(1, ge=1, description="frames from one segment to the next when scoring")
    training: MobileNetTrainingConfig = MobileNetTrainingConfig()

    @property
    def epochs(self) -> int:
        return self.training.epochs


class MobileNetLofTrainingConfig(TrainingConfig):
    """For a network that starts from random weights."""

    epochs: int = Field(20, ge=1)
    batch_size: int = Field(64, ge=2)  # BatchNorm takes no batch of one
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["exponential", "cosine", "constant"] = "cosine"
    warmup: float = Field(0.05, ge=0, lt=1)
    clip_norm: float | None = Field(1.0, gt=0)


class MobileNetLofConfig(SegmentSettings):
    """MobileNetV2 with an additive angular margin on linear spectrograms, then outlier factors."""

    key: ClassVar[str] = "mnv2_lof"

    n_fft: int = Field(2048, gt=1, description="window in samples; half as many frequency bins")
    hop_length: int = Field(512, gt=0, description="samples from one frame to the next")
    frames: int = Field(32, ge=1, description="frames per segment")
    width: float = Field(0.5, gt=0, description="factor of the channels of every layer")
    embedding: int = Field(128, ge=1, description="values that describe a segment")
    margin: float = Field(
        0.5, ge=0, lt=3.14, description="radians added to the angle of the own class"
    )
    scale: float = Field(30.0, gt=0, description="of the cosines before the softmax")
    neighbours: int = Field(4, ge=1, description="k of the local outlier factor")
    references: int = Field(
        1000, ge=1, description="embeddings of normal clips kept for each section and domain"
    )
    hop: int = Field(8, ge=1, description="frames from one segment to the next when scoring")
    training: MobileNetLofTrainingConfig = MobileNetLofTrainingConfig()

    @property
    def epochs(self) -> int:
        return self.training.epochs

    @model_validator(mode="after")
    def _no_gaps(self) -> MobileNetLofConfig:
        if self.hop_length > self.n_fft:
            raise ValueError("hop_length must not exceed n_fft: samples between would be lost")
        return self


SYSTEMS = (
    SystemEntry("mnv2", "ssdpt.systems.mobilenet.classifier:MobileNetSystem", (MobileNetConfig,)),
    SystemEntry("mnv2-lof", "ssdpt.systems.mobilenet.outlier:MobileNetLof", (MobileNetLofConfig,)),
)
