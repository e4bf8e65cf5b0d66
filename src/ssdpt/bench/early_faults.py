"""Early faults: how soon a broken machine is an alert after a few minutes of learning, live.

Everything runs as in the service, on recordings that are replayed as fast as they can be judged.
Some normal recordings are learned from; the others and the faulty ones are replayed, each twice:
from a standing start, and after some seconds of another normal recording.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import soundfile

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, RetentionSettings
from ssdpt.monitor.messages import Event, EventChanged, MachineStatus, ReadingTaken
from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.service.subscriptions import Update
from ssdpt.monitor.sources.recordings import sound_files
from ssdpt.monitor.sources.replay_source import ReplaySettings
from ssdpt.monitor.store import Store

_RATE = 16000  # Hz
_SPEED = 1e4  # faster than it can be judged
_SPARE_SECONDS = 10.0  # that are learned from beyond the minutes: the last clip must be whole
_NORMAL_BEFORE = 40.0  # seconds of another normal recording
_MACHINE = "machine"
_PAUSE = 0.02  # seconds


class _EverySecond(ReplaySettings):
    """Recordings of which each second is waited for until it is judged, at any speed."""

    arrives_in_files: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class EarlyFaultRow:
    """One recording, after one choice of what was learned from."""

    seed: int
    recording: str
    faulty: bool
    alert_after: float | None  # seconds from its start; None: no alert
    rule: str  # that the alert rests on
    highest_score: float | None
    threshold: float  # of an alert
    alert_after_normal: float | None  # the same, where it follows normal sound
    asked: bool  # whether a person was asked if the machine is healthy


def bench_early_faults(
    normal: Path,
    faulty: Sequence[Path],
    *,
    minutes: float,
    seeds: Sequence[int],
    reporter: Reporter = SILENT,
) -> dict[str, Any]:
    """Learn `minutes` of the recordings of a folder, and replay the others and those of `faulty`.

    Each of `seeds` is another choice of the recordings that are learned from.
    """
    normals = _recordings(normal)
    faults = [path for folder in faulty for path in _recordings(folder)]
    rows: list[EarlyFaultRow] = []
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as place:
        for seed in seeds:
            learned, left_out = _choose(normals, minutes, seed)
            work = Path(place) / str(seed)
            _learn(learned, minutes, work)
            tests = [(path, False) for path in left_out] + [(path, True) for path in faults]
            with reporter.task(f"seed {seed}", total=len(tests)) as task:
                for path, is_faulty in tests:
                    before = next((one for one in left_out if one != path), learned[0])
                    rows.append(_row(seed, path, before, work, faulty=is_faulty))
                    task.advance()
    return {"minutes": minutes, "rows": [asdict(row) for row in rows]}


def _recordings(folder: Path) -> list[Path]:
    files = sound_files(folder) if folder.is_dir() else []
    if not files:
        raise SsdptError(f"{folder}: it has no sound files; give a folder of recordings")
    return files


def _choose(normals: Sequence[Path], minutes: float, seed: int) -> tuple[list[Path], list[Path]]:
    """Recordings to learn from, and those left out."""
    order = [normals[number] for number in np.random.default_rng(seed).permutation(len(normals))]
    learned: list[Path] = []
    missing = 60 * minutes + _SPARE_SECONDS
    while missing > 0 and order:
        learned.append(order.pop(0))
        missing -= len(audio.read(learned[-1], _RATE)) / _RATE
    if missing > 0 or not order:
        raise SsdptError(
            f"{normals[0].parent}: too little normal sound to learn {minutes:g} minutes and leave "
            "a recording out"
        )
    return learned, order


def _learn(recordings: Sequence[Path], minutes: float, work: Path) -> None:
    """Let a machine learn its baseline live; what it has learned is kept in `work`."""
    with _service(work, [audio.read(path, _RATE) for path in recordings]) as service:
        service.api.start_learning(_MACHINE, minutes)
        service.start()
        machine = service.machines.stream(_MACHINE)
        while machine.model is None:
            if not machine.capture.alive and not machine.learning:
                raise SsdptError(f"no baseline was learned: {'; '.join(service.log.notes)}")
            time.sleep(_PAUSE)


def _row(seed: int, path: Path, before: Path, work: Path, *, faulty: bool) -> EarlyFaultRow:
    samples = audio.read(path, _RATE)
    normal = audio.read(before, _RATE)[: round(_NORMAL_BEFORE * _RATE)]
    alone = _replay(work, [samples])
    following = _replay(work, [normal, samples], stop_at_alert=True).alert_after
    return EarlyFaultRow(
        seed=seed,
        recording=f"{path.parent.name}/{path.stem}",
        faulty=faulty,
        alert_after=alone.alert_after,
        rule=alone.rule,
        highest_score=alone.highest_score,
        threshold=alone.threshold,
        alert_after_normal=None if following is None else following - len(normal) / _RATE,
        asked=alone.asked,
    )


@dataclass(slots=True)
class _Replay:
    """What happened to a machine while it was replayed."""

    alert_after: float | None = None  # seconds
    rule: str = ""
    highest_score: float | None = None
    threshold: float = np.nan
    asked: bool = False

    def add(self, message: Update, status: MachineStatus, begun: float) -> None:
        """Take one message; `begun`: the time of the first sample."""
        if isinstance(message, ReadingTaken) and message.reading.smoothed is not None:
            score, highest = message.reading.smoothed, self.highest_score
            self.highest_score = score if highest is None else max(score, highest)
        if (
            isinstance(message, EventChanged)
            and message.event.kind == "anomaly"
            and self.alert_after is None
        ):
            self.alert_after = message.event.began - begun
            self.rule = _rule(message.event, status)
        if status.thresholds is not None:
            self.threshold = status.thresholds.alert
        self.asked = self.asked or status.question is not None


def _replay(work: Path, stretches: Sequence[np.ndarray], *, stop_at_alert: bool = False) -> _Replay:
    """Replay stretches of samples, one after the other, to the machine that has learned."""
    replay = _Replay()
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as place:
        data = Path(place) / "data"
        shutil.copytree(work, data)
        with _service(data, stretches) as service:
            subscription = service.api.subscribe()
            service.start()
            machine = service.machines.stream(_MACHINE)
            ended = False
            while not ended and not (stop_at_alert and replay.alert_after is not None):
                ended = not machine.capture.alive and not machine.due
                while (message := subscription.get(_PAUSE)) is not None:
                    status = service.api.machine_status(_MACHINE)
                    replay.add(message, status, machine.capture.begun)
    return replay


def _rule(event: Event, status: MachineStatus) -> str:
    if event.threshold is not None:
        thresholds = status.thresholds
        known = () if thresholds is None else (thresholds.alert, thresholds.alarm)
        return "threshold" if event.threshold in known else "score"
    findings = status.change_points[-1].findings if status.change_points else ()
    return findings[0].text if findings else "level"


@contextmanager
def _service(data: Path, stretches: Sequence[np.ndarray]) -> Iterator[MonitorService]:
    """A service of one machine that hears these samples; not started.

    What it learns is kept in `data`.
    """
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as place:
        playing = Path(place) / "playing.wav"
        soundfile.write(playing, np.concatenate(list(stretches)), _RATE, subtype="FLOAT")
        source = _EverySecond(path=playing, speed=_SPEED)
        config = MonitorConfig(
            machines=(MachineSettings(id=_MACHINE, source=source),),
            speed=_SPEED,
            retention=RetentionSettings(keep_audio=False),
        )
        data.mkdir(exist_ok=True)
        with Store.open(f"sqlite:///{data / 'history.db'}", data, writer=True) as store:
            service = MonitorService(config, store, data)
            try:
                yield service
            finally:
                service.stop()
