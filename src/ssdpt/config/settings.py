"""The settings that all systems share, and the base classes of the settings of a system.

A field's description is its documentation and its help text. The defaults are the paper's.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ssdpt.types import VIBRATION_UNITS, Unit

ALARM_RATIO = 0.1  # alarms are rarer than alerts by this factor, offline and live


class Settings(BaseModel):
    """Frozen, and refuses names it does not know: a misspelt setting is an error, not a no-op.

    Errors do not repeat the value, not even in a traceback: it may be an address with a password.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _channel(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


class AudioConfig(Settings):
    """What a recording is turned into before anything else."""

    sample_rate: int = Field(
        16000, gt=0, le=2_000_000, description="Hz; other rates are resampled to this"
    )
    keep_rate: Literal["auto", "always", "never"] = Field(
        "auto",
        description="whether a model works at the recordings' own rate, from 2 to 51.2 kHz, "
        "instead: auto = where it is below sample_rate or of a vibration sensor; never, where "
        "sample_rate is set and this is not",
    )
    channel: Annotated[
        Annotated[int, Field(ge=0)] | Annotated[str, Field(min_length=1)], BeforeValidator(_channel)
    ] = Field(0, description="which channel of a file, from 0, or which axis, by its name")
    unit: Unit = Field(
        "", description="of the measurement: g, m/s², mm/s or Pa; empty = that of the recordings"
    )
    full_scale: float = Field(
        1.0, gt=0, description="what a sample of 1 means in the unit; found with the unit"
    )
    clip_seconds: float = Field(
        10.0,
        gt=0,
        description="recordings from 1.5 times this length are cut into clips of about this "
        "length for fitting and for thresholds",
    )

    @model_validator(mode="before")
    @classmethod
    def _rate_that_is_set_holds(cls, values: Any) -> Any:
        if isinstance(values, dict) and "sample_rate" in values:
            return {"keep_rate": "never", **values}
        return values

    @property
    def vibration(self) -> bool:
        """Whether it is the movement of a machine, not the sound in the air."""
        return self.unit in VIBRATION_UNITS


class FeatureConfig(Settings):
    """Log-mel spectrogram: 10·log10(max(mel power, floor)), centred frames, zero padding."""

    n_fft: int = Field(1024, gt=0, le=65_536, description="window length in samples (Hann)")
    hop_length: int = Field(512, gt=0, description="samples from one frame to the next")
    n_mels: int = Field(128, gt=0, le=1024, description="mel bins (F)")
    f_min: float = Field(0.0, ge=0, description="Hz, lower edge of the mel filters")
    f_max: float | None = Field(None, description="Hz, upper edge; half the sample rate if not set")
    floor: float = Field(
        2.220446049250313e-16, gt=0, description="smallest power before the logarithm"
    )

    @model_validator(mode="after")
    def _no_gaps(self) -> FeatureConfig:
        if self.hop_length > self.n_fft:
            raise ValueError("hop_length must not exceed n_fft: samples between would be lost")
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
    decay: float = Field(0.95, gt=0, le=1, description="factor per epoch (schedule exponential)")
    warmup: float = Field(0.0, ge=0, lt=1, description="share of all updates with a rising rate")
    clip_norm: float | None = Field(0.5, gt=0, description="largest gradient norm; none if not set")
    carry_gradients: bool = Field(
        False,
        description="zero the gradients once per epoch and clip after the step, as the paper's "
        "published code does; for comparison only",
    )
    averaging: float = Field(
        0.0, ge=0, lt=1, description="decay per update of the running mean of the weights; 0 = off"
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


class DecisionConfig(Settings):
    """How normal scores become thresholds."""

    false_alarm_rate: float = Field(
        0.1, gt=0, lt=1, description="share of normal clips above the alert threshold"
    )
    alarm_ratio: float = Field(
        ALARM_RATIO, gt=0, le=1, description="the alarm threshold asks for this part of that rate"
    )
    method: Literal["auto", "gamma", "empirical"] = Field(
        "auto",
        description="auto = the empirical upper tail from 50 held-out clips on; with fewer a "
        "gamma with free location, unless a goodness-of-fit test rejects it",
    )
    rejection: float = Field(
        0.01, gt=0, lt=1, description="p-value under which the gamma is rejected"
    )
    held_out: float = Field(
        0.1, gt=0, lt=1, description="share of normal clips kept from training for the threshold"
    )
    min_held_out: int = Field(10, ge=1, description="smallest number of clips that are kept")
    cross_fit_below: int = Field(
        100, ge=0, description="with fewer clips every clip is scored by a model not trained on it"
    )
    folds: int = Field(
        4,
        ge=2,
        description="models of the cross-fit, each fitted on all parts but one; one is kept",
    )
    section_clips: int = Field(
        50, ge=1, description="held-out clips that a section needs for a separate threshold"
    )


class SystemSettings(Settings):
    """The settings of one system; the class is defined in the package of the system."""

    key: ClassVar[str]  # its name in the tree: `texture` in `--set texture.neighbours=4`

    @property
    def epochs(self) -> int:
        """Passes over the training clips; 1 for a system without a network."""
        return 1

    def check_with(self, features: FeatureConfig) -> None:
        """Raise ValueError where the log-mel does not go with these settings."""


class SegmentSettings(SystemSettings):
    """The settings of a system that scores segments of frames."""

    frames: int = Field(64, ge=1, description="frames per segment")
    hop: int = Field(1, ge=1, description="frames from one segment to the next when scoring")


class CommonSettings(Settings):
    """The top of the tree of settings: all that belongs to no system."""

    preset: str = Field("paper", description="the name of the preset this grew from")
    system: str = Field("ssdpt", description="which detector; `ssdpt systems` lists them")
    seed: int = Field(0, ge=0, lt=2**32, description="of every random draw")
    device: str = Field("auto", description="auto, cpu or cuda; auto: a GPU where there is one")
    audio: AudioConfig = AudioConfig()
    features: FeatureConfig = FeatureConfig()
    decision: DecisionConfig = DecisionConfig()
