"""What has changed in a sound against the reference of normal sound: tones, bands, knocks, level.

Two certainties. Without an alert a finding must be beyond anything that normal clips do by chance,
in any of hundreds of places. At an alert something has changed, and the question is only what: the
place that differs most is named, if it differs at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.errors import SsdptError
from ssdpt.features.condition_spectrum import ConditionSpectrum, Decibels, SpectrumMeter
from ssdpt.features.rhythm import Rhythm, between, find_rhythm
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

MOST_FINDINGS = 6
_MEAN, _PEAK = 0, 1  # rows of the levels of bands
_LEAST_BAND_DB = 1.0  # less is not worth a word, however unusual
_LEAST_LEVEL_DB = 3.0
_SHARPER_DB = 1.0  # that peaks have grown more than the mean, where it knocks
_KNOCKING_SHARE = 0.2  # of the time, in which a band that knocks is near its peak, at most
_WEAKER = 0.5  # the importance of what has become weaker, against what has grown
_SHARE_OF_TOP = 0.6  # of the surprise of a band, from which its neighbours belong to it
_TONE_SPREAD_DB = 1.0  # a tone is compared with the surprise of bands in steps of this
_PROMINENT_DB, _CHANCE_DB = 8.0, 10.0  # above the lines around; more for the mean of few windows
_AROUND = 0.12  # of its frequency on each side, that a tone stands out of
_NARROW = 0.02  # of its frequency, the widest tone
_HARMONICS = 16  # of one family
_DETUNED = 0.006  # of its frequency, that a harmonic may be off


@dataclass(frozen=True, slots=True)
class _Limits:
    """From where on a difference is a finding."""

    surprise: float  # standard deviations, of bands and level
    tone_db: float  # above the highest of normal clips

    def beyond_chance(self, reference: SoundReference) -> _Limits:
        """Not below what each normal clip did, compared with the others."""
        return _Limits(
            max(self.surprise, reference.surprise_by_chance),
            max(self.tone_db, reference.tones_by_chance_db),
        )


_CERTAIN = _Limits(surprise=4.0, tone_db=6.0)
_AT_ALERT = _Limits(surprise=2.0, tone_db=3.0)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A finding and how unusual it is, in standard deviations."""

    finding: Finding
    surprise: float


def find_changes(
    reference: SoundReference, pieces: Sequence[Floats], *, alerted: bool = False
) -> tuple[Finding, ...]:
    """What differs from the reference, the most important first.

    `pieces`: a clip (samples,) in a list, or snapshots that are measured together; at the sample
    rate of the reference. `alerted`: something else has found that the sound is unusual.
    """
    if not pieces or not all(map(len, pieces)):
        raise SsdptError(Sentence("machines.noSoundToCompare"))
    meter = SpectrumMeter(reference.sample_rate)
    spectrum = meter.of(pieces)
    limits = _AT_ALERT if alerted else _CERTAIN.beyond_chance(reference)
    tones = _tones(reference, spectrum, limits)
    bands = _bands(reference, spectrum, meter, pieces, limits)
    # A tone makes its band grow, and knocks make their resonance ring: each is named once.
    knocks = [each for each in bands if each.finding.code == "knocks"]
    tones = [tone for tone in tones if not any(_inside(tone, each) for each in knocks)]
    bands = [each for each in bands if not any(_inside(tone, each) for tone in tones)]
    named = sorted(tones + bands, key=_importance, reverse=True)
    level = _level(reference, spectrum, limits)
    return tuple(each.finding for each in named)[: MOST_FINDINGS - len(level)] + level


def _importance(candidate: _Candidate) -> float:
    """What has grown comes before what has become weaker: faults add sound."""
    weaker = (candidate.finding.db or 0.0) < 0
    return _WEAKER * candidate.surprise if weaker else candidate.surprise


def _inside(tone: _Candidate, band: _Candidate) -> bool:
    """Whether a tone lies in a band that has grown."""
    hz, low, high = tone.finding.hz, band.finding.low_hz, band.finding.high_hz
    if hz is None or low is None or high is None or (band.finding.db or 0.0) < 0:
        return False
    return low <= hz <= high


# -- Level ---------------------------------------------------------------------------------------


def _level(
    reference: SoundReference, spectrum: ConditionSpectrum, limits: _Limits
) -> tuple[Finding, ...]:
    usual = float(np.median(reference.levels_db))
    change = spectrum.level_db - usual
    low, high = reference.levels_db.min(), reference.levels_db.max()
    spread = max(float(reference.levels_db.std()), 0.5)
    beyond = max(spectrum.level_db - high, low - spectrum.level_db)
    if abs(change) < max(_LEAST_LEVEL_DB, limits.surprise * spread) or beyond <= 0:
        return ()
    return (Finding(code="level", db=_rounded(change)),)


# -- Bands, knocks and modulation ------------------------------------------------------------------


