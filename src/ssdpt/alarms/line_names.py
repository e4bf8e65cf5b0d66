"""Names what lies on a diagnosis line of the machine: the lines of its shaft, bearings and gears.

A tone is compared with the lines directly. Knocks are looked for in the spectrum of their envelope:
a line is named where the strongest peak of the envelope around it lies on it, stands out, and has
grown against the baseline. Where several lines are as near as the measurement and the speed can
tell, two are named; where more are, none is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.diagnosis.lines import DiagnosisLine, LineKind, NamedLine, Place, places
from ssdpt.features.condition_spectrum import Decibels, SpectrumMeter
from ssdpt.features.rhythm import (
    GROWN_DB,
    PERIODS,
    STANDS_OUT_DB,
    WEAKEST_DB,
    beyond_normal,
    prominence,
)
from ssdpt.types import Floats

_MOST_NAMES, _TOO_MANY = 2, 3  # names of one finding; as many lines that fit name nothing
_CLEAR_DB = 12.0  # above the lines around: by chance one window of thousands has such a peak
_BESIDE = 1.25  # times a line and its inverse: within these it is the strongest
_HARMONICS = 5  # the highest multiple that is looked for
_MOST_MULTIPLES = 20  # of a slow rhythm: more of them are too weak and too close together
_SAME_PEAK = 0.005  # relative, that a harmonic may be off its multiple
# Multiples of each line that an envelope shows: those of a race or a gear belong to its first.
_IN_ENVELOPE: dict[LineKind, tuple[int, ...]] = {
    "shaft": (1, 2), "bpfo": (1,), "bpfi": (1,), "bsf": (1, 2), "ftf": (1,), "mesh": (1,),
    "blade": (1,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Peak:
    """A peak of an envelope's spectrum and the lines it may belong to, the nearest first."""

    hz: float
    strength_db: float
    harmonics: int
    places: tuple[Place, ...]

    @property
    def is_shaft(self) -> bool:
        return all(place.line.kind == "shaft" for place in self.places)


def name_lines(
    findings: Sequence[Finding],
    lines: Sequence[DiagnosisLine],
    reference: SoundReference,
    pieces: Sequence[Floats],
) -> tuple[Finding, ...]:
    """The findings in `pieces`, each with the lines it lies on; unchanged where there are none.

    `lines`: at the speed of the shaft during the sound; empty where that is not known.
    """
    if not lines:
        return tuple(findings)
    meter = SpectrumMeter(reference.sample_rate)
    spacing = meter.line_spacing(pieces)
    return tuple(
        finding.model_copy(update={"lines": names})
        if (names := _names(finding, lines, meter, reference, pieces, spacing))
        else finding
        for finding in findings
    )


def _names(
    finding: Finding,
    lines: Sequence[DiagnosisLine],
    meter: SpectrumMeter,
    reference: SoundReference,
    pieces: Sequence[Floats],
    spacing: float,
) -> tuple[NamedLine, ...]:
    if finding.code == "tone" and finding.hz is not None:
        return tone_lines(finding.hz, spacing / 2, lines)
    if finding.code == "level" or finding.low_hz is None or (finding.db or 0.0) < 0:
        return ()
    rate = finding.per_second
    centres = np.sqrt(meter.edges[:-1] * meter.edges[1:])
    inside = (centres > finding.low_hz) & (centres < (finding.high_hz or 0.0))
    peaks = [
        peak
        for band in np.flatnonzero(inside).tolist()
        if (
            peak := envelope_peak(
                *meter.rhythm(pieces, band),
                (meter.rate_edges, reference.rhythm_highest_db[band]),
                lines,
            )
        )
        and not (rate and _is_harmonic(peak.hz, rate, meter.rate_spacing(pieces)))
    ]
    if not peaks:
        return ()
    best = max(peaks, key=lambda peak: (not peak.is_shaft, peak.strength_db))
    return tuple(place.named(best.hz, best.harmonics) for place in best.places[:_MOST_NAMES])


