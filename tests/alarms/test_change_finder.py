"""Findings on sounds whose changes are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ssdpt.alarms.change_finder import find_changes
from ssdpt.alarms.findings import Finding, describe
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.errors import SsdptError
from ssdpt.types import Floats

RATE = 16000
RATES = (2000, 16000, 25600, 51200)


def hum(seed: int, rate: int = RATE, seconds: float = 4.0, mains: float = 0.01) -> np.ndarray:
    """Noise with a tone at 50 Hz and one at 310 Hz whose frequency varies by half a per cent."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    pitch = 310 * (1 + rng.uniform(-0.005, 0.005))
    tones = mains * np.sin(2 * np.pi * 50 * time + rng.uniform(0, 6))
    tones += 0.004 * np.sin(2 * np.pi * pitch * time + rng.uniform(0, 6))
    return 0.003 * rng.standard_normal(time.size) + tones


def tone(hz: float, amplitude: float, rate: int = RATE, seconds: float = 4.0) -> np.ndarray:
    return amplitude * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate)) / rate)


def knocks(
    per_second: float, hz: float, amplitude: float, rate: int = RATE, seconds: float = 4.0
) -> np.ndarray:
    """Short rings at `hz`, regular but for a hundredth of a period."""
    rng = np.random.default_rng(1)
    wave = np.zeros(round(seconds * rate))
    time = np.arange(round(0.02 * rate)) / rate
    ring = amplitude * np.exp(-time / 0.003) * np.sin(2 * np.pi * hz * time)
    for moment in np.arange(0.3 / per_second, seconds - 0.02, 1 / per_second):
        first = round((moment + 0.01 / per_second * rng.standard_normal()) * rate)
        wave[first : first + ring.size] += ring[: wave.size - first]
    return wave


def clip(*waves: np.ndarray) -> Floats:
    return np.sum(waves, axis=0).astype(np.float32)


def learned(rate: int = RATE, clips: int = 12) -> SoundReference:
    return SoundReference.learn([clip(hum(seed, rate)) for seed in range(clips)], rate)


@pytest.fixture(scope="module")
def reference() -> SoundReference:
    return learned()


def first(reference: SoundReference, *waves: np.ndarray) -> Finding:
    return find_changes(reference, [clip(*waves)])[0]


def test_nothing_is_found_in_more_normal_sound(reference: SoundReference) -> None:
    findings = [find_changes(reference, [clip(hum(seed))]) for seed in range(100, 130)]
    assert sum(map(len, findings)) == 0


@pytest.mark.parametrize("rate", RATES)
def test_a_new_tone_is_named_at_any_sample_rate(rate: int) -> None:
    finding = first(learned(rate, 6), hum(99, rate), tone(131, 0.003, rate))
    assert finding.code == "tone"
    assert finding.new
    assert finding.hz == pytest.approx(131, abs=1)
    assert finding.db is not None
    assert finding.db > 10
    assert finding.text.startswith("new tone at 131 Hz, ")


def test_a_stronger_tone_is_not_called_new(reference: SoundReference) -> None:
    finding = first(reference, hum(99, mains=0.04))
    assert (finding.code, finding.new) == ("tone", False)
    assert finding.hz == pytest.approx(50, abs=1)
    assert finding.db == pytest.approx(12, abs=2)


def test_harmonics_are_named_once(reference: SoundReference) -> None:
    family = [tone(137 * number, 0.004) for number in range(1, 8)]
    findings = find_changes(reference, [clip(hum(99), *family)])
    assert [round(finding.hz or 0) for finding in findings if finding.code == "tone"] == [137]


def test_a_band_that_grows_or_fades_is_named(reference: SoundReference) -> None:
    rng = np.random.default_rng(5)
    spectrum = np.fft.rfft(0.02 * rng.standard_normal(4 * RATE))
    hz = np.fft.rfftfreq(4 * RATE, 1 / RATE)
    hiss = np.fft.irfft(spectrum * ((hz > 2100) & (hz < 2500)))
    finding = first(reference, hum(99), hiss)
    assert finding.code == "band"
    assert finding.low_hz is not None
    assert finding.high_hz is not None
    assert finding.low_hz <= 2300 <= finding.high_hz
    quiet = np.fft.irfft(np.fft.rfft(hum(99)) * np.where((hz > 2000) & (hz < 2600), 0.2, 1.0))
    assert (first(reference, quiet).db or 0) < -5


@pytest.mark.parametrize("per_second", [2.5, 17.0, 90.0])
def test_knocks_are_counted(reference: SoundReference, per_second: float) -> None:
    finding = first(reference, hum(99), knocks(per_second, 3000, 0.05))
    assert finding.code == "knocks"
    assert finding.new
    assert finding.per_second == pytest.approx(per_second, rel=0.03)
    assert finding.low_hz is not None
    assert finding.high_hz is not None
    assert finding.low_hz / 1.26 <= 3000 <= finding.high_hz * 1.26