def _bands(
    reference: SoundReference,
    spectrum: ConditionSpectrum,
    meter: SpectrumMeter,
    pieces: Sequence[Floats],
    limits: _Limits,
) -> list[_Candidate]:
    """The bands that differ most; the neighbours of one that differ less are part of it."""
    full_gain = reference.gain(spectrum)
    levels = np.array([spectrum.bands_db, spectrum.peaks_db])
    differences = levels - reference.usual_db - full_gain
    surprise = np.nan_to_num(reference.surprise(np.nan_to_num(differences)))
    # What is louder than any normal clip as a whole is not taken out of the numbers.
    changes = levels - reference.usual_db - np.clip(full_gain, *reference.gain_range)
    changes[~np.isfinite(changes)] = 0.0
    mean, peak = surprise
    most = np.where(np.abs(mean) > np.abs(peak), mean, peak)  # (bands,)
    candidates = []
    left = np.abs(most)
    while left.max(initial=0.0) >= limits.surprise:
        top = int(left.argmax())
        first, last = _extent(most, top)
        left[max(first - 1, 0) : last + 2] = 0.0
        row = int(np.abs(surprise[:, top]).argmax())
        change = float(changes[row, top])
        if abs(change) < _LEAST_BAND_DB or np.sign(change) != np.sign(most[top]):
            continue
        low, high = float(meter.edges[first]), float(meter.edges[last + 1])
        finding = Finding(code="band", db=_rounded(change), low_hz=round(low), high_hz=round(high))
        if change > 0:
            sharper = (
                float(changes[_PEAK, top] - changes[_MEAN, top]) >= _SHARPER_DB
                and meter.busy_share(pieces, top) <= _KNOCKING_SHARE
            )
            rhythm = find_rhythm(*meter.rhythm(pieces, top), _highest(reference, meter, top))
            finding = finding.model_copy(update=_repetition(rhythm, sharper))
        candidates.append(_Candidate(finding, abs(float(most[top]))))
    return candidates


def _repetition(rhythm: Rhythm | None, sharper: bool) -> dict[str, object]:
    """The fields of a band that knocks or swells; `sharper`: its peaks grew more than its mean."""
    if rhythm is None:
        return {"code": "knocks"} if sharper else {}
    code = "knocks" if rhythm.sharp else "modulation"
    return {"code": code, "per_second": rhythm.per_second, "new": True}


def _extent(most: Decibels, top: int) -> tuple[int, int]:
    """The first and the last band that have changed together with band `top`."""
    enough = most * np.sign(most[top]) >= _SHARE_OF_TOP * abs(most[top])
    first, last = top, top
    if first > 0 and enough[first - 1]:
        first -= 1
    if last + 1 < len(most) and enough[last + 1]:
        last += 1
    return first, last


def _highest(
    reference: SoundReference, meter: SpectrumMeter, band: int
) -> tuple[Decibels, Decibels]:
    """The cells of rates and the strongest rhythm of normal clips in each."""
    return meter.rate_edges, reference.rhythm_highest_db[band]


# -- Tones -----------------------------------------------------------------------------------------


def _tones(
    reference: SoundReference, spectrum: ConditionSpectrum, limits: _Limits
) -> list[_Candidate]:
    """Lines that stand out of their neighbourhood and of all normal clips; families once."""
    spacing = float(spectrum.hz[1])
    full_gain = reference.gain(spectrum)
    gain = float(np.clip(full_gain, *reference.gain_range))
    # What has only become louder together with everything else is a matter of the level.
    louder = max(full_gain - gain, 0.0)
    least = _PROMINENT_DB + _CHANCE_DB / np.sqrt(spectrum.windows)
    candidates = []
    for line in _peaks(spectrum.lines_db):
        hz = float(spectrum.hz[line])
        if not _stands_out(spectrum.lines_db, line, spacing, least):
            continue
        usual, highest, tonal = reference.near(hz, spacing)
        level = float(spectrum.lines_db[line]) - gain
        above = level - louder - highest  # NaN where nothing is known
        if not above >= limits.tone_db:
            continue
        finding = Finding(
            code="tone",
            hz=round(between(spectrum.lines_db, line) * spacing, 1),
            db=_rounded(level - usual),
            new=not tonal,
        )
        candidates.append(_Candidate(finding, above / _TONE_SPREAD_DB))
    return _families(candidates, spacing)


def _peaks(lines: Decibels) -> list[int]:
    inner = lines[1:-1]
    higher = (inner > lines[:-2]) & (inner >= lines[2:])
    return (np.flatnonzero(higher) + 1)[1:].tolist()


def _stands_out(lines: Decibels, line: int, spacing: float, least: float) -> bool:
    """Whether a narrow peak rises by `least` dB above the lines around it."""
    reach = max(8, round(_AROUND * line))
    around = lines[max(line - reach, 1) : line + reach + 1]
    if lines[line] - np.median(around) < least:
        return False
    width = max(3, round(_NARROW * line))
    sides = max(lines[max(line - width, 0)], lines[min(line + width, len(lines) - 1)])
    return bool(lines[line] - sides >= least / 2)


def _families(tones: list[_Candidate], spacing: float) -> list[_Candidate]:
    """Harmonics are not named beside their fundamental, which is as unusual as the strongest."""
    rest = sorted(tones, key=lambda tone: tone.finding.hz or 0.0)
    families = []
    while rest:
        fundamental = rest.pop(0)
        base = fundamental.finding.hz or 0.0
        family = [tone for tone in rest if _is_harmonic(tone.finding.hz or 0.0, base, spacing)]
        rest = [tone for tone in rest if tone not in family]
        strongest = max([fundamental, *family], key=lambda tone: tone.surprise)
        families.append(_Candidate(fundamental.finding, strongest.surprise))
    return families


def _is_harmonic(hz: float, base: float, spacing: float) -> bool:
    number = round(hz / base)
    return 2 <= number <= _HARMONICS and abs(hz - number * base) <= max(
        0.75 * spacing, _DETUNED * hz
    )


def _rounded(value: float) -> float:
    return round(float(value), 1)
