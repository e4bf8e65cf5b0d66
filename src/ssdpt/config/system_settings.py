"""The leaves of the tree of settings that belong to one system each, and to its training.

A field's description is its documentation and its help text. The defaults are the paper's, or those
of the system's own authors.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ssdpt.config.settings import Settings, TrainingConfig


class MaskConfig(Settings):
    """Which areas of a segment are hidden in training (never in testing)."""

    kind: Literal["none", "time", "frequency", "specaugment", "patch"] = Field(
        "patch", description="NM, TM, FM, SpecAugment (TM and FM) or PM of the paper"
    )
    patches: int = Field(3, ge=0, description="k: square masks a segment (PM)")
    patch_size: int = Field(5, ge=1, description="r: frames and bins of one square (PM)")
    stripes: int = Field(2, ge=0, description="masks a segment along each axis (TM, FM)")
    stripe_width: int = Field(4, ge=1, description="consecutive frames or bins of one mask")


class SsdptConfig(Settings):
    """The self-supervised dual-path Transformer."""

    blocks: int = Field(3, ge=1, description="M: DPT blocks")
    frames: int = Field(64, ge=1, description="P: frames a segment")
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

    @model_validator(mode="after")
    def _heads_divide(self) -> SsdptConfig:
        if self.frames % self.heads:
            raise ValueError(f"frames ({self.frames}) must be a multiple of heads ({self.heads})")
        if self.mask.kind == "patch" and self.mask.patch_size > self.frames:
            raise ValueError("a patch mask is longer than a segment")
        return self


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


class AutoencoderConfig(Settings):
    """The DCASE baseline autoencoder."""

    frames: int = Field(5, ge=1, description="frames of one input vector")
    hidden: int = Field(128, ge=1, description="units of the four layers on either side")
    bottleneck: int = Field(8, ge=1, description="units in the middle")
    training: AutoencoderTrainingConfig = AutoencoderTrainingConfig()


class GaussianConfig(Settings):
    """A Gaussian mixture on time-weighted log-mels, one for each section."""

    frames: int = Field(64, ge=1, description="frames a segment, over which a bin is pooled")
    hop: int = Field(8, ge=1, description="frames from one segment to the next")
    time_weight: float = Field(
        0.6,
        gt=0,
        le=1,
        description="weight of a bin's next quieter frame in a segment against the louder one: "
        "1 = their mean, towards 0 = their maximum",
    )
    components: int = Field(2, ge=1, description="Gaussians a section; 1 = Ledoit-Wolf shrinkage")
    oversample: bool = Field(
        True, description="as many target clips as source clips, made up between real ones"
    )


class MobileNetTrainingConfig(TrainingConfig):
    """The DCASE baseline's own way of training."""

    epochs: int = Field(20, ge=1)
    batch_size: int = Field(32, ge=2)  # BatchNorm takes no batch of one
    optimiser: Literal["adamw", "adam"] = "adam"
    learning_rate: float = Field(1e-5, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["exponential", "cosine", "constant"] = "constant"
    clip_norm: float | None = Field(None, gt=0)


class MobileNetConfig(Settings):
    """The DCASE baseline classifier: MobileNetV2 on log-mel segments."""

    width: float = Field(0.5, gt=0, description="factor of the channels of every layer")
    frames: int = Field(64, ge=1, description="frames a segment")
    score: Literal["negative-log", "log-odds", "dcase"] = Field(
        "negative-log",
        description="-log p, the paper's words; log((1-p)/p); or log((1-p) - log p), the "
        "baseline's code",
    )
    hop: int = Field(1, ge=1, description="frames from one segment to the next when scoring")
    training: MobileNetTrainingConfig = MobileNetTrainingConfig()


class MobileNetLofTrainingConfig(TrainingConfig):
    """For a network that starts from random weights."""

    epochs: int = Field(20, ge=1)
    batch_size: int = Field(64, ge=2)  # BatchNorm takes no batch of one
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["exponential", "cosine", "constant"] = "cosine"
    warmup: float = Field(0.05, ge=0, lt=1)
    clip_norm: float | None = Field(1.0, gt=0)


class MobileNetLofConfig(Settings):
    """MobileNetV2 with an additive angular margin on linear spectrograms, then outlier factors."""

    n_fft: int = Field(2048, gt=1, description="window in samples; half as many frequency bins")
    hop_length: int = Field(512, gt=0, description="samples from one frame to the next")
    frames: int = Field(32, ge=1, description="frames a segment")
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

    @model_validator(mode="after")
    def _no_gaps(self) -> MobileNetLofConfig:
        if self.hop_length > self.n_fft:
            raise ValueError("hop_length must not exceed n_fft: samples between would go unheard")
        return self


class WaveNetTrainingConfig(TrainingConfig):
    """Steps in samples instead of frames."""

    epochs: int = Field(10, ge=1)
    batch_size: int = Field(32, ge=2)  # BatchNorm takes no batch of one
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["exponential", "cosine", "constant"] = "cosine"
    warmup: float = Field(0.05, ge=0, lt=1)
    clip_norm: float | None = Field(1.0, gt=0)
    hop: int = Field(16000, ge=1, description="samples from one training segment to the next")


class WaveNetMember(Settings):
    """One network of the ensemble; its layers are the table in `ssdpt.nn.wavenet`."""

    preprocessing: Literal["raw", "pre-emphasis", "levelled"] = Field(
        "raw",
        description="of the samples; pre-emphasis lifts high frequencies, levelled divides a "
        "segment by its own level",
    )
    channels: int = Field(32, ge=1, description="of the residual layers")
    stacks: int = Field(2, ge=1, description="repetitions of the row of dilations 1, 2, 4, …")
    layers: int = Field(8, ge=1, le=16, description="dilated convolutions a stack")


class WaveNetConfig(Settings):
    """WaveNets on raw samples with x-vector pooling, and the ensemble of several."""

    samples: int = Field(32000, ge=16, description="samples a segment")
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


class SsdptMember(Settings):
    """One dual-path Transformer of the ensemble; the rest is as in `ssdpt`."""

    blocks: int = Field(3, ge=1, description="M: DPT blocks")
    frames: int = Field(64, ge=1, description="P: frames a segment")
    mask: Literal["none", "time", "frequency", "specaugment", "patch"] = Field(
        "patch", description="which areas are hidden in training"
    )


class SsdptEnsembleConfig(Settings):
    """SSDPT with different configurations, z-scored and averaged."""

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


class TextureConfig(Settings):
    """Hand-made views of a clip, and the distance to the nearest normal clip in each of them."""

    views: tuple[Literal["spectrum", "roughness", "modulation", "envelope"], ...] = Field(
        ("spectrum", "roughness", "modulation", "envelope"),
        description="which views; all count alike unless siblings weigh them. None: the networks "
        "of `multiview` alone",
    )
    neighbours: int = Field(
        16, ge=1, description="other normal clips that tell how lonely a normal clip lies"
    )
    background_clips: float = Field(
        50.0,
        ge=0,
        description="how many of the machine's own clips the background's spread weighs; 0 = "
        "the machine's own spread alone",
    )
    emphasis: bool = Field(
        True, description="stretch each view where machine IDs of the same type differ"
    )
    weights: Literal["siblings", "equal"] = Field(
        "siblings",
        description="siblings: a view counts by how far the machine's other IDs lie in it",
    )
    domains: Literal["apart", "together"] = Field(
        "apart", description="normal clips of source and target domain as references"
    )
    density: bool = Field(
        True, description="divide a distance by how lonely the nearest normal clip lies"
    )


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


class MultiViewConfig(Settings):
    """Dual-path Transformers beside the hand-made views of `texture`."""

    inputs: tuple[Literal["steady", "moving"], ...] = Field(
        ("steady", "moving"),
        min_length=1,
        description="what the networks hear: the log-mel, or the log-mel less its mean over time",
    )
    networks: int = Field(2, ge=1, description="networks an input, which count as one view")
    network: EmbeddingNetworkConfig = EmbeddingNetworkConfig()
