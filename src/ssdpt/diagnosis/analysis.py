"""The analysis of a sound that a person diagnoses: its spectrum, its envelope, its lines."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from ssdpt.diagnosis.lines import LineSet
from ssdpt.errors import SsdptError
from ssdpt.features.fine_spectrum import (
    Band,
    FineSpectrum,
    common_length,
    envelope_bands,
    envelope_spectrum,
    fine_spectrum,
    most_impulsive,
)
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_MOST_LINES = 4000  # of a spectrum; more cannot be seen
_LEAST_SAMPLES = 256


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class SpectrumLines(_Model):
    """Levels of a sound in dB, and of the normal sound where there is some, from 0 Hz on."""

    spacing_hz: float = Field(description="From one line to the next.")
    levels: tuple[float, ...]
    normal: tuple[float, ...] = Field((), description="Empty where no normal sound is kept.")


class EnvelopeLines(SpectrumLines):
    """How strongly the loudness of a band swings at each rate; at 0 dB down to nothing."""

    band_hz: tuple[float, float] = Field(description="The band whose envelope it is.")
    automatic: bool = Field(description="Whether it was chosen for its sharp knocks.")
    bands_hz: tuple[tuple[float, float], ...] = Field(description="Those to choose from.")


class SoundAnalysis(_Model):
    """Fine spectrum and envelope spectrum of some seconds, with the lines of the machine."""

    seconds: float = Field(description="Of sound that was analysed.")
    spectrum: SpectrumLines
    envelope: EnvelopeLines | None = Field(description="Null where the sound is too short.")
    lines: LineSet


def analyse(
    pieces: Sequence[Floats],
    sample_rate: int,
    lines: LineSet,
    *,
    normal: Sequence[Floats] = (),
    max_hz: float = 1000.0,
    band_hz: float | None = None,
) -> SoundAnalysis:
    """Analyse a sound: a piece (samples,) in a list, or snapshots that are measured together.

    `normal`: sound to compare with, at the same rate. `max_hz`: highest of the spectrum. `band_hz`:
    a frequency in the octave whose envelope is wanted; None: the one with the sharpest knocks.
    """
    if not pieces or min(map(len, pieces)) < _LEAST_SAMPLES:
        raise SsdptError(Sentence("machines.noSoundToAnalyse"))
    usable = [piece for piece in normal if len(piece) >= _LEAST_SAMPLES]
    length = common_length([pieces, usable] if usable else [pieces], sample_rate)
    return SoundAnalysis(
        seconds=round(sum(map(len, pieces)) / sample_rate, 3),
        spectrum=_spectrum(pieces, usable, sample_rate, length, max_hz),
        envelope=_envelope(pieces, usable, sample_rate, length, band_hz),
        lines=lines,
    )


def _spectrum(
    pieces: Sequence[Floats],
    normal: Sequence[Floats],
    sample_rate: int,
    length: int,
    max_hz: float,
) -> SpectrumLines:
    shown = [
        fine_spectrum(sound, sample_rate, length).up_to(max_hz, _MOST_LINES) if sound else None
        for sound in (pieces, normal)
    ]
    assert shown[0] is not None
    return SpectrumLines(
        spacing_hz=shown[0].spacing_hz, levels=_levels(shown[0]), normal=_levels(shown[1])
    )


def _envelope(
    pieces: Sequence[Floats],
    normal: Sequence[Floats],
    sample_rate: int,
    length: int,
    band_hz: float | None,
) -> EnvelopeLines | None:
    bands = envelope_bands(sample_rate, length)
    if not bands:
        return None
    band = (
        most_impulsive(pieces, sample_rate, length, bands)
        if band_hz is None
        else _band_of(band_hz, bands)
    )
    now = envelope_spectrum(pieces, sample_rate, length, band)
    usual = envelope_spectrum(normal, sample_rate, length, band) if normal else None
    return EnvelopeLines(
        spacing_hz=now.spacing_hz,
        levels=_levels(now),
        normal=_levels(usual),
        band_hz=band,
        automatic=band_hz is None,
        bands_hz=bands,
    )


def _band_of(hz: float, bands: Sequence[Band]) -> Band:
    """The band that a frequency lies in, or the nearest one."""
    return next((band for band in bands if hz < band[1]), bands[-1])


def _levels(spectrum: FineSpectrum | None) -> tuple[float, ...]:
    return () if spectrum is None else tuple(spectrum.levels_db.round(1).tolist())
