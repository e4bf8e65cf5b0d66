"""One cell of the benchmark: models fitted as `ssdpt fit` does, and the scores of the test clips.

Fit and score are timed as a user sees them, from sound files to models and from sound files to
scores, with an empty cache of features. No label is read here.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.layouts import Dataset
from ssdpt.detection.detector import Detector
from ssdpt.evaluation.clips import score_clips
from ssdpt.experiments.paper.cells import Cell, CellClip, CellScores
from ssdpt.experiments.paper.data import PaperData
from ssdpt.fleet.fleet import fit_fleet
from ssdpt.training.loop import choose_device

FINGERPRINT = "fitted models"
"""Part of the fingerprint of these cells: they hold more than those of other experiments."""


def fit_and_score(
    cell: Cell, data: PaperData, work: Path, reporter: Reporter = SILENT
) -> CellScores:
    """Fit the machines of a cell, and score their test clips; an interrupted fit is resumed."""
    resumed = work.exists()
    train = tuple(
        # Already divided into training and test clips: nothing is to be divided again.
        replace(recording, split="train")
        for machine in cell.machines
        for recording in data.by_machine[machine].train
    )
    test = [item for machine in cell.machines for item in data.by_machine[machine].test]
    with _cache_in(work / "features"):
        begun = time.monotonic()
        fleet = fit_fleet(
            Dataset(work, "files", train),
            cell.config,
            work / "models",
            resume=True,
            jobs=1,
            reporter=reporter,
        )
        fitted = time.monotonic()
        scored, _ = score_clips(fleet, test, reporter=reporter)
        done = time.monotonic()
    detectors = {name: model for name, model in fleet.items() if isinstance(model, Detector)}
    return CellScores(
        clips=tuple(CellClip.of(clip.recording) for clip in scored),
        value=np.array([clip.score.value for clip in scored], np.float32),
        parts={},
        epochs=np.zeros((0, len(scored)), np.float32),
        epoch_numbers=(),
        normals=(),
        normal_value=np.zeros(0, np.float32),
        normal_epochs=np.zeros((0, 0), np.float32),
        seconds=round(done - begun, 3),
        facts={
            "device": str(choose_device(cell.config.device)),
            # Of an interrupted fit only the last part was timed.
            "fit_seconds": None if resumed else round(fitted - begun, 3),
            "score_seconds": round(done - fitted, 3),
            "model_bytes": {name: _size(fleet.folders[name]) for name in fleet},
            "systems": {name: model.system.name for name, model in detectors.items()},
        },
    )


@contextlib.contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Features are cached in `folder`, so that no cell finds those of another."""
    before = os.environ.get("SSDPT_CACHE")
    os.environ["SSDPT_CACHE"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SSDPT_CACHE"]
        else:
            os.environ["SSDPT_CACHE"] = before


def _size(folder: Path) -> int:
    """Bytes of all files of a model folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
