"""How a machine sounds when it is well, as numbers that a changed sound is compared with.

Frozen: it belongs to the clips it was learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ssdpt.errors import SsdptError
from ssdpt.features.condition_spectrum import ConditionSpectrum, Decibels, SpectrumMeter
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

FEWEST_CLIPS = 3
MOST_CLIPS = 64  # that are kept, spread over all that were given
_SHORT_SECONDS, _TOGETHER = 1.0, 10  # snapshots shorter than this are measured ten at a time

_LOWEST_LINE_HZ, _CELLS_PER_OCTAVE = 10.0, 48  # a cell is 1.5 % wide, like the spread of speeds
_TONE_DB = 6.0  # that a cell stands out by, where the machine has a tone
_NEIGHBOURS = 24  # cells on each side that a tone stands out of
_LEAST_SPREAD_DB = 0.3
_FULL_SHRINKAGE = 8  # clips or fewer: how bands vary together is not known
_LEAST_SHRINKAGE = 0.2


def together(samples: int, sample_rate: int) -> int:
    """How many snapshots of so many samples are measured together: one says little of a tone."""
    return _TOGETHER if samples < _SHORT_SECONDS * sample_rate else 1


@dataclass(frozen=True)
class SoundReference:
    """Levels in dB; NaN where the clips were too short to tell."""

    sample_rate: int
    levels_db: Decibels  # (clips,)
    # (clips, 2, bands): mean and peak level of each third octave.
    bands_db: Decibels
    cells_usual_db: Decibels  # (cells,): the strongest line of each cell, at a usual level
    cells_highest_db: Decibels  # (cells,)
    rhythm_highest_db: Decibels  # (bands, rates)
    tones_by_chance_db: float  # that a tone of one clip stood out of all the others

    @classmethod
    def learn(cls, clips: Sequence[Floats], sample_rate: int) -> Self:
        """From normal clips or snapshots (samples,) each, in order of time.

        Snapshots of less than a second are measured ten at a time.
        """
        count = max(1, -(-len(clips) // MOST_CLIPS))
        if clips and (least := together(max(map(len, clips)), sample_rate)) > 1:
            count = max(count, least)
            groups = [clips[first : first + count] for first in range(0, len(clips), count)]
            if len(groups) > 1 and len(groups[-1]) < count:
                del groups[-1]
        else:
            groups = [[clip] for clip in clips[::count]]
        if len(groups) < FEWEST_CLIPS:
            raise SsdptError(
                Sentence(
                    "machines.tooFewClips",
                    clips=len(clips),
                    fewest=FEWEST_CLIPS,
                    snapshots=FEWEST_CLIPS * _TOGETHER,
                )
            )
        meter = SpectrumMeter(sample_rate)
        return cls.of([meter.of(group) for group in groups], sample_rate)

    @classmethod
    def of(cls, spectra: Sequence[ConditionSpectrum], sample_rate: int) -> Self:
        """From the spectra of normal clips."""
        bands = np.array([(each.bands_db, each.peaks_db) for each in spectra])
        gains = _gains(bands, np.median(bands, axis=0))  # (clips,)
        cells = np.array(
            [cells_of(each, sample_rate) - gain for each, gain in zip(spectra, gains, strict=True)]
        )
        return cls(
            sample_rate=sample_rate,
            levels_db=np.array([each.level_db for each in spectra]),
            bands_db=bands,
            cells_usual_db=np.median(cells, axis=0),
            cells_highest_db=cells.max(axis=0),
            rhythm_highest_db=np.max([each.rhythm_db for each in spectra], axis=0),
            tones_by_chance_db=_tones_by_chance(cells),
        )

    # -- Bands -----------------------------------------------------------------------------------

    @cached_property
    def usual_db(self) -> Decibels:
        """(2, bands): mean and peak level of each band."""
        return np.asarray(np.median(self.bands_db, axis=0))

    def gain(self, spectrum: ConditionSpectrum) -> float:
        """How much louder the whole sound is than usual, in dB; one band does not move it."""
        bands = np.array([[spectrum.bands_db, spectrum.peaks_db]])
        return float(_gains(bands, self.usual_db)[0])

    @cached_property
    def gain_range(self) -> tuple[float, float]:
        """The lowest and the highest gain of a normal clip."""
        gains = _gains(self.bands_db, self.usual_db)
        return float(gains.min()), float(gains.max())

    def surprise(self, differences_db: Decibels) -> Decibels:
        """(2, bands): how unusual these differences of level are, given all other bands.

        In standard deviations of normal clips. `differences_db`: (2, bands), without the gain.
        Bands go up and down together when speed, load or a microphone change; what one does
        beyond the others is a change of the machine.
        """
        values = np.where(self._measured, differences_db, 0.0)
        unusual = _surprise(_precision(self._differences), values.ravel())
        return np.where(self._measured, unusual.reshape(values.shape), np.nan)

    @cached_property
    def surprise_by_chance(self) -> float:
        """The most unusual band of a normal clip, compared with all the other clips."""
        rows = self._differences
        others = (np.delete(rows, number, axis=0) for number in range(len(rows)))
        return max(
            float(np.abs(_surprise(_precision(rest), row)).max())
            for rest, row in zip(others, rows, strict=True)
        )

    @cached_property
    def _measured(self) -> NDArray[np.bool_]:
        return np.isfinite(self.usual_db)

    @cached_property
    def _differences(self) -> Decibels:
        """(clips, 2 · bands): levels of normal clips against the usual ones, without the gain."""
        gains = _gains(self.bands_db, self.usual_db)
        differences = self.bands_db - self.usual_db - gains[:, None, None]
        return np.nan_to_num(differences).reshape(len(gains), -1)

    # -- Lines -----------------------------------------------------------------------------------

    def near(self, hz: float, spacing: float) -> tuple[float, float, bool]:
        """Usual and highest level in dB near a frequency, and whether there is a tone already.

        `spacing`: Hz between two lines of the spectrum that is compared.
        """
        low = _cell(max(hz - 1.5 * spacing, _LOWEST_LINE_HZ)) - 1
        high = _cell(hz + 1.5 * spacing) + 1
        near = slice(max(low, 0), high + 1)
        highest = self.cells_highest_db[near]
        if np.isnan(highest).all():
            return np.nan, np.nan, False
        usual = float(np.nanmax(self.cells_usual_db[near]))
        return usual, float(np.nanmax(highest)), bool(self._tonal[near].any())

    @cached_property
    def _tonal(self) -> NDArray[np.bool_]:
        """(cells,): whether the machine usually has a tone there."""
        return _tonal(self.cells_usual_db)

    # -- To outlive a restart --------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Lists of numbers; null where there is none."""
        arrays = {name: _rounded(getattr(self, name)) for name in _ARRAYS}
        chance = round(self.tones_by_chance_db, 1)
        return {"sample_rate": self.sample_rate, "tones_by_chance_db": chance, **arrays}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        arrays = {name: np.array(state[name], np.float64) for name in _ARRAYS}
        return cls(
            sample_rate=int(state["sample_rate"]),
            tones_by_chance_db=float(state["tones_by_chance_db"]),
            **arrays,
        )


