"""A fleet with predefined scores, and sound files that match it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import soundfile
from scipy import signal

from ssdpt.errors import SsdptError
from ssdpt.types import Recording, Score, Timeline

RATE = 8000
BINS = 128
STEP = 256 / RATE


@dataclass
class FakeDetector:
    machine: str
    values: dict[str, float]
    alert: float = 0.5
    alarm: float = 0.8
    false_alarm_rate: float = 0.1
    fingerprint: frozenset[str] = frozenset()
    system_name: str = "fake"
    sections: tuple[str, ...] = ("00",)
    sample_rate: int = RATE
    frame_seconds: float = STEP
    explains: bool = True
    adapts: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def calibration(self):
        return SimpleNamespace(thresholds=lambda section=None: (self.alert, self.alarm))

    @property
    def frequencies(self):
        return np.linspace(60, RATE / 2 - 60, BINS, dtype=np.float32)

    def score(self, path, *, section=None):
        if path.name not in self.values:
            raise SsdptError(f"{path}: unreadable; check the file")
        value = self.values[path.name]
        level = "alarm" if value > self.alarm else "alert" if value > self.alert else "normal"
        return Score(
            path=str(path),
            machine=self.machine,
            section=section or "00",
            value=value,
            threshold=self.alert,
            level=level,
            p_value=float(np.exp(-5 * max(value, 0))),
            parts={"classification": value},
            timeline=Timeline(np.zeros(1, np.float32), 1.0, np.array([value], np.float32)),
        )

    def audio(self, sound):
        return soundfile.read(getattr(sound, "path", sound), dtype="float32")[0]

    def frames(self, path):
        _, _, power = signal.spectrogram(
            self.audio(path), RATE, nperseg=512, noverlap=256, mode="magnitude"
        )
        banded = power[:256].reshape(BINS, -1, power.shape[1]).mean(axis=1).T  # (frames, bins)
        return (20 * np.log10(banded + 1e-6)).astype(np.float32)

    def anomaly_map(self, path, section=None):
        frames = self.frames(path)
        return np.maximum(frames - np.median(frames, axis=0), 0)


@dataclass
class FakeFleet:
    detectors: dict[str, FakeDetector]

    @property
    def machines(self):
        return tuple(self.detectors)

    def __getitem__(self, machine):
        return self.detectors[machine]

    def for_recording(self, recording):
        return self.detectors.get(recording.machine)

    def score_all(self, recordings):
        for recording in recordings:
            try:
                detector = self.detectors[recording.machine]
                yield recording, detector.score(recording.path, section=recording.section)
            except SsdptError as error:
                yield recording, error


@dataclass
class FakeDataset:
    recordings: tuple[Recording, ...]
    layout: str = "dcase2022"
    notes: tuple[str, ...] = ()
    root: Path = field(default_factory=Path)


def write_clip(path: Path, *, faulty: bool, seconds: float = 1.0, seed: int = 0) -> None:
    """Hum and noise; a faulty clip also has a tone for some time."""
    generator = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    sound = 0.05 * np.sin(2 * np.pi * 120 * time) + 0.01 * generator.standard_normal(time.size)
    if faulty:
        tone_on = (time > 0.3 * seconds) & (time < 0.6 * seconds)
        sound += 0.05 * tone_on * np.sin(2 * np.pi * 2000 * time)
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, sound.astype(np.float32), RATE)


def make_fakes(
    root: Path,
    machines: tuple[str, ...] = ("fan",),
    *,
    sections: tuple[str, ...] = ("00",),
    domains: tuple[str, ...] = ("source", "target"),
    clips: int = 4,
    seconds: float = 1.0,
    separation: float = 0.3,
    layout: str = "dcase2022",
    seed: int = 0,
) -> tuple[FakeFleet, FakeDataset]:
    """A fleet and its data: `clips` normal and as many faulty test clips per section and domain."""
    generator = np.random.default_rng(seed)
    recordings, detectors = [], {}
    for machine in machines:
        values = {}
        for section in sections:
            for domain in domains:
                for label in ("normal", "anomaly"):
                    for number in range(clips):
                        name = f"section_{section}_{domain}_test_{label}_{number:04d}.wav"
                        faulty = label == "anomaly"
                        path = root / machine / "test" / name
                        write_clip(
                            path, faulty=faulty, seconds=seconds, seed=generator.integers(1 << 30)
                        )
                        values[name] = float(
                            0.3 + 0.15 * generator.standard_normal() + separation * faulty
                        )
                        recordings.append(Recording(path, machine, section, domain, "test", label))
        detectors[machine] = FakeDetector(machine, values, sections=sections)
    return FakeFleet(detectors), FakeDataset(tuple(recordings), layout)
