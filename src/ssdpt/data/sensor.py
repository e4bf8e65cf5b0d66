"""What a recording cannot say itself: `sensor.yaml`, beside the files or in a folder above them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from ssdpt.config.settings import Settings
from ssdpt.config.validation import checked, read_yaml
from ssdpt.errors import SsdptError
from ssdpt.types import Unit

SENSOR_FILE = "sensor.yaml"

DEFAULT_FULL_SCALE: dict[Unit, float] = {
    "": 1.0,
    "g": 50.0,  # a common accelerometer of 100 mV/g
    "m/s²": 500.0,
    "mm/s": 100.0,
    "Pa": 20.0,
}
"""What a sample of 1 means where values are read as numbers of the unit."""

_GRAVITY = 9.80665  # m/s² in 1 g

_SPELLINGS: dict[str, Unit] = {
    **dict.fromkeys(("g", "gn", "g_n"), "g"),
    **dict.fromkeys(("m/s²", "m/s2", "m/s^2", "m/s**2", "ms-2"), "m/s²"),
    "mm/s": "mm/s",
    "pa": "Pa",
    **dict.fromkeys(("", "none"), ""),
}


def unit_of(text: str) -> Unit | None:
    """A unit in any usual spelling; None where it is none that is known."""
    return _SPELLINGS.get(text.strip().lower())


def conversion(unit: Unit, to: Unit) -> float | None:
    """The factor from one unit to another; None where it takes more than a factor."""
    if unit == to:
        return 1.0
    factors: dict[tuple[Unit, Unit], float] = {
        ("g", "m/s²"): _GRAVITY,
        ("m/s²", "g"): 1 / _GRAVITY,
    }
    return factors.get((unit, to))


def _unit(value: Any) -> Any:
    unit = unit_of(value) if isinstance(value, str) else None
    return value if unit is None else unit


def _list(value: Any) -> Any:
    return [value] if isinstance(value, str | int) else value


SensorUnit = Annotated[Unit, BeforeValidator(_unit)]
"""A unit in any usual spelling."""


class Sensor(Settings):
    """The settings in a `sensor.yaml`; all of them may be left out."""

    unit: SensorUnit = Field("", description="g, m/s², mm/s or Pa; empty = not calibrated")
    full_scale: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="what the largest value of a sound file (1.0) means in the unit; numbers in "
        "tables are divided by it, by default by 50 g, 500 m/s², 100 mm/s or 20 Pa",
    )
    sample_rate: int | None = Field(
        None, ge=100, le=10_000_000, description="Hz; of tables, which do not say it themselves"
    )
    columns: Annotated[tuple[str | int, ...], BeforeValidator(_list)] = Field(
        (),
        description="which columns of a table are channels, by name, pattern (*_DE_time) or "
        "number from 0; of a MATLAB file, its variables",
    )
    axes: tuple[str, ...] = Field(
        (), description="names of the channels in order, such as [x, y, z]"
    )
    snapshot: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="seconds of one snapshot, where a file holds many end to end",
    )
    every: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="seconds from the start of one snapshot to that of the next",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Sensor:
        if self.columns and self.axes and len(self.columns) != len(self.axes):
            raise ValueError(
                f"{len(self.columns)} columns but {len(self.axes)} axes; name an axis for each"
            )
        if len(set(self.axes)) < len(self.axes):
            raise ValueError("two axes have the same name")
        if self.snapshot and self.every and self.every < self.snapshot:
            raise ValueError(
                f"every {self.every:g} s is shorter than the snapshot of {self.snapshot:g} s"
            )
        return self

    @property
    def scale(self) -> float:
        """What a sample of 1 means, in the unit."""
        return self.full_scale or DEFAULT_FULL_SCALE[self.unit]


def sensor_of(path: Path) -> Sensor:
    """What the nearest `sensor.yaml` in the folder of a file, or in one above it, says."""
    file = sensor_file(path)
    return Sensor() if file is None else _read(file, file.stat().st_mtime_ns)


def sensor_file(path: Path) -> Path | None:
    """The `sensor.yaml` that holds for the file or folder at `path`; None where there is none."""
    full = path.absolute()
    for folder in (full, *full.parents) if path.is_dir() else full.parents:
        file = folder / SENSOR_FILE
        if file.is_file():
            return file
    return None


@functools.lru_cache(maxsize=256)
def _read(file: Path, changed: int) -> Sensor:
    """`changed`, nanoseconds since 1970, so that a changed file is read again."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SsdptError(f"{file}: cannot be read as text ({error})") from error
    return checked(Sensor, read_yaml(text, str(file)) or {}, str(file))