_ARRAYS = ("levels_db", "bands_db", "cells_usual_db", "cells_highest_db", "rhythm_highest_db")


def cells_of(spectrum: ConditionSpectrum, sample_rate: int) -> Decibels:
    """(cells,): the strongest line of each cell; NaN in cells between two lines."""
    cells = np.full(_cell(sample_rate / 2) + 1, np.nan)
    first = int(np.searchsorted(spectrum.hz, _LOWEST_LINE_HZ))
    numbers = [_cell(hz) for hz in spectrum.hz[first:].tolist()]
    np.fmax.at(cells, numbers, spectrum.lines_db[first:])
    return cells


def _cell(hz: float) -> int:
    return int(_CELLS_PER_OCTAVE * np.log2(hz / _LOWEST_LINE_HZ))


def _gains(bands: Decibels, usual: Decibels) -> Decibels:
    """(clips, 2, bands) to the median difference of their mean levels, (clips,)."""
    differences = bands[:, 0] - usual[0]
    # Snapshots may be so short that they resolve no band.
    differences[np.isnan(differences).all(axis=1)] = 0.0
    return np.asarray(np.nanmedian(differences, axis=1))


def _precision(rows: Decibels) -> Decibels:
    """(clips, n) to the inverse of how their columns vary together, (n, n)."""
    covariance = rows.T @ rows / len(rows) + _LEAST_SPREAD_DB**2 * np.eye(rows.shape[1])
    share = min(1.0, max(_LEAST_SHRINKAGE, _FULL_SHRINKAGE / len(rows)))
    covariance = (1 - share) * covariance + share * np.diag(np.diag(covariance))
    return np.asarray(np.linalg.inv(covariance))


def _surprise(precision: Decibels, row: Decibels) -> Decibels:
    """(n,): each value against what the others let expect, in standard deviations."""
    return np.asarray(precision @ row / np.sqrt(np.diag(precision)))


def _tonal(cells: Decibels) -> NDArray[np.bool_]:
    """(cells,): which stand out of those around."""
    padded = np.pad(cells, _NEIGHBOURS, constant_values=np.nan)
    windows = sliding_window_view(padded, 2 * _NEIGHBOURS + 1)
    filled = np.where(np.isnan(windows).all(axis=1, keepdims=True), 0.0, windows)
    return np.asarray(cells - np.nanmedian(filled, axis=1) > _TONE_DB)


def _tones_by_chance(cells: Decibels) -> float:
    """(clips, cells) to the most that a tone of one clip stands out of all the others, in dB."""
    most = 0.0
    for number, clip in enumerate(cells):
        highest = np.delete(cells, number, axis=0).max(axis=0)
        padded = np.pad(highest, 1, constant_values=np.nan)
        near = np.fmax(np.fmax(padded[:-2], padded[2:]), highest)
        most = max(most, float(np.max((clip - near)[_tonal(clip)], initial=0.0)))
    return most


def _rounded(values: Decibels) -> Any:
    """Nested lists with a tenth of a decibel, which is more than the values are sure of."""
    rounded = values.round(1).astype(object)
    rounded[np.isnan(values)] = None
    return rounded.tolist()
