"""Live monitoring of many machines on one computer: delay of the scores, CPU and memory."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch

from ssdpt.bench.machine import describe
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.simulator.live import LiveMachine
from ssdpt.detection.detector import Detector
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.sources.replay_source import ReplaySettings
from ssdpt.monitor.store import Store
from ssdpt.types import Recording

_RATE = 16000
_RECORDINGS = 4  # recordings that the machines replay
_RECORDING_CLIPS = 6  # of ten seconds each, in one recording
_TRAINING_CLIPS = 20  # of each of two machine IDs
_MEASURE_EVERY = 5.0  # seconds


def bench_stream(
    config: Config, *, machines: int, seconds: float, speed: float, reporter: Reporter
) -> dict[str, Any]:
    """Monitor `machines` machines for `seconds`, all scored by one model.

    Sources, features, network, store and events run as in the service. The machines replay a few
    recordings of the simulated plant, so that no time is spent on simulation.
    """
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as place:
        folder = Path(place)
        _record(folder)
        model = folder / "model"
        _fit(config, folder, reporter).save(model)
        plant = MonitorConfig(
            name="bench",
            machines=tuple(
                MachineSettings(
                    id=f"m{number:03d}",
                    model=model,
                    section="00",
                    source=ReplaySettings(
                        path=folder / f"recording-{number % _RECORDINGS}.wav",
                        speed=speed,
                        loop=True,
                    ),
                )
                for number in range(machines)
            ),
            speed=speed,
        )
        with Store.open(f"sqlite:///{folder / 'history.db'}", folder, writer=True) as store:
            monitor = MonitorService(plant, store, folder)
            measured = _monitor(monitor, seconds, speed, reporter)
            measured["events"] = len(store.events(limit=1000))
    return {
        "machine": {**describe(torch.device("cpu")), "cores": os.cpu_count()},
        "system": config.system,
        "preset": config.preset,
        "machines": machines,
        "seconds": seconds,
        "speed": speed,
        **measured,
    }


def _monitor(
    monitor: MonitorService, seconds: float, speed: float, reporter: Reporter
) -> dict[str, Any]:
    memory: list[float] = []
    monitor.start()
    try:
        while not monitor.ready:
            time.sleep(0.1)
        warm = max(20.0 / speed, 2.0)  # until a whole clip of every machine is scored
        time.sleep(warm)
        monitor.loop.delays.clear()
        before = monitor.loop.readings
        used, begun = _cpu_seconds(), time.monotonic()
        with reporter.task("monitoring", total=seconds) as task:
            while (passed := time.monotonic() - begun) < seconds:
                time.sleep(min(_MEASURE_EVERY, seconds - passed))
                memory.append(_resident_mb())
                task.advance(min(_MEASURE_EVERY, seconds - passed))
        elapsed = time.monotonic() - begun
        delays = np.array(monitor.loop.delays)
        share = (_cpu_seconds() - used) / elapsed
        half = len(memory) // 2
    finally:
        monitor.stop()
    readings = (monitor.loop.readings - before) / elapsed / len(monitor.machines)
    return {
        # With a clock that is sped up, the times of samples are not real times: no delay is known.
        "delay_seconds": _quantiles(delays) if speed == 1 else None,
        "readings_per_machine_second": readings / speed,
        "cores_used": share,
        "memory_mb": {
            "first": memory[0],
            "first_half": float(np.mean(memory[:half] or memory)),
            "second_half": float(np.mean(memory[half:])),
            "last": memory[-1],
        },
    }


def _record(folder: Path) -> None:
    """A few minutes of normal sound, and clips of it to fit a model on."""
    for number in range(_RECORDINGS):
        machine = LiveMachine("pump", number % 2, number)
        clips = machine.normal_clips(_RECORDING_CLIPS)
        soundfile.write(folder / f"recording-{number}.wav", np.concatenate(clips), _RATE)
    for section in range(2):
        clips = LiveMachine("pump", section, 0).normal_clips(_TRAINING_CLIPS)
        for number, clip in enumerate(clips):
            soundfile.write(folder / f"section_{section:02d}_{number:02d}.wav", clip, _RATE)


def _fit(config: Config, folder: Path, reporter: Reporter) -> Detector:
    recordings = [
        Recording(path, "pump", path.stem.split("_")[1], split="train", label="normal")
        for path in sorted(folder.glob("section_*.wav"))
    ]
    return Detector.fit(recordings, config=config, reporter=reporter)


def _quantiles(values: np.ndarray) -> dict[str, float]:
    shares = {"median": 0.5, "p95": 0.95, "p99": 0.99, "worst": 1.0}
    return {name: float(np.quantile(values, share)) for name, share in shares.items()}


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
