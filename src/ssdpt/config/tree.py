"""One typed tree of settings; its leaves are in `settings` and `system_settings`.

Presets are YAML files under `presets/`: each holds only what it changes from the defaults, and the
defaults are the paper's.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, model_validator

from ssdpt.config.settings import AudioConfig, DecisionConfig, FeatureConfig, Settings
from ssdpt.config.system_settings import (
    AutoencoderConfig,
    GaussianConfig,
    MobileNetConfig,
    MobileNetLofConfig,
    MultiViewConfig,
    SsdptConfig,
    SsdptEnsembleConfig,
    TextureConfig,
    WaveNetConfig,
)
from ssdpt.config.validation import checked, read_yaml
from ssdpt.errors import SsdptError

SystemName = Literal[
    "multiview",
    "texture",
    "ssdpt",
    "ssdpt-noaux",
    "ssdpt-ensemble",
    "ae",
    "mnv2",
    "mnv2-lof",
    "wavenet-ensemble",
    "gmm",
]

# Where each system's own settings are; the hop of its segments, if it has one, in the first place.
_OWN: dict[str, tuple[str, ...]] = {
    "multiview": ("multiview", "texture"),
    "texture": ("texture",),
    "ssdpt": ("ssdpt",),
    "ssdpt-noaux": ("ssdpt",),
    "ssdpt-ensemble": ("ssdpt", "ssdpt_ensemble"),
    "ae": ("ae",),
    "mnv2": ("mnv2",),
    "mnv2-lof": ("mnv2_lof",),
    "wavenet-ensemble": ("wavenet",),
    "gmm": ("gmm",),
}

# Frames. The outcome of `ssdpt bench hop`: the largest hop that loses at most 0.005 of h-AUC on the
# simulated plant against hop 1. Measured, with what it leaves out, in docs/performance.md.
AUTO_HOP = 64


class Config(Settings):
    """Everything that decides what a model is."""

    preset: str = Field("paper", description="the name of the preset this grew from")
    system: SystemName = Field("ssdpt", description="which detector")
    seed: int = Field(0, ge=0, lt=2**32, description="of every random draw")
    device: str = Field("auto", description="auto, cpu or cuda; auto: a GPU where there is one")
    audio: AudioConfig = AudioConfig()
    features: FeatureConfig = FeatureConfig()
    ssdpt: SsdptConfig = SsdptConfig()
    ssdpt_ensemble: SsdptEnsembleConfig = SsdptEnsembleConfig()
    ae: AutoencoderConfig = AutoencoderConfig()
    mnv2: MobileNetConfig = MobileNetConfig()
    mnv2_lof: MobileNetLofConfig = MobileNetLofConfig()
    wavenet: WaveNetConfig = WaveNetConfig()
    gmm: GaussianConfig = GaussianConfig()
    texture: TextureConfig = TextureConfig()
    multiview: MultiViewConfig = MultiViewConfig()
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
    folder = resources.files("ssdpt.config") / "presets"
    return sorted(Path(item.name).stem for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_config(preset: str = "best", overrides: dict[str, Any] | None = None) -> Config:
    """The settings of a shipped preset, or of a YAML file, with `overrides` laid over it.

    `overrides` maps dotted names to values: `{"ssdpt.training.epochs": 5}`.
    """
    path = Path(preset)
    if preset in preset_names():
        text = (resources.files("ssdpt.config") / "presets" / f"{preset}.yaml").read_text("utf-8")
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
    tree = read_yaml(text, preset) or {}
    if not isinstance(tree, dict):
        raise SsdptError(f"{preset}: a configuration is a list of `name: value` lines")
    tree = {"preset": path.stem, **tree}
    for name, value in (overrides or {}).items():
        _lay_over(tree, name, value)
    return parse_config(tree, preset)


def parse_config(tree: Any, where: str) -> Config:
    """Check a tree of settings; the error names the setting and `where` it stands."""
    return checked(Config, tree, where)


def with_overrides(config: Config, overrides: dict[str, Any]) -> Config:
    """The same settings with some laid over them, by dotted names."""
    tree = config.model_dump()
    for name, value in overrides.items():
        _lay_over(tree, name, value)
    return parse_config(tree, "settings")


def with_hop(config: Config, hop: int | str) -> Config:
    """The same settings with a segment scored every `hop` frames: a number, or `auto`.

    It changes how a clip is scored, not what is learnt.
    """
    name = _OWN[config.system][0]
    settings = getattr(config, name)
    if hop_of(config) is None:
        raise SsdptError(
            f"system {config.system} has no hop to choose, since it scores every frame or steps in "
            "samples; leave it out"
        )
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
    return config.model_copy(update={name: changed})


def hop_of(config: Config) -> int | None:
    """Frames from one scored segment to the next; None where there is no such setting."""
    settings = getattr(config, _OWN[config.system][0])
    in_frames = hasattr(settings, "hop") and hasattr(settings, "frames")
    return int(settings.hop) if in_frames else None


def epochs_of(config: Config) -> int:
    """Passes over the training clips; 1 for a system without a network."""
    settings = getattr(config, _OWN[config.system][0])
    return int(settings.training.epochs) if hasattr(settings, "training") else 1


def learnt_from(config: Config) -> dict[str, Any]:
    """The settings that decide what a system learns and how it scores: no other system's."""
    parts = {"system", "seed", "audio", "features", *_OWN[config.system]}
    found = config.model_dump(mode="json", include=parts)
    for settings in found.values():
        if isinstance(settings, dict) and "training" in settings:
            del settings["training"]["checkpoint_seconds"]
    return found


def parse_override(text: str) -> tuple[str, Any]:
    """Turn `ssdpt.training.epochs=5` into a name and a value of the right type."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise SsdptError(f"'{text}' is not of the form name=value, e.g. ssdpt.training.epochs=5")
    try:
        return name.strip(), yaml.safe_load(value)
    except (yaml.YAMLError, ValueError) as error:
        raise SsdptError(f"'{text}': the value is not valid YAML") from error


def _lay_over(tree: dict[str, Any], name: str, value: Any) -> None:
    *parents, leaf = name.split(".")
    for parent in parents:
        branch = tree.setdefault(parent, {})
        if not isinstance(branch, dict):
            raise SsdptError(f"setting {name}: {parent} holds a value, not further settings")
        tree = branch
    tree[leaf] = value
