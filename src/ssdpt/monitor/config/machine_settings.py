"""One machine in the configuration: its sensor, its source, its model and its alarm rules."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, SerializeAsAny, model_validator

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.config.settings import Settings
from ssdpt.data.sensor import DEFAULT_FULL_SCALE, SensorUnit
from ssdpt.diagnosis.machine_data import MachineData
from ssdpt.monitor.config.operating_data_settings import OperatingDataSettings
from ssdpt.monitor.config.source_settings import SourceSettings
from ssdpt.sentences import Sentence

MACHINE_ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"
_ID_RULE = "an id has at most 64 lower-case letters, digits, - and _"


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
            raise ValueError(Sentence("settings.sameAxes"))
        return self

    @property
    def scale(self) -> float:
        """What a sample of 1 means, in the unit."""
        return self.full_scale or DEFAULT_FULL_SCALE[self.unit]


class MachineSettings(Settings):
    """One machine: its source, its model and its alarm rules."""

    id: str = Field(pattern=MACHINE_ID, description=_ID_RULE)
    name: str = Field("", max_length=200, description="shown to people; empty = the id")
    site: str = Field("", max_length=200, description="where the machine is, for example Hall A")
    group: str = Field(
        "", max_length=64, description="who looks after it; notifications can go to one group only"
    )
    type: str = Field(
        "",
        max_length=64,
        description="what it is, for example pump; machines of one type are compared",
    )
    model: Path | None = Field(
        None, description="a model folder of `ssdpt fit`; empty = it learns its own baseline"
    )
    section: str = Field("", description="the machine ID within the model; empty = its only one")
    source: SerializeAsAny[SourceSettings]
    sensor: SensorSettings = SensorSettings()
    alarm: AlarmSettings = AlarmSettings()
    operating_data: SerializeAsAny[OperatingDataSettings] | None = Field(
        None, description="run state, speed and load from its control system; empty = none"
    )
    machine_data: MachineData = MachineData()

    @model_validator(mode="after")
    def _source_fits_sensor(self) -> Self:
        kind = self.source.kind
        if not self.sensor.snapshots:
            if not self.source.gives_stream:
                raise ValueError(Sentence("settings.onlySnapshots", kind=kind))
            return self
        if not self.source.gives_snapshots:
            kinds = SourceSettings.snapshot_kinds()
            raise ValueError(Sentence("settings.noSnapshots", kind=kind, kinds=kinds))
        if self.model is not None:
            raise ValueError(Sentence("settings.snapshotsWithoutModel"))
        return self

    @property
    def title(self) -> str:
        """The name shown to people."""
        return self.name or self.id
