"""Run one cell: fit a system on the normal clips, score the test clips after each epoch.

All training clips are used for training, as in the paper; none are held out, since no threshold is
needed. No label is read here.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ssdpt.common.files import atomic_path
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import epochs_of
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.cells import Cell, CellClip, CellScores
from ssdpt.experiments.paper.data import PaperData
from ssdpt.features.cache import FeatureView
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.fusion import spread_evenly
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.systems import system_class
from ssdpt.systems.base import FitContext, System
from ssdpt.training.log import LOG_FILE
from ssdpt.training.loop import choose_device
from ssdpt.types import Floats, Recording

_BATCH_CLIPS = 16  # clips scored together on a GPU


def run_cell(cell: Cell, data: PaperData, work: Path, reporter: Reporter = SILENT) -> CellScores:
    """Train and score; `work` holds checkpoints, from which an interrupted cell is resumed."""
    config, begun = cell.config, time.monotonic()
    kind = system_class(config.system)
    front_end = kind.front_end_of(config)
    train = data.training_clips(cell.machines, config, front_end, reporter)
    test = data.test_clips(cell.machines, config, front_end, reporter)
    if reason := kind.refusal(train.recordings, config):
        raise SsdptError(f"{cell.name} cannot be trained: {reason}")
    normal = train.only(normal_clips(train.recordings))

    latest: list[list[ClipScore]] = []
    epochs = epochs_of(config)
    # Spread evenly, counted from the last, which is the result.
    scored_epochs = {epochs - index for index in spread_evenly(epochs, cell.scored_epochs)}

    def after_epoch(system: System, epoch: int) -> None:
        if epoch not in scored_epochs:
            return
        latest[:] = [_score(system, clips, SILENT) for clips in (test, normal)]
        with atomic_path(work / f"epoch-{epoch:04}.npy") as path, path.open("wb") as file:
            np.save(file, np.concatenate([_values(scores) for scores in latest]))

    system = kind.fit(
        train,
        config,
        FitContext(work, cell.key, True, reporter, cell.name, after_epoch=after_epoch),
    )
    # The scores of the last epoch are those of the result, unless an earlier run made that epoch.
    scores, normal_scores = latest or [_score(system, clips, reporter) for clips in (test, normal)]
    files = sorted(work.glob("epoch-*.npy"))
    by_epoch = np.array([np.load(file) for file in files], np.float32)
    by_epoch = by_epoch.reshape(len(files), len(test) + len(normal))
    log = next(iter(sorted(work.rglob(LOG_FILE))), None)
    return CellScores(
        clips=tuple(map(CellClip.of, test.recordings)),
        value=_values(scores),
        parts=_parts(scores),
        epochs=by_epoch[:, : len(test)],
        epoch_numbers=tuple(int(file.stem.removeprefix("epoch-")) for file in files),
        normals=tuple(map(CellClip.of, normal.recordings)),
        normal_value=_values(normal_scores),
        normal_epochs=by_epoch[:, len(test) :],
        seconds=round(time.monotonic() - begun, 3),
        facts={
            "parameters": int(system.description().get("parameters", 0)),
            "device": str(choose_device(config.device)),
            "training_clips": len(train),
        },
        log=log.read_text("utf-8") if log else "",
    )


def normal_clips(recordings: Sequence[Recording]) -> list[int]:
    """Indices of the training clips that are scored, to learn how high normal clips score."""
    by_section: defaultdict[str, list[int]] = defaultdict(list)
    for index, recording in enumerate(recordings):
        by_section[recording.section].append(index)
    return sorted(
        section[index] for section in by_section.values() for index in spread_evenly(len(section))
    )


def _score(system: System, clips: FeatureView, reporter: Reporter) -> list[ClipScore]:
    scores: list[ClipScore] = []
    pairs = list(clips.clips())
    with reporter.task("scoring", total=len(pairs)) as task:
        for first in range(0, len(pairs), _BATCH_CLIPS):
            batch = pairs[first : first + _BATCH_CLIPS]
            scorers = system.score_many([frames for _, frames in batch])
            for (recording, _), score_as in zip(batch, scorers, strict=True):
                scores.append(
                    score_known_or_best_section(score_as, system.sections, recording.section)[0]
                )
                task.advance()
    return scores


def _values(scores: Sequence[ClipScore]) -> Floats:
    return np.array([score.value for score in scores], np.float32)


def _parts(scores: Sequence[ClipScore]) -> dict[str, Floats]:
    names = scores[0].parts if scores else ()
    return {name: np.array([score.parts[name] for score in scores], np.float32) for name in names}
