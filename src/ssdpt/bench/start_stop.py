"""How long the service takes to start and to stop, with many machines."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch

from ssdpt.bench.machine import describe
from ssdpt.common.progress import Reporter
from ssdpt.data.simulator.live import LiveMachine
from ssdpt.errors import SsdptError
from ssdpt.monitor.learning.baseline import learn_baseline
from ssdpt.monitor.store.learned_models import MODELS

_RATE = 16000
_CLIPS = 12  # of ten seconds each, that the model learns from and every machine replays
_PATIENCE = 300.0  # seconds for a start or a stop; longer is an error
_COMMAND = "from ssdpt.cli import main; main()"


def bench_start_stop(*, machines: int, seconds: float, reporter: Reporter) -> dict[str, Any]:
    """Start and stop `ssdpt serve` twice, by SIGTERM after so many seconds.

    Every machine replays a recording and has its own default model on disk. At the second start
    it also has what it learned in the first run.
    """
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as place:
        folder = Path(place)
        reporter.say(f"learning a model, and copying it for {machines} machines")
        config = _prepare(folder, machines)
        runs = []
        for number in ("first", "second"):
            reporter.say(f"{number} start, {seconds:g} s of monitoring, and stop")
            runs.append(_run(config, folder / "data", seconds))
    return {
        "machine": {**describe(torch.device("cpu")), "cores": os.cpu_count()},
        "machines": machines,
        "seconds": seconds,
        "start_seconds": [run["start"] for run in runs],
        "stop_seconds": [run["stop"] for run in runs],
        "memory_mb": [run["memory_mb"] for run in runs],
    }


def _prepare(folder: Path, machines: int) -> Path:
    """A configuration file, a recording, and a model of each machine in the data folder."""
    clips = LiveMachine("pump", 0, 0).normal_clips(_CLIPS)
    recording = folder / "recording.wav"
    soundfile.write(recording, np.concatenate(clips), _RATE)
    model = folder / "model"
    learn_baseline(clips, _RATE, "pump").detector.save(model)
    ids = [f"m{number:03d}" for number in range(machines)]
    for id in ids:
        shutil.copytree(model, folder / "data" / MODELS / id)
    source = {"kind": "replay", "path": str(recording), "loop": True}
    content = {"name": "bench", "machines": [{"id": id, "source": source} for id in ids]}
    config = folder / "monitor.yaml"
    config.write_text(json.dumps(content), encoding="utf-8")  # which is YAML, too
    return config


def _run(config: Path, data: Path, seconds: float) -> dict[str, float]:
    """Seconds until `/readyz` says yes, and from SIGTERM to the end of the process."""
    arguments = ["serve", "--config", str(config), "--data", str(data), "--port", "0"]
    log = data.with_name("log")
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *arguments], stdout=output, stderr=output
        )
    try:
        while not _is_ready(log):
            if process.poll() is not None or time.monotonic() - began > _PATIENCE:
                raise SsdptError(f"the service did not start: {log.read_text('utf-8').strip()}")
            time.sleep(0.05)
        started = time.monotonic()
        time.sleep(seconds)
        memory = _resident_mb(process.pid)
        asked = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise SsdptError(f"the service did not stop within {_PATIENCE:g} s") from error
        ended = time.monotonic()
    finally:
        process.kill()
        process.wait()
    return {"start": started - began, "stop": ended - asked, "memory_mb": memory}


def _is_ready(log: Path) -> bool:
    address = re.search(r"http://\S+/", log.read_text("utf-8"))
    if address is None:
        return False
    try:
        with urllib.request.urlopen(f"{address[0]}readyz", timeout=10.0) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, TimeoutError):  # not yet, or 503
        return False


def _resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
