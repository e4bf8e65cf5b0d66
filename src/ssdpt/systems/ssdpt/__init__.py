"""SSDPT, the self-supervised dual-path Transformer: its settings, and the systems made of it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import (
    FeatureConfig,
    SegmentSettings,
    Settings,
    SystemSettings,
    TrainingConfig,
)
from ssdpt.nn.settings import MaskConfig


class SsdptConfig(SegmentSettings):
    """The self-supervised dual-path Transformer."""

    key: ClassVar[str] = "ssdpt"

    blocks: int = Field(3, ge=1, description="M: DPT blocks")
    frames: int = Field(64, ge=1, description="P: frames per segment")
    heads: int = Field(8, ge=1, description="attention heads of every encoder")
    feed_forward: int = Field(32, ge=1, description="hidden units of every encoder")
    mask: MaskConfig = MaskConfig()
    mixup: float = Field(
        1.0, ge=0, description="λ ~ Beta(mixup, mixup), drawn once a batch; 0 = no mixup"
    )
    alpha: float = Field(0.001, ge=0, description="α: weight of the reconstruction loss")
    beta: float = Field(0.001, ge=0, description="β: weight of the error in the score")
    target: Literal["raw", "standardised"] = Field(
        "raw",
        description="what is reconstructed: the feature in dB, as published, or after the "
        "network's input normalisation",
    )
    error: Literal["mean", "sum"] = Field(
        "mean", description="squared error of a segment: mean over its bins, or the formula's sum"
    )
    score: Literal["log-odds", "dcase"] = Field(
        "log-odds",
        description="log((1-p)/p), the paper's, or log((1-p) - log p), the published code's",
    )
    classes: Literal["section", "section+attributes"] = Field(
        "section", description="what the network tells apart; the paper: machine IDs (sections)"
    )
    hop: int = Field(1, ge=1, description="frames from one segment to the next when scoring")
    training: TrainingConfig = TrainingConfig()

    @property
    def epochs(self) -> int:
        return self.training.epochs

    @model_validator(mode="after")
    def _heads_divide(self) -> SsdptConfig:
        if self.frames % self.heads:
            raise ValueError(f"frames ({self.frames}) must be a multiple of heads ({self.heads})")
        if self.mask.kind == "patch" and self.mask.patch_size > self.frames:
            raise ValueError("a patch mask is longer than a segment")
        return self

    def check_with(self, features: FeatureConfig) -> None:
        if features.n_mels % self.heads:
            raise ValueError(
                f"features.n_mels ({features.n_mels}) must be a multiple of "
                f"{self.key}.heads ({self.heads})"
            )


class SsdptMember(Settings):
    """One dual-path Transformer of the ensemble; the rest is as in `ssdpt`."""

    blocks: int = Field(3, ge=1, description="M: DPT blocks")
    frames: int = Field(64, ge=1, description="P: frames per segment")
    mask: Literal["none", "time", "frequency", "specaugment", "patch"] = Field(
        "patch", description="which areas are hidden in training"
    )


class SsdptEnsembleConfig(SystemSettings):
    """SSDPT with different configurations, z-scored and averaged."""

    key: ClassVar[str] = "ssdpt_ensemble"

    members: tuple[SsdptMember, ...] = Field(
        (
            SsdptMember(blocks=1),
            SsdptMember(blocks=2),
            SsdptMember(),
            SsdptMember(frames=128),
            SsdptMember(frames=256),
            SsdptMember(mask="none"),
        ),
        min_length=1,
        description="the networks: the rows of the paper's Table II, and the default unmasked; "
        "all count alike, none is chosen by its results",
    )


SYSTEMS = (
    SystemEntry("ssdpt", "ssdpt.systems.ssdpt.system:Ssdpt", (SsdptConfig,)),
    SystemEntry(
        "ssdpt-noaux",
        "ssdpt.systems.ssdpt.without_auxiliary:SsdptWithoutAuxiliary",
        (SsdptConfig,),
    ),
    SystemEntry(
        "ssdpt-ensemble",
        "ssdpt.systems.ssdpt.ensemble:SsdptEnsemble",
        (SsdptConfig, SsdptEnsembleConfig),
    ),
)
