"""Everything that `ssdpt serve` is told by its configuration, beside the kinds of its parts."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, PrivateAttr, SerializeAsAny, field_validator, model_validator

from ssdpt.config.settings import Settings
from ssdpt.monitor.config.machine_settings import MachineSettings
from ssdpt.monitor.config.output_settings import OutputSettings
from ssdpt.monitor.language import LanguageCode
from ssdpt.monitor.week import Weekday
from ssdpt.sentences import Sentence, clauses

STORE_FILE = "ssdpt.db"  # in the data folder, where the configuration names no other store


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
    recent_minutes: float = Field(
        10.0,
        ge=0,
        le=60,
        description="of sound held in memory that can be kept on demand, 1.9 MB each at 16 kHz; "
        "0 = none",
    )
    drop_speech: bool = Field(
        False,
        description="true = voices are cut out of sound that is stored from then on, and of live "
        "sound (needs ssdpt[voice])",
    )

    @property
    def recent_seconds(self) -> float:
        """Seconds of sound that can be kept on demand."""
        return 60 * self.recent_minutes if self.keep_audio else 0.0


class ReportSettings(Settings):
    """When the report of the week before is sent to the outputs that can send it."""

    day: Weekday = Field("mon", description="mon, tue, wed, thu, fri, sat or sun")
    time: str = Field(
        "07:00", pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="HH:MM at the plant"
    )

    @property
    def clock(self) -> datetime.time:
        """The time of day."""
        return datetime.time.fromisoformat(self.time)


class MonitorConfig(Settings):
    """Everything that `ssdpt serve` monitors."""

    name: str = Field("Plant", description="of the plant, shown to people")
    timezone: str = Field("UTC", description="of times shown to people, e.g. Europe/Berlin")
    language: LanguageCode = Field("en", description="of mails, notifications and reports")
    public_url: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="address of the page, such as https://monitor.example/, for links to events",
    )
    store: str = Field(
        "", description="sqlite:///… or postgresql+psycopg://…; empty = a file in the data folder"
    )
    machines: tuple[MachineSettings, ...] = ()
    outputs: tuple[SerializeAsAny[OutputSettings], ...] = ()
    retention: RetentionSettings = RetentionSettings()
    report: ReportSettings | None = Field(
        None, description="when the weekly report is sent; empty = never"
    )
    live_listening: bool = Field(
        True, description="false = nobody can listen to a machine live in the browser"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="what computes scores; auto = a GPU where there is one"
    )
    speed: float = Field(1.0, gt=0, description="of the service's clock, for simulations")
    _upgrades: tuple[str, ...] = PrivateAttr(())

    @property
    def upgrades(self) -> tuple[str, ...]:
        """What of the file is of an earlier release and was read as today's, in sentences."""
        return self._upgrades

    @property
    def upgrade_notes(self) -> tuple[str, ...]:
        """The same, with what to do about it."""
        return tuple(Sentence("config.upgrade", change=one) for one in self._upgrades)

    @field_validator("timezone")
    @classmethod
    def _timezone_exists(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, KeyError, OSError) as error:
            raise ValueError(Sentence("settings.notATimezone", value=value)) from error
        return value

    @model_validator(mode="after")
    def _machines_fit_together(self) -> Self:
        ids = [machine.id for machine in self.machines]
        twice = sorted({id for id in ids if ids.count(id) > 1})
        mistakes = [Sentence("config.twoMachines", id=id) for id in twice]
        # Times of what is played are counted from its start: at another speed they would run away
        # from those of the other machines.
        mistakes += [
            Sentence("config.otherSpeed", id=machine.id, speed=speed, clock=self.speed)
            for machine in self.machines
            if (speed := machine.source.playback_speed) not in (None, self.speed)
        ]
        if mistakes:
            raise ValueError(clauses(*mistakes))
        return self


def store_url(config: MonitorConfig | None, data: Path) -> str:
    """The database of the service: the one the configuration names, or a file in `data`."""
    if config is not None and config.store:
        return config.store
    return f"sqlite:///{(data / STORE_FILE).resolve()}"
