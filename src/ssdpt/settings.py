"""The leaves of the tree of settings: what each room and each system can be set to.

A field's description is its documentation and its help text. The defaults are the paper's.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Settings(BaseModel):
    """Frozen, and refuses names it does not know: a misspelt setting is an error, not a no-op."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AudioConfig(Settings):
    """What a recording is turned into before anything else."""

    sample_rate: int = Field(16000, gt=0, description="Hz; other rates are resampled to this")
    channel: int = Field(0, ge=0, description="which channel of a multi-channel file, from 0")
    clip_seconds: float = Field(
        10.0,
        gt=0,
        description="recordings from 1.5 times this length are cut into clips of about this "
        "length for fitting and for thresholds",
    )


class FeatureConfig(Settings):
    """Log-mel spectrogram: 10·log10(max(mel power, floor)), centred frames, zero padding."""

    n_fft: int = Field(1024, gt=0, description="window length in samples (Hann)")
    hop_length: int = Field(512, gt=0, description="samples from one frame to the next")
    n_mels: int = Field(128, gt=0, description="mel bins (F)")
    f_min: float = Field(0.0, ge=0, description="Hz, lower edge of the mel filters")
    f_max: float | None = Field(None, description="Hz, upper edge; half the sample rate if not set")
    floor: float = Field(
        2.220446049250313e-16, gt=0, description="smallest power before the logarithm"
    )

    @model_validator(mode="after")
    def _no_gaps(self) -> FeatureConfig:
        if self.hop_length > self.n_fft:
            raise ValueError("hop_length must not exceed n_fft: samples between would go unheard")
        return self


class TrainingConfig(Settings):
    """How a network is trained."""

    epochs: int = Field(30, ge=1, description="passes over the training segments")
    batch_size: int = Field(16, ge=1, description="segments (or frame vectors) an update")
    optimiser: Literal["adamw", "adam"] = Field("adamw", description="adamw decays the weights")
    learning_rate: float = Field(1e-4, gt=0, description="at the start, after the warm-up")
    weight_decay: float = Field(0.01, ge=0, description="decoupled (adamw only)")
    schedule: Literal["exponential", "cosine", "constant"] = Field(
        "exponential", description="how the rate falls over the epochs"
    )
    decay: float = Field(0.95, gt=0, le=1, description="factor an epoch (schedule exponential)")
    warmup: float = Field(0.0, ge=0, lt=1, description="share of all updates with a rising rate")
    clip_norm: float | None = Field(0.5, gt=0, description="largest gradient norm; none if not set")
    carry_gradients: bool = Field(
        False,
        description="zero the gradients once an epoch and clip after the step, as the paper's "
        "published code does; for comparison only",
    )
    averaging: float = Field(
        0.0, ge=0, lt=1, description="decay an update of the running mean of the weights; 0 = off"
    )
    hop: int = Field(8, ge=1, description="frames from one training segment to the next")
    precision: Literal["auto", "float32"] = Field(
        "auto",
        description="of training; auto: products of float16 numbers on a GPU, float32 on a CPU",
    )
    checkpoint_seconds: float = Field(30.0, gt=0, description="longest work lost by a kill")

    @model_validator(mode="after")
    def _adam_has_no_decay(self) -> TrainingConfig:
        if self.optimiser == "adam" and self.weight_decay:
            raise ValueError("optimiser adam has no weight decay: set weight_decay to 0")
        return self


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


class EarTrainingConfig(TrainingConfig):
    """Short, and steadied by averaged weights."""

    epochs: int = Field(20, ge=1)
    batch_size: int = Field(64, ge=2)
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["exponential", "cosine", "constant"] = "cosine"
    warmup: float = Field(0.05, ge=0, lt=1)
    clip_norm: float | None = Field(1.0, gt=0)
    averaging: float = Field(0.99, ge=0, lt=1)


class EarConfig(SsdptConfig):
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
    training: EarTrainingConfig = EarTrainingConfig()


class MultiViewConfig(Settings):
    """Dual-path Transformers beside the hand-made views of `texture`."""

    inputs: tuple[Literal["steady", "moving"], ...] = Field(
        ("steady", "moving"),
        min_length=1,
        description="what the networks hear: the log-mel, or the log-mel less its mean over time",
    )
    networks: int = Field(2, ge=1, description="networks an input, which count as one view")
    network: EarConfig = EarConfig()


class DecisionConfig(Settings):
    """How normal scores become thresholds."""

    false_alarm_rate: float = Field(
        0.1, gt=0, lt=1, description="share of normal clips above the alert threshold"
    )
    alarm_ratio: float = Field(
        0.1, gt=0, le=1, description="the alarm threshold asks for this part of that rate"
    )
    method: Literal["auto", "gamma", "empirical"] = Field(
        "auto",
        description="auto = the clips' own upper tail from 50 held-out clips on; with fewer a "
        "gamma with free location, unless a goodness-of-fit test rejects it",
    )
    rejection: float = Field(
        0.01, gt=0, lt=1, description="p-value under which the gamma is rejected"
    )
    held_out: float = Field(
        0.1, gt=0, lt=1, description="share of normal clips kept from training for the threshold"
    )
    min_held_out: int = Field(10, ge=1, description="at least so many clips are kept")
    cross_fit_below: int = Field(
        100, ge=0, description="with fewer clips every clip is scored by a model not trained on it"
    )
    folds: int = Field(
        4,
        ge=2,
        description="models of the cross-fit, each fitted on all parts but one; one is kept",
    )
    section_clips: int = Field(
        50, ge=1, description="held-out clips a section needs for a threshold of its own"
    )
