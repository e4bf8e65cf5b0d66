"""Speed of decoding and log-mel features, compared with scoring, and of a whole folder."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch

from ssdpt.bench.machine import describe, seconds
from ssdpt.bench.score import untrained_system
from ssdpt.config.tree import load_config
from ssdpt.data import audio
from ssdpt.detection.detector import Detector
from ssdpt.detection.storage import StoredModel
from ssdpt.features.logmel import LogMel
from ssdpt.fleet.fleet import Fleet
from ssdpt.scoring.calibrate import calibrate
from ssdpt.systems.ssdpt.system import Ssdpt
from ssdpt.types import Recording

_RATE, _CD_RATE = 16_000, 44_100  # Hz
_CLIP_SECONDS = 10
_CLIPS = 40
_HOP = 8

_CPU = torch.device("cpu")
Computation = Callable[[], object]


def bench_features(budget: float) -> dict[str, Any]:
    """Seconds per ten-second clip for every step on a CPU; `budget`: seconds spent per row."""
    config = load_config("paper", {"device": "cpu", "ssdpt.hop": _HOP})
    system = untrained_system(config)
    front_end = LogMel(config.features, _RATE)
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as name:
        folder = Path(name)
        mono = _write(folder / "mono.wav", _RATE, channels=1)
        stereo = _write(folder / "stereo.wav", _CD_RATE, channels=2)
        samples = audio.read(mono, _RATE)
        frames = front_end(samples)
        steps = _best(
            {
                "decode": lambda: audio.read(mono, _RATE),
                "decode_and_resample": lambda: audio.read(stereo, _RATE),
                "log_mel": lambda: front_end(samples),
                "scoring_hop_8": lambda: system.score([frames], system.sections[0]),
            },
            budget,
        )
        folder_times = _folder(system, folder / "clips", budget)
    return {
        "machine": describe(_CPU),
        "preset": "paper",
        "clip_seconds": _CLIP_SECONDS,
        **steps,
        "features_over_scoring": steps["log_mel"] / steps["scoring_hop_8"],
        "folder": folder_times,
    }


def _folder(system: Ssdpt, folder: Path, budget: float) -> dict[str, Any]:
    """A folder of clips, scored one by one and in parallel on all cores."""
    folder.mkdir()
    section = system.sections[0]
    recordings = [
        Recording(_write(folder / f"{number}.wav", _RATE, channels=1), "machine", section)
        for number in range(_CLIPS)
    ]
    detector = _detector(system)
    fleet = Fleet({detector.machine: detector}, {})
    busy: list[tuple[float, float]] = []  # wall-clock seconds, and CPU seconds of all cores

    def one_by_one() -> None:
        for recording in recordings:
            detector.score(recording.path, section=section)

    def together() -> None:
        begun, used = time.perf_counter(), time.process_time()
        for _ in fleet.score_all(recordings):
            pass
        busy.append((time.perf_counter() - begun, time.process_time() - used))

    times = _best({"one_by_one": one_by_one, "together": together}, budget)
    clock, cores = min(busy)
    return {
        "clips": _CLIPS,
        **{name: spent / _CLIPS for name, spent in times.items()},
        "ratio": times["one_by_one"] / times["together"],
        "cores_used": cores / clock,
    }


def _best(rows: dict[str, Computation], budget: float) -> dict[str, float]:
    """Seconds of the fastest run of every row; rows take turns, since other load varies."""
    for work in rows.values():
        work()
    fastest = dict.fromkeys(rows, float("inf"))
    begun = time.perf_counter()
    while True:
        for name, work in rows.items():
            fastest[name] = min(fastest[name], seconds(work, _CPU))
        if time.perf_counter() - begun > budget * len(rows):
            return fastest


def _write(path: Path, rate: int, channels: int) -> Path:
    """Ten seconds of noise, 16 bits."""
    rng = np.random.default_rng(0)
    samples = rng.normal(0, 0.1, (_CLIP_SECONDS * rate, channels)).astype(np.float32)
    soundfile.write(path, samples, rate, subtype="PCM_16")
    return path


def _detector(system: Ssdpt) -> Detector:
    """A detector with thresholds from synthetic scores; speed does not depend on their values."""
    config = system.config
    synthetic = np.linspace(0.5, 1.5, 30).tolist()
    normal = {(section, "source"): synthetic for section in system.sections}
    stored = StoredModel(
        machine="machine",
        sections=system.sections,
        config=config,
        description=system.description(),
        arrays=system.arrays(),
        calibration=calibrate(normal, config.decision, cross_fitted=False, seed=config.seed),
        recordings_seen={},
        notes=(),
    )
    return Detector(system, stored)