def tone_lines(
    hz: float, resolution: float, lines: Sequence[DiagnosisLine]
) -> tuple[NamedLine, ...]:
    """The lines that a tone at `hz` lies on, measured to `resolution` Hz."""
    fitting = []
    for line in lines:
        if line.kind == "ftf":
            continue  # a cage turns too slowly to be a tone
        reach = max(resolution, line.tolerance * hz)
        apart = line.sideband_hz is not None and line.sideband_hz > 2 * reach
        sidebands = 1 if line.kind == "mesh" and apart else 0
        near = [place for place in places(line, sidebands=sidebands) if abs(place.hz - hz) <= reach]
        if near:
            fitting.append(min(near, key=lambda place: (abs(place.sideband), abs(place.hz - hz))))
    fitting.sort(key=lambda place: (abs(place.sideband), place.multiple, abs(place.hz - hz)))
    if len(fitting) >= _TOO_MANY:
        return ()
    return tuple(place.named(hz) for place in fitting[:_MOST_NAMES])


def envelope_peak(
    rates: Decibels,
    strength_db: Decibels,
    highest: tuple[Decibels, Decibels],
    lines: Sequence[DiagnosisLine],
) -> _Peak | None:
    """The strongest peak of an envelope's spectrum that lies on a line; that of a shaft last.

    `rates` (lines,) per second with their strength; `highest`: of normal clips, as `find_rhythm`.
    """
    grown = beyond_normal(rates, strength_db, *highest) >= GROWN_DB
    by_line: dict[int, list[Place]] = {}
    for line in lines:
        for multiple in _IN_ENVELOPE[line.kind]:
            place = Place(line, multiple, 0)
            at = _peak_on(place.hz, line.tolerance, rates, strength_db, grown)
            if at is not None:
                by_line.setdefault(at, []).append(place)
    peaks = [
        _Peak(
            hz=float(rates[at]),
            strength_db=float(strength_db[at]),
            harmonics=_harmonics(at, strength_db),
            places=tuple(sorted(fitting, key=lambda place: abs(place.hz - float(rates[at])))),
        )
        for at, fitting in by_line.items()
        if len(fitting) < _TOO_MANY
    ]
    spacing = float(rates[1])
    own = [peak for peak in peaks if not _is_multiple_of_another(peak, peaks, spacing)]
    return max(own, key=lambda peak: (not peak.is_shaft, peak.strength_db), default=None)


def _peak_on(
    hz: float, tolerance: float, rates: Decibels, strength_db: Decibels, grown: np.ndarray
) -> int | None:
    """The peak that lies on a line at `hz` and is the strongest around; None: there is none."""
    spacing = float(rates[1])
    if hz < PERIODS * spacing or hz * _BESIDE > rates[-1]:
        return None
    reach = max(spacing, tolerance * hz)
    around = np.arange(
        max(int(min(hz / _BESIDE, hz - 2 * reach) / spacing), 1),
        min(int(max(hz * _BESIDE, hz + 2 * reach) / spacing) + 1, len(rates)),
    )
    top = int(around[strength_db[around].argmax()])
    on_line = abs(float(rates[top]) - hz) <= reach
    clear = prominence(strength_db, top) >= _CLEAR_DB and strength_db[top] >= WEAKEST_DB
    return top if on_line and clear and grown[top] else None


def _harmonics(at: int, strength_db: Decibels) -> int:
    """How many further multiples of a peak stand out."""
    count = 0
    for multiple in range(2, _HARMONICS + 1):
        place = multiple * at
        reach = max(multiple // 2 + 1, round(_SAME_PEAK * place))
        near = np.arange(place - reach, min(place + reach + 1, len(strength_db)))
        if not len(near):
            break
        top = int(near[strength_db[near].argmax()])
        count += prominence(strength_db, top) >= STANDS_OUT_DB
    return count


def _is_multiple_of_another(peak: _Peak, peaks: Sequence[_Peak], spacing: float) -> bool:
    """Whether it is a harmonic of a slower peak that lies on a line itself.

    The cage is left out: the outer race is a whole number of times as fast by construction.
    """
    for other in peaks:
        slower = other.hz < 0.75 * peak.hz
        if not slower or any(place.line.kind == "ftf" for place in other.places):
            continue
        if _is_harmonic(peak.hz, other.hz, spacing):
            return True
    return False


def _is_harmonic(hz: float, base: float, spacing: float) -> bool:
    """Whether `hz` is a multiple of `base`, at least twice; False where that cannot be told."""
    reach = max(1.5 * spacing, _SAME_PEAK * hz)
    multiple = round(hz / base)
    told = 2 <= multiple <= _MOST_MULTIPLES and reach <= base / 4
    return told and abs(hz - multiple * base) <= reach
