"""plant.yaml: the machines that are listened to, and what is done with what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.config.settings import Settings
from ssdpt.config.validation import checked, read_yaml
from ssdpt.errors import SsdptError

STORE_FILE = "ssdpt.db"  # in the data folder, where the plant file names no other store
MACHINE_ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"


class MicrophoneSettings(Settings):
    """A sound card of this computer."""

    kind: Literal["microphone"] = "microphone"
    device: str = Field("", description="number or part of the name; empty = the default one")
    channel: int = Field(0, ge=0, description="counts from 0")


class NetworkSettings(Settings):
    """RTSP, HTTP or any other stream that ffmpeg knows."""

    kind: Literal["network"] = "network"
    url: str = Field(description="rtsp://…, http://… or a file")
    channel: int = Field(0, ge=0)
    timeout: float = Field(10.0, gt=0, description="seconds without sound until it reconnects")


class FolderSettings(Settings):
    """A folder that something else writes recordings into."""

    kind: Literal["folder"] = "folder"
    path: Path
    channel: int = Field(0, ge=0)
    every: float | None = Field(
        None,
        gt=0,
        description="seconds within which sound must come, else it is lost; empty = never",
    )


class ReplaySettings(Settings):
    """Recordings, played as if they were live."""

    kind: Literal["replay"] = "replay"
    path: Path = Field(description="a file, or a folder of them in the order of their names")
    channel: int = Field(0, ge=0)
    speed: float = Field(1.0, gt=0, description="times real time")
    loop: bool = False


class PushedSettings(Settings):
    """Sound that others send by HTTP or WebSocket."""

    kind: Literal["pushed"] = "pushed"
    channel: int = Field(0, ge=0)
    every: float | None = Field(
        None,
        gt=0,
        description="seconds within which sound must come, else it is lost; empty = never",
    )


class SimulatedSettings(Settings):
    """A machine of the simulated plant, running live."""

    kind: Literal["simulated"] = "simulated"
    machine: str = Field("fan", description="fan, gearbox, pump, slider, valve, ToyCar, ToyTrain")
    section: int = Field(0, ge=0)
    seed: int = Field(0, ge=0)
    speed: float = Field(1.0, gt=0, description="times real time")
    fault_after: float | None = Field(None, ge=0, description="seconds until a fault grows")
    off_after: float | None = Field(None, ge=0, description="seconds until it is switched off")
    change_every: float | None = Field(
        None, ge=10, description="seconds until it goes over to its other operating point"
    )


SourceSettings = Annotated[
    MicrophoneSettings
    | NetworkSettings
    | FolderSettings
    | ReplaySettings
    | PushedSettings
    | SimulatedSettings,
    Field(discriminator="kind"),
]


class MachineSettings(Settings):
    """One machine: where its sound comes from and what judges it."""

    id: str = Field(
        pattern=MACHINE_ID,
        description="an id has small letters, digits, - and _, at most 64 of them",
    )
    name: str = Field("", description="for people; empty = the id")
    site: str = ""
    model: Path | None = Field(
        None, description="a model folder of `ssdpt fit`; empty = it learns its own baseline"
    )
    section: str = Field("", description="the machine ID within the model; empty = its only one")
    source: SourceSettings
    alarm: AlarmSettings = AlarmSettings()

    @property
    def title(self) -> str:
        """For people."""
        return self.name or self.id


class MqttSettings(Settings):
    """A broker that is told states, scores and events."""

    kind: Literal["mqtt"] = "mqtt"
    host: str = "localhost"
    port: int = Field(1883, ge=1, le=65535)
    prefix: str = Field(
        "ssdpt",
        pattern=r"^[^+#\s]+$",
        description="first part of all topics, without spaces, + and #",
    )
    user: str = ""
    password_file: Path | None = None
    tls: bool = False
    ca_file: Path | None = Field(None, description="authority of the broker's certificate")
    discovery: bool = Field(True, description="announce machines as Home Assistant expects")


class WebhookSettings(Settings):
    """An address that is posted every change of an event."""

    kind: Literal["webhook"] = "webhook"
    url: str = Field(
        pattern=r"^https?://", description="an address that begins with http:// or https://"
    )
    secret_file: Path | None = Field(None, description="key of the signature")


class MailSettings(Settings):
    """Mails when an event begins or ends."""

    kind: Literal["mail"] = "mail"
    host: str
    port: int = Field(587, ge=1, le=65535)
    tls: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    password_file: Path | None = None
    sender: str
    to: tuple[str, ...] = Field(min_length=1)
    level: Literal["alert", "alarm"] = "alarm"
    most_an_hour: int = Field(10, ge=1)


OutputSettings = Annotated[
    MqttSettings | WebhookSettings | MailSettings, Field(discriminator="kind")
]


class RetentionSettings(Settings):
    """How long things are kept."""

    seconds_days: float = Field(7, gt=0, description="days that scores of every second are kept")
    minutes_days: float = Field(365, gt=0, description="days of scores of every minute")
    audio_days: float = Field(365, gt=0, description="days of recordings of events")
    keep_audio: bool = Field(True, description="false = no sound is ever written (speech privacy)")
    pre_roll: float = Field(10.0, ge=0, le=120, description="seconds before an event")
    post_roll: float = Field(10.0, ge=0, le=120, description="seconds after it began, at least")
    min_free_mb: float = Field(
        500, ge=0, description="free disk space below which old recordings are deleted"
    )


class MonitorConfig(Settings):
    """Everything that `ssdpt serve` listens to."""

    name: str = "Plant"
    zone: str = Field("UTC", description="time zone that people see, e.g. Europe/Berlin")
    store: str = Field(
        "", description="sqlite:///… or postgresql+psycopg://…; empty = a file in the data folder"
    )
    machines: tuple[MachineSettings, ...] = ()
    outputs: tuple[OutputSettings, ...] = ()
    retention: RetentionSettings = RetentionSettings()
    speed: float = Field(1.0, gt=0, description="of the clock, for simulations")

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, KeyError, OSError) as error:
            raise ValueError(f"no time zone is called '{value}'") from error
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        ids = [machine.id for machine in self.machines]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        wrong = [f"two machines are called {name}" for name in twice]
        # Times of what is played are counted from its start: at another speed they run away from
        # those of the other machines.
        wrong += [
            f"machine {machine.id} plays at {machine.source.speed:g} times real time, but the "
            f"plant's clock runs at {self.speed:g}: give both the same speed"
            for machine in self.machines
            if isinstance(machine.source, ReplaySettings | SimulatedSettings)
            and machine.source.speed != self.speed
        ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def read_monitor_config(path: Path) -> MonitorConfig:
    """plant.yaml; paths inside it count from its folder."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise SsdptError(f"{path}: there is no such file") from error
    except OSError as error:
        raise SsdptError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SsdptError(f"{path}: not a text file; a plant file is YAML") from error
    plant = checked(MonitorConfig, read_yaml(text, str(path)) or {}, str(path))
    return _from_folder(plant, path.parent)


def _from_folder(plant: MonitorConfig, folder: Path) -> MonitorConfig:
    """Relative paths made whole."""

    def whole(value: object) -> object:
        if isinstance(value, Path) and not value.is_absolute():
            return folder / value
        if isinstance(value, Settings):
            return value.model_copy(
                update={name: whole(getattr(value, name)) for name in type(value).model_fields}
            )
        if isinstance(value, tuple):
            return tuple(whole(item) for item in value)
        return value

    made = whole(plant)
    assert isinstance(made, MonitorConfig)
    return made


def store_url(plant: MonitorConfig | None, data: Path) -> str:
    """Where the history of a plant is."""
    if plant is not None and plant.store:
        return plant.store
    return f"sqlite:///{(data / STORE_FILE).resolve()}"
