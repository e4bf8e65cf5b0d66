"""The configuration file, monitor.yaml: which machines are monitored, and who is notified.

Each kind of source and output has its settings beside its class, in `ssdpt.monitor.sources` and
`ssdpt.monitor.outputs`, or in another package. What all kinds share is here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, SerializeAsAny, field_validator, model_validator

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.common.plugins import PluginRegistry
from ssdpt.config.kinds import KindSettings
from ssdpt.config.settings import Settings
from ssdpt.config.validation import checked, read_yaml
from ssdpt.data.sensor import DEFAULT_FULL_SCALE, SensorUnit
from ssdpt.errors import SsdptError

STORE_FILE = "ssdpt.db"  # in the data folder, where the configuration names no other store
MACHINE_ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"
MACHINE_ID_RULE = "an id has at most 64 lower-case letters, digits, - and _"

Port = Annotated[int, Field(ge=1, le=65535)]


class SourceSettings(KindSettings):
    """Where the sound of a machine comes from. `kind` decides which other settings there are."""

    registry = PluginRegistry(
        "source", package="ssdpt.monitor.sources", suffix="_source", group="ssdpt.sources"
    )
    # True: sound arrives in whole recordings, perhaps with long pauses between them.
    arrives_in_files: ClassVar[bool] = False
    gives_stream: ClassVar[bool] = True  # sound without pauses
    gives_snapshots: ClassVar[bool] = False  # short measurements taken at intervals

    max_silence: float | None = Field(
        5.0, gt=0, description="seconds without sound after which the source is lost; empty = never"
    )

    @property
    def reads_local_files(self) -> bool:
        """Whether it reads files of this computer. Such a source cannot be added by HTTP.

        True unless a kind says otherwise, so that a kind which forgets it opens no hole.
        """
        return True

    @property
    def playback_speed(self) -> float | None:
        """Speed relative to real time of sound that is played back; None: live sound."""
        return None

    def at_speed(self, speed: float) -> Self:
        """The same at another playback speed; unchanged where the sound is live."""
        return self

    @classmethod
    def snapshot_kinds(cls) -> list[str]:
        """The kinds that give snapshots."""
        return [
            kind for kind in cls.registry.names() if cls.class_of({"kind": kind}).gives_snapshots
        ]


class ChannelSettings(SourceSettings):
    """Common to sources whose sound can have several channels."""

    channel: int = Field(0, ge=0, description="which channel is used, counted from 0")


class PlaybackSettings(SourceSettings):
    """Common to sources that play sound at a chosen speed."""

    speed: float = Field(
        1.0, gt=0, description="playback speed relative to real time; that of the service's clock"
    )

    @property
    def playback_speed(self) -> float | None:
        return self.speed

    def at_speed(self, speed: float) -> Self:
        return self.model_copy(update={"speed": speed})


class OutputSettings(KindSettings):
    """Who is notified, and how. `kind` decides which other settings there are."""

    registry = PluginRegistry(
        "output", package="ssdpt.monitor.outputs", suffix="_output", group="ssdpt.outputs"
    )


class SensorSettings(Settings):
    """What a machine is measured with; the defaults are those of a microphone."""

    unit: SensorUnit = Field("", description="g, m/s², mm/s or Pa; empty = not calibrated")
    full_scale: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="what a sample of 1 means in the unit; empty = 50 g, 500 m/s², 100 mm/s, 20 Pa",
    )
    sample_rate: int | None = Field(
        None,
        ge=2000,
        le=51_200,
        description="Hz; empty = 16000, or that of the model; of snapshots, their own",
    )
    axes: tuple[str, ...] = Field(
        (), max_length=8, description="names of the channels, such as [x, y, z]; each is judged"
    )
    snapshots: bool = Field(
        False,
        description="true = short measurements taken at intervals, each judged when it arrives",
    )

    @model_validator(mode="after")
    def _axes_differ(self) -> Self:
        if len(set(self.axes)) < len(self.axes):
            raise ValueError("two axes have the same name")
        return self

    @property
    def scale(self) -> float:
        """What a sample of 1 means, in the unit."""
        return self.full_scale or DEFAULT_FULL_SCALE[self.unit]


class MachineSettings(Settings):
    """One machine: its source, its model and its alarm rules."""

    id: str = Field(pattern=MACHINE_ID, description=MACHINE_ID_RULE)
    name: str = Field("", description="shown to people; empty = the id")
    site: str = Field("", description="where the machine is, for example Hall A")
    type: str = Field(
        "", description="what it is, for example pump; machines of one type are compared"
    )
    model: Path | None = Field(
        None, description="a model folder of `ssdpt fit`; empty = it learns its own baseline"
    )
    section: str = Field("", description="the machine ID within the model; empty = its only one")
    source: SerializeAsAny[SourceSettings]
    sensor: SensorSettings = SensorSettings()
    alarm: AlarmSettings = AlarmSettings()

    @model_validator(mode="after")
    def _source_fits_sensor(self) -> Self:
        kind = self.source.kind
        if not self.sensor.snapshots:
            if not self.source.gives_stream:
                raise ValueError(
                    f"a source of kind {kind} gives snapshots only: set snapshots: true of its "
                    "sensor"
                )
            return self
        if not self.source.gives_snapshots:
            raise ValueError(
                f"a source of kind {kind} gives no snapshots; those of kind "
                f"{', '.join(SourceSettings.snapshot_kinds())} do"
            )
        if self.model is not None:
            raise ValueError(
                "snapshots are judged without a model: remove model, the machine learns its own "
                "baseline"
            )
        return self

    @property
    def title(self) -> str:
        """The name shown to people."""
        return self.name or self.id


class RetentionSettings(Settings):
    """How long data is kept."""

    seconds_days: float = Field(7, gt=0, description="days to keep the score of every second")
    minutes_days: float = Field(365, gt=0, description="days to keep the score of every minute")
    audio_days: float = Field(365, gt=0, description="days to keep recordings of events")
    keep_audio: bool = Field(True, description="false = no sound is ever written (speech privacy)")
    pre_roll: float = Field(10.0, ge=0, le=120, description="seconds recorded before an event")
    post_roll: float = Field(
        10.0, ge=0, le=120, description="seconds recorded from the start of an event, at least"
    )
    min_free_mb: float = Field(
        500, ge=0, description="free disk space in MB below which old recordings are deleted"
    )


class MonitorConfig(Settings):
    """Everything that `ssdpt serve` monitors."""

    name: str = Field("Plant", description="of the plant, shown to people")
    timezone: str = Field("UTC", description="of times shown to people, e.g. Europe/Berlin")
    store: str = Field(
        "", description="sqlite:///… or postgresql+psycopg://…; empty = a file in the data folder"
    )
    machines: tuple[MachineSettings, ...] = ()
    outputs: tuple[SerializeAsAny[OutputSettings], ...] = ()
    retention: RetentionSettings = RetentionSettings()
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="what computes scores; auto = a GPU where there is one"
    )
    speed: float = Field(1.0, gt=0, description="of the service's clock, for simulations")

    @field_validator("timezone")
    @classmethod
    def _timezone_exists(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, KeyError, OSError) as error:
            raise ValueError(
                f"'{value}' is not a time zone; an example is Europe/Berlin"
            ) from error
        return value

    @model_validator(mode="after")
    def _machines_fit_together(self) -> Self:
        ids = [machine.id for machine in self.machines]
        twice = sorted({id for id in ids if ids.count(id) > 1})
        mistakes = [f"two machines have the id {id}" for id in twice]
        # Times of what is played are counted from its start: at another speed they would run away
        # from those of the other machines.
        mistakes += [
            f"machine {machine.id} plays at {speed:g} times real time, but the service's clock "
            f"runs at {self.speed:g}: set both to the same speed"
            for machine in self.machines
            if (speed := machine.source.playback_speed) not in (None, self.speed)
        ]
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self


def read_monitor_config(path: Path) -> MonitorConfig:
    """Read a configuration file; relative paths in it count from its folder."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise SsdptError(f"{path}: there is no such file") from error
    except OSError as error:
        raise SsdptError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SsdptError(f"{path}: not a text file; the configuration is YAML") from error
    config = checked(MonitorConfig, read_yaml(text, str(path)) or {}, str(path))
    return _with_absolute_paths(config, path.parent)


def _with_absolute_paths(config: MonitorConfig, folder: Path) -> MonitorConfig:
    def absolute(value: object) -> object:
        if isinstance(value, Path) and not value.is_absolute():
            return folder / value
        if isinstance(value, Settings):
            return value.model_copy(
                update={name: absolute(getattr(value, name)) for name in type(value).model_fields}
            )
        if isinstance(value, tuple):
            return tuple(absolute(item) for item in value)
        return value

    result = absolute(config)
    assert isinstance(result, MonitorConfig)
    return result


def store_url(config: MonitorConfig | None, data: Path) -> str:
    """The database of the service: the one the configuration names, or a file in `data`."""
    if config is not None and config.store:
        return config.store
    return f"sqlite:///{(data / STORE_FILE).resolve()}"
