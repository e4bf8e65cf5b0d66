"""Diagnosis lines of a machine: at which frequencies its parts are heard, at a speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ssdpt.diagnosis.bearing import BearingGeometry
from ssdpt.diagnosis.machine_data import MachineData

LineKind = Literal["shaft", "bpfo", "bpfi", "bsf", "ftf", "mesh", "blade"]

# Reported by a control system; fixed by the settings; changing too much to name a line.
SpeedOrigin = Literal["reported", "fixed", "changing", "unknown"]

_SLIP = 0.01  # relative, by which the rolling elements of a bearing slip
_HARMONICS: dict[LineKind, int] = {
    "shaft": 3, "bpfo": 3, "bpfi": 3, "bsf": 4, "ftf": 1, "mesh": 3, "blade": 3,
}  # fmt: skip


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class DiagnosisLine(_Model):
    """One line of a machine with its harmonics and sidebands."""

    kind: LineKind = Field(description="bpfo, bpfi: outer, inner race; bsf: ball spin; ftf: cage.")
    part: str = Field("", description="Which bearing or gear; empty: the only one without a name.")
    hz: float = Field(description="Of the line itself.")
    harmonics: int = Field(description="The highest multiple that is shown.")
    sideband_hz: float | None = Field(
        None, description="From the line to its sidebands; null: it has none."
    )
    tolerance: float = Field(description="Relative; how far from it the part may really be heard.")


class NamedLine(_Model):
    """A line that a finding lies on."""

    kind: LineKind
    part: str = ""
    multiple: int = Field(1, description="Of the line; 2 of bsf: a ball hits both races.")
    sideband: int = Field(0, description="Sidebands away from it, below 0: under it.")
    hz: float = Field(description="As measured.")
    line_hz: float = Field(description="As calculated.")
    harmonics: int = Field(0, description="Further multiples of it that were found.")


class LineSet(_Model):
    """The lines of a machine, at the speed it had."""

    speed_rpm: float | None = Field(description="Null where it is not known, or changed.")
    speed_origin: SpeedOrigin = Field(
        description="Reported by its control system, fixed by its settings, changing, unknown."
    )
    lines: tuple[DiagnosisLine, ...]


@dataclass(frozen=True, slots=True)
class ShaftSpeed:
    """The speed of a shaft during a sound."""

    rpm: float
    uncertainty: float  # relative


@dataclass(frozen=True, slots=True)
class Place:
    """A multiple or a sideband of a line."""

    line: DiagnosisLine
    multiple: int
    sideband: int

    @property
    def hz(self) -> float:
        return self.multiple * self.line.hz + self.sideband * (self.line.sideband_hz or 0.0)

    def named(self, hz: float, harmonics: int = 0) -> NamedLine:
        """This line, as the name of something that was measured at `hz`."""
        return NamedLine(
            kind=self.line.kind,
            part=self.line.part,
            multiple=self.multiple,
            sideband=self.sideband,
            hz=round(hz, 2),
            line_hz=round(self.hz, 2),
            harmonics=harmonics,
        )


def diagnosis_lines(
    data: MachineData, geometries: Sequence[BearingGeometry], speed: ShaftSpeed
) -> tuple[DiagnosisLine, ...]:
    """The lines of a machine at a speed; `geometries` of its bearings in their order."""
    shaft = speed.rpm / 60
    exact, with_slip = speed.uncertainty, speed.uncertainty + _SLIP
    lines = [_line("shaft", "", shaft, exact)]
    for settings, bearing in zip(data.bearings, geometries, strict=True):
        part, turns = settings.title, shaft * settings.shaft_ratio
        cage = turns * bearing.ftf
        lines += [
            _line("bpfo", part, turns * bearing.bpfo, with_slip),
            # The damage passes through the loaded zone once per turn of its ring or cage.
            _line("bpfi", part, turns * bearing.bpfi, with_slip, turns),
            _line("bsf", part, turns * bearing.bsf, with_slip, cage),
            _line("ftf", part, cage, with_slip),
        ]
    for gear in data.gears:
        turns = shaft * gear.shaft_ratio
        lines.append(_line("mesh", gear.label, turns * gear.teeth, exact, turns))
    if data.blades is not None:
        lines.append(_line("blade", "", shaft * data.blades, exact))
    return tuple(lines)


def places(line: DiagnosisLine, *, sidebands: int = 0) -> Iterator[Place]:
    """The multiples of a line that are looked for, each with so many sidebands on either side."""
    for multiple in range(1, line.harmonics + 1):
        reach = sidebands if line.sideband_hz is not None else 0
        for sideband in range(-reach, reach + 1):
            yield Place(line, multiple, sideband)


def _line(
    kind: LineKind, part: str, hz: float, tolerance: float, sideband_hz: float | None = None
) -> DiagnosisLine:
    return DiagnosisLine(
        kind=kind,
        part=part,
        hz=round(hz, 4),
        harmonics=_HARMONICS[kind],
        sideband_hz=None if sideband_hz is None else round(sideband_hz, 4),
        tolerance=round(tolerance, 5),
    )
