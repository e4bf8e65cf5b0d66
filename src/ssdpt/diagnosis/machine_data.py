"""Machine data: what turns in a machine, as its drawings and name plate say."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from ssdpt.config.settings import Settings
from ssdpt.diagnosis.bearing import BearingGeometry
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.sentences import Sentence

_RATIO = "turns of its shaft per turn of the shaft whose speed is given"


class BearingSettings(Settings):
    """One bearing: a name of the catalogue, or its geometry."""

    label: str = Field("", max_length=40, description="where it sits, for example drive end")
    name: str = Field("", max_length=80, description="in the catalogue; `ssdpt bearings` lists it")
    geometry: BearingGeometry | None = Field(
        None, description="elements, element_mm, pitch_mm, contact_degrees"
    )
    shaft_ratio: float = Field(1.0, gt=0, le=1000, allow_inf_nan=False, description=_RATIO)

    @model_validator(mode="after")
    def _name_or_geometry(self) -> Self:
        if bool(self.name) == (self.geometry is not None):
            raise ValueError(Sentence("settings.nameOrGeometry"))
        return self

    @property
    def title(self) -> str:
        """How a person tells it from others; empty where nothing is given."""
        return self.label or self.name


class GearSettings(Settings):
    """One gear."""

    label: str = Field("", max_length=40, description="which one, for example input")
    teeth: int = Field(ge=2, le=2000, description="number of teeth")
    shaft_ratio: float = Field(1.0, gt=0, le=1000, allow_inf_nan=False, description=_RATIO)


class MachineData(Settings):
    """What the diagnosis lines of a machine follow from."""

    speed_rpm: float | None = Field(
        None,
        gt=0,
        le=200_000,
        allow_inf_nan=False,
        description="revolutions of the shaft per minute, where its control system reports none",
    )
    speed_tolerance_percent: float = Field(
        2.0, gt=0, le=10, description="how far the real speed may be from speed_rpm"
    )
    bearings: tuple[BearingSettings, ...] = Field((), max_length=20)
    gears: tuple[GearSettings, ...] = Field((), max_length=20)
    blades: int | None = Field(None, ge=1, le=500, description="of a fan, pump or propeller")

    def geometries(self, catalogue: BearingCatalogue) -> tuple[BearingGeometry, ...]:
        """The geometry of each bearing; SsdptError for a name that is not in the catalogue."""
        return tuple(
            catalogue[bearing.name] if bearing.geometry is None else bearing.geometry
            for bearing in self.bearings
        )
