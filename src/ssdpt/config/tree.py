"""One typed tree of settings: what all systems share, and a part for each system.

Presets are YAML files under `presets/`: each holds only what it changes from the defaults, and the
defaults are the paper's.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import create_model, field_validator, model_validator

from ssdpt.config.registry import entry_of, settings_types, system_entries, system_problems
from ssdpt.config.settings import CommonSettings, SegmentSettings, SystemSettings
from ssdpt.config.validation import checked, read_yaml
from ssdpt.errors import SsdptError

_Part = TypeVar("_Part", bound=SystemSettings)

# Frames. The outcome of `ssdpt bench hop`: the largest hop that loses at most 0.005 of h-AUC on the
# simulated plant against hop 1. docs/explanation/performance.md has the figures and their limits.
AUTO_HOP = 64


class Config(CommonSettings):
    """Everything that decides what a model is.

    Made by `load_config` and `parse_config`, which add a part for every system there is.
    """

    def part(self, kind: type[_Part]) -> _Part:
        """The settings of one system: `config.part(TextureConfig).neighbours`."""
        settings = getattr(self, kind.key)
        assert isinstance(settings, kind)
        return settings

    def with_parts(self, *parts: SystemSettings) -> Self:
        """The same settings with other ones for some systems."""
        return self.model_copy(update={part.key: part for part in parts})

    def system_part(self) -> SystemSettings | None:
        """The settings of the chosen system; None where it has none."""
        kinds = entry_of(self.system).settings
        return self.part(kinds[0]) if kinds else None

    @field_validator("system")
    @classmethod
    def _is_a_system(cls, name: str) -> str:
        if name in system_problems() and name not in system_entries():
            raise ValueError(system_problems()[name])
        if name not in system_entries():
            raise ValueError(f"'{name}' is not valid; choose {', '.join(system_entries())}")
        return name

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Self:
        for kind in entry_of(self.system).settings:
            self.part(kind).check_with(self.features)
        nyquist = self.audio.sample_rate / 2
        f_max = nyquist if self.features.f_max is None else self.features.f_max
        if not self.features.f_min < f_max <= nyquist:
            raise ValueError(
                f"features.f_min must lie below f_max, and f_max at or below {nyquist:g} Hz"
            )
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is created in every process: pickle cannot find it by its name.
        return _with_values, (dict(self.__dict__),)


def config_type() -> type[Config]:
    """`Config` with a part for every system there is."""
    return _config_type(tuple(settings_types().items()))


@cache
def _config_type(parts: tuple[tuple[str, type[SystemSettings]], ...]) -> type[Config]:
    fields: dict[str, Any] = {key: (kind, kind()) for key, kind in parts}
    return create_model("Config", __base__=Config, __module__=__name__, **fields)


def _with_values(values: dict[str, Any]) -> Config:
    return config_type().model_construct(**values)


def preset_names() -> list[str]:
    """The presets that ship with the package."""
    folder = resources.files("ssdpt.config") / "presets"
    return sorted(Path(item.name).stem for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_config(preset: str = "default", overrides: dict[str, Any] | None = None) -> Config:
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
    return checked(config_type(), tree, where)


def parse_stored_config(tree: dict[str, Any], where: str) -> Config:
    """The same for settings that stand in a model; parts of systems not installed are left out."""
    fields = config_type().model_fields
    return parse_config({name: value for name, value in tree.items() if name in fields}, where)


def with_overrides(config: Config, overrides: dict[str, Any]) -> Config:
    """The same settings with some laid over them, by dotted names."""
    tree = config.model_dump()
    for name, value in overrides.items():
        _lay_over(tree, name, value)
    return parse_config(tree, "settings")


def with_hop(config: Config, hop: int | str) -> Config:
    """The same settings with a segment scored every `hop` frames: a number, or `auto`.

    It changes how a clip is scored, not what is learned.
    """
    settings = config.system_part()
    if not isinstance(settings, SegmentSettings):
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
    return config.with_parts(settings.model_copy(update={"hop": frames}))


def hop_of(config: Config) -> int | None:
    """Frames from one scored segment to the next; None where there is no such setting."""
    settings = config.system_part()
    return settings.hop if isinstance(settings, SegmentSettings) else None


def epochs_of(config: Config) -> int:
    """Passes over the training clips; 1 for a system without a network."""
    settings = config.system_part()
    return 1 if settings is None else settings.epochs


def learned_from(config: Config) -> dict[str, Any]:
    """The settings that decide what a system learns and how it scores: no other system's."""
    keys = {kind.key for kind in entry_of(config.system).settings}
    tree = config.model_dump(mode="json", include={"system", "seed", "audio", "features", *keys})
    for settings in tree.values():
        if isinstance(settings, dict) and "training" in settings:
            del settings["training"]["checkpoint_seconds"]
    return tree


def parse_override(text: str) -> tuple[str, Any]:
    """Turn `ssdpt.training.epochs=5` into a name and a value of the right type."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise SsdptError(f"'{text}' is not of the form name=value, e.g. ssdpt.training.epochs=5")
    return name.strip(), read_yaml(value, name.strip())


def _lay_over(tree: dict[str, Any], name: str, value: Any) -> None:
    *parents, leaf = name.split(".")
    for parent in parents:
        branch = tree.setdefault(parent, {})
        if not isinstance(branch, dict):
            raise SsdptError(f"setting {name}: {parent} holds a value, not further settings")
        tree = branch
    tree[leaf] = value
