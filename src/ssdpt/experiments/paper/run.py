"""One cell: fit a system to the normal clips, score the test clips after the epochs.

All training clips train, as in the paper; nothing is held out, since no threshold is asked for.
No label is read here.
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
from ssdpt.experiments.paper.cells import Cell, CellScores, Clip
from ssdpt.experiments.paper.data import PaperData
from ssdpt.features.cache import FeatureView
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.fusion import spread_evenly
from ssdpt.scoring.section_score import score_by_rule
from ssdpt.systems import system_class
from ssdpt.systems.base import FitContext, System
from ssdpt.training.log import LOG_FILE
from ssdpt.training.loop import choose_device
from ssdpt.types import Floats, Recording

MOST_EPOCHS = 30  # after which test clips are scored, spread evenly; the paper trains 30
_AT_ONCE = 16  # clips: what a GPU takes together


def run_cell(cell: Cell, data: PaperData, work: Path, reporter: Reporter = SILENT) -> CellScores:
    """Train and score; `work` keeps checkpoints, from which an interrupted cell goes on."""
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
    looked_at = {1 + place for place in spread_evenly(epochs, MOST_EPOCHS)}

    def after_epoch(system: System, epoch: int) -> None:
        if epoch not in looked_at:
            return
        latest[:] = [_score(system, clips, SILENT) for clips in (test, normal)]
        with atomic_path(work / f"epoch-{epoch:04}.npy") as path, path.open("wb") as file:
            np.save(file, np.concatenate([_values(scores) for scores in latest]))

    system = kind.fit(
        train,
        config,
        FitContext(work, cell.key, True, reporter, cell.name, after_epoch=after_epoch),
    )
    # After the last epoch it was scored as it is now, unless the epoch was made by an earlier run.
    scores, normal_scores = latest or [_score(system, clips, reporter) for clips in (test, normal)]
    places = sorted(work.glob("epoch-*.npy"))
    after = np.array([np.load(place) for place in places], np.float32)
    after = after.reshape(len(places), len(test) + len(normal))
    log = next(iter(sorted(work.rglob(LOG_FILE))), None)
    return CellScores(
        clips=tuple(map(Clip.of, test.recordings)),
        value=_values(scores),
        parts=_parts(scores),
        epochs=after[:, : len(test)],
        epoch_numbers=tuple(int(place.stem.removeprefix("epoch-")) for place in places),
        normals=tuple(map(Clip.of, normal.recordings)),
        normal_value=_values(normal_scores),
        normal_epochs=after[:, len(test) :],
        seconds=round(time.monotonic() - begun, 3),
        facts={
            "parameters": int(system.description().get("parameters", 0)),
            "device": str(choose_device(config.device)),
            "training_clips": len(train),
        },
        log=log.read_text("utf-8") if log else "",
    )


def normal_clips(recordings: Sequence[Recording]) -> list[int]:
    """Positions of the training clips that say how high normal sound scores."""
    by_section: defaultdict[str, list[int]] = defaultdict(list)
    for place, recording in enumerate(recordings):
        by_section[recording.section].append(place)
    return sorted(
        group[index] for group in by_section.values() for index in spread_evenly(len(group))
    )


def _score(system: System, clips: FeatureView, reporter: Reporter) -> list[ClipScore]:
    scores: list[ClipScore] = []
    known = list(clips.clips())
    with reporter.task("scoring", total=len(known)) as task:
        for first in range(0, len(known), _AT_ONCE):
            some = known[first : first + _AT_ONCE]
            heard = system.score_many([frames for _, frames in some])
            for (recording, _), score_as in zip(some, heard, strict=True):
                scores.append(score_by_rule(score_as, system.sections, recording.section)[0])
                task.advance()
    return scores


def _values(scores: Sequence[ClipScore]) -> Floats:
    return np.array([score.value for score in scores], np.float32)


def _parts(scores: Sequence[ClipScore]) -> dict[str, Floats]:
    names = scores[0].parts if scores else ()
    return {name: np.array([score.parts[name] for score in scores], np.float32) for name in names}