@pytest.mark.parametrize("seconds", [1.0, 2.0, 3.0])
def test_a_tone_that_has_just_begun_is_a_tone(reference: SoundReference, seconds: float) -> None:
    begun = np.arange(4 * RATE) >= (4 - seconds) * RATE
    finding = first(reference, hum(99), begun * tone(2500, 0.02))
    assert finding.code == "tone"
    assert finding.hz == pytest.approx(2500, abs=2)


def test_a_sound_that_swells_is_called_modulation(reference: SoundReference) -> None:
    rng = np.random.default_rng(6)
    swell = 1 + 0.9 * np.sin(2 * np.pi * 7 * np.arange(4 * RATE) / RATE)
    findings = find_changes(
        reference, [clip(hum(99), 0.004 * swell * rng.standard_normal(4 * RATE))]
    )
    rates = [finding.per_second for finding in findings if finding.code == "modulation"]
    assert rates[0] == pytest.approx(7, abs=0.3)


def test_more_of_everything_is_a_matter_of_level(reference: SoundReference) -> None:
    findings = find_changes(reference, [clip(4 * hum(99))])
    assert [finding.code for finding in findings] == ["level"]
    assert findings[0].text == "12 dB louder than normal"


def test_levels_that_vary_by_themselves_are_not_mentioned() -> None:
    rng = np.random.default_rng(0)
    gains = 10 ** (rng.uniform(-4, 4, 30) / 20)
    normal = [clip(gain * hum(seed)) for seed, gain in enumerate(gains)]
    reference = SoundReference.learn(normal[:20], RATE)
    assert [find_changes(reference, [sound]) for sound in normal[20:]] == [()] * 10
    assert first(reference, 1.4 * hum(99), tone(700, 0.003)).code == "tone"


def test_at_an_alert_smaller_changes_are_named(reference: SoundReference) -> None:
    sound = clip(hum(99), knocks(5, 3000, 0.004))
    assert find_changes(reference, [sound]) == ()
    named = find_changes(reference, [sound], alerted=True)[0]
    assert named.low_hz is not None
    assert named.high_hz is not None
    assert named.low_hz / 1.26 <= 3000 <= named.high_hz * 1.26


def snapshots(wave: np.ndarray, rate: int) -> list[Floats]:
    """A tenth of a second each."""
    return list(wave.astype(np.float32).reshape(-1, rate // 10))


def test_snapshots_are_measured_together() -> None:
    rate = 25600
    normal = snapshots(np.concatenate([hum(seed, rate) for seed in range(10)]), rate)
    reference = SoundReference.learn(normal, rate)
    well = snapshots(hum(50, rate, 1.2), rate)
    assert find_changes(reference, well) == ()
    worn = snapshots(hum(50, rate, 1.2) + knocks(168, 6000, 0.03, rate, 1.2), rate)
    finding = find_changes(reference, worn)[0]
    assert finding.code in ("knocks", "modulation")
    assert finding.per_second == pytest.approx(168, rel=0.1)
    assert finding.low_hz is not None
    assert finding.high_hz is not None
    assert finding.low_hz / 1.26 <= 6000 <= finding.high_hz * 1.26


def test_shorter_sound_than_what_was_learned_is_compared_where_it_can_be(
    reference: SoundReference,
) -> None:
    sound = clip(hum(99, seconds=0.6), tone(2600, 0.006, seconds=0.6))
    finding = find_changes(reference, [sound])[0]
    assert finding.code == "tone"
    assert finding.hz == pytest.approx(2600, abs=5)


def test_a_reference_outlives_a_restart(reference: SoundReference) -> None:
    text = json.dumps(reference.to_json(), allow_nan=False)
    assert len(text) < 60_000
    restored = SoundReference.from_json(json.loads(text))
    sound = clip(hum(99), tone(131, 0.003), knocks(5, 3000, 0.05))
    codes = [finding.code for finding in find_changes(reference, [sound])]
    assert [finding.code for finding in find_changes(restored, [sound])] == codes


def test_silence_and_too_little_sound() -> None:
    with pytest.raises(SsdptError, match="2 clips are too few"):
        SoundReference.learn([clip(hum(1)), clip(hum(2))], RATE)
    silent = SoundReference.learn([np.zeros(RATE, np.float32)] * 4, RATE)
    assert find_changes(silent, [np.zeros(RATE, np.float32)]) == ()
    with pytest.raises(SsdptError, match="no sound"):
        find_changes(silent, [])


def test_the_sentence_names_the_first_three() -> None:
    findings = [Finding(code="tone", hz=130.2, db=30.4, new=True)] * 4
    assert describe(findings) == "; ".join(["new tone at 130 Hz, 30 dB above normal"] * 3)
