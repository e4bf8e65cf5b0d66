"""Time to train and score a whole data set of seven machine types."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from ssdpt.bench.machine import describe, wait
from ssdpt.bench.synthetic import synthetic_clips
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import load_config
from ssdpt.systems.base import FitContext
from ssdpt.systems.ssdpt.system import Ssdpt
from ssdpt.training.loop import choose_device
from ssdpt.training.parallel import parallel_jobs, run_parallel

MACHINES = 7
TRAINING_CLIPS, TEST_CLIPS = 3009, 1200  # of one machine type of DCASE 2021
_SCORED_AT_ONCE = 16


def bench_fleet(
    device_name: str, batch: int, epochs: int, jobs: int | None, reporter: Reporter
) -> dict[str, Any]:
    """Seconds to train seven networks and to score 8,400 clips at hop 1, from log-mels."""
    device = choose_device(device_name)
    jobs = jobs or parallel_jobs(device_name)
    config = load_config(
        "paper",
        {
            "device": device_name,
            "ssdpt.training.batch_size": batch,
            "ssdpt.training.epochs": epochs,
        },
    )
    training = synthetic_clips(TRAINING_CLIPS).all()
    test = synthetic_clips(TEST_CLIPS, seed=1).all()
    clips = list(test.clips())
    begun = time.perf_counter()

    def fit(number: int, reporter: Reporter) -> Ssdpt:
        work = Path(folder) / str(number)
        return Ssdpt.fit(training, config, FitContext(work, "bench", reporter=reporter))

    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        systems = run_parallel(fit, range(MACHINES), jobs, reporter)
    wait(device)
    trained = time.perf_counter()
    for system in systems:
        for first in range(0, len(clips), _SCORED_AT_ONCE):
            batch_clips = clips[first : first + _SCORED_AT_ONCE]
            scorers = system.score_many([frames for _, frames in batch_clips])
            for (recording, _), score_as in zip(batch_clips, scorers, strict=True):
                score_as(recording.section)
    scored = time.perf_counter()
    return {
        "machine": describe(device),
        "batch": batch,
        "epochs": epochs,
        "jobs": jobs,
        "training_clips": MACHINES * TRAINING_CLIPS,
        "test_clips": MACHINES * TEST_CLIPS,
        "training_seconds": trained - begun,
        "scoring_seconds": scored - trained,
        "seconds": scored - begun,
    }
