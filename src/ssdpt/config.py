"""One typed tree of settings. A field's description is its documentation and its help text.

Presets are YAML files under `presets/`: each holds only what it changes from the defaults here,
and the defaults here are the paper's.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ssdpt.errors import SsdptError

SystemName = Literal["ssdpt", "ae", "gmm"]

# Frames. The outcome of `ssdpt bench hop`: the largest hop that loses at most 0.005 of h-AUC on the
# simulated plant against hop 1. Measured, with what it leaves out, in docs/performance.md.
AUTO_HOP = 64


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
    """A Gaussian mixture on time-pooled log-mels, one for each section."""

    frames: int = Field(64, ge=1, description="frames of one segment of the timeline")
    hop: int = Field(8, ge=1, description="frames from one segment to the next on the timeline")
    components: int = Field(1, ge=1, description="Gaussians a section; 1 = Ledoit-Wolf shrinkage")


class DecisionConfig(Settings):
    """How normal scores become thresholds."""

    false_alarm_rate: float = Field(
        0.1, gt=0, lt=1, description="share of normal clips above the alert threshold"
    )
    alarm_ratio: float = Field(
        0.1, gt=0, le=1, description="the alarm threshold asks for this part of that rate"
    )
    method: Literal["auto", "gamma", "empirical"] = Field(
        "auto", description="auto = gamma with free location unless a goodness-of-fit test rejects"
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
    folds: int = Field(4, ge=2, description="models fitted for the cross-fit")
    section_clips: int = Field(
        50, ge=1, description="held-out clips a section needs for a threshold of its own"
    )


class Config(Settings):
    """Everything that decides what a model is."""

    preset: str = Field("paper", description="the name of the preset this grew from")
    system: SystemName = Field("ssdpt", description="which detector")
    seed: int = Field(0, ge=0, lt=2**32, description="of every random draw")
    device: str = Field("auto", description="auto, cpu or cuda; auto: a GPU where there is one")
    audio: AudioConfig = AudioConfig()
    features: FeatureConfig = FeatureConfig()
    ssdpt: SsdptConfig = SsdptConfig()
    ae: AutoencoderConfig = AutoencoderConfig()
    gmm: GaussianConfig = GaussianConfig()
    decision: DecisionConfig = DecisionConfig()

    @model_validator(mode="after")
    def _rooms_fit_together(self) -> Config:
        if self.features.n_mels % self.ssdpt.heads:
            raise ValueError(
                f"features.n_mels ({self.features.n_mels}) must be a multiple of "
                f"ssdpt.heads ({self.ssdpt.heads})"
            )
        nyquist = self.audio.sample_rate / 2
        f_max = nyquist if self.features.f_max is None else self.features.f_max
        if not self.features.f_min < f_max <= nyquist:
            raise ValueError(
                f"features.f_min must lie below f_max, and f_max at or below {nyquist:g} Hz"
            )
        return self


def preset_names() -> list[str]:
    """The presets that ship with the package."""
    folder = resources.files("ssdpt") / "presets"
    return sorted(Path(item.name).stem for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_config(preset: str = "fast", overrides: dict[str, Any] | None = None) -> Config:
    """The settings of a shipped preset, or of a YAML file, with `overrides` laid over it.

    `overrides` maps dotted names to values: `{"ssdpt.training.epochs": 5}`.
    """
    path = Path(preset)
    if preset in preset_names():
        text = (resources.files("ssdpt") / "presets" / f"{preset}.yaml").read_text("utf-8")
    elif path.suffix in {".yaml", ".yml"}:
        try:
            text = path.read_text("utf-8")
        except OSError as error:
            raise SsdptError(
                f"{preset}: cannot read this configuration: {error.strerror}"
            ) from error
        except UnicodeDecodeError as error:
            raise SsdptError(f"{preset}: not a text file; a configuration is YAML") from error
    else:
        raise SsdptError(
            f"no preset is called '{preset}'; there are {', '.join(preset_names())}, "
            "or give the path of a .yaml file"
        )
    try:
        tree = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise SsdptError(f"{preset}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(tree, dict):
        raise SsdptError(f"{preset}: a configuration is a list of `name: value` lines")
    tree = {"preset": path.stem, **tree}
    for name, value in (overrides or {}).items():
        _lay_over(tree, name, value)
    return parse_config(tree, preset)


def parse_config(tree: Any, where: str) -> Config:
    """Check a tree of settings; the error names the setting and `where` it stands."""
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "configuration"
        reason = first["msg"].removeprefix("Value error, ")
        raise SsdptError(f"{where}: setting {name}: {reason}") from error


def with_hop(config: Config, hop: int | str) -> Config:
    """The same settings with a segment scored every `hop` frames: a number, or `auto`.

    It changes how a clip is scored, not what is learnt. Of system gmm only the timeline has one.
    """
    if config.system == "ae":
        raise SsdptError("system ae scores every frame: it has no hop to choose, leave it out")
    settings = config.ssdpt if config.system == "ssdpt" else config.gmm
    if hop == "auto":
        frames = min(AUTO_HOP, settings.frames)
    else:
        frames = int(hop) if str(hop).isdecimal() else 0
    if not 1 <= frames <= settings.frames:
        raise SsdptError(
            f"a hop is auto or a whole number of frames from 1 to {settings.frames}, the length of "
            f"a segment; not {hop}"
        )
    changed = settings.model_copy(update={"hop": frames})
    return config.model_copy(update={config.system: changed})


def parse_override(text: str) -> tuple[str, Any]:
    """Turn `ssdpt.training.epochs=5` into a name and a value of the right type."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise SsdptError(f"'{text}' is not of the form name=value, e.g. ssdpt.training.epochs=5")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise SsdptError(f"'{text}': the value is not valid YAML") from error


def _lay_over(tree: dict[str, Any], name: str, value: Any) -> None:
    *parents, leaf = name.split(".")
    for parent in parents:
        branch = tree.setdefault(parent, {})
        if not isinstance(branch, dict):
            raise SsdptError(f"setting {name}: {parent} holds a value, not further settings")
        tree = branch
    tree[leaf] = value
