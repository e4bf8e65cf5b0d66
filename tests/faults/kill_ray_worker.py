"""kill -9 of workers of a Ray cluster while an archive is scored on it."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faults import commands
from faults.experiment import Experiment, Outcome
from faults.oracle import content
from nodes import Listener, Nodes, kill
from ssdpt.common.cluster import Cluster
from ssdpt.data.layouts import read_layout
from ssdpt.fleet.archive import Scoring, local_engine, ray_engine, score_archive

_GOLDEN = Path(__file__).parents[1] / "golden" / "formats" / "5" / "ssdpt"
_LATEST = 3.0  # seconds from the first result of a run to the kill


class KillRayWorker(Experiment):
    """Trial: an archive, during which a worker dies; all clips are scored once."""

    name = "kill-ray-worker"
    trials = 20

    @contextmanager
    def setting(self, folder: Path) -> Iterator[None]:
        self._folder = folder
        self._recordings = read_layout(commands.simulated() / "fan").recordings
        self._scoring = Scoring.by(_GOLDEN, hop=1)
        here = folder / "here"
        self._summary = score_archive(
            self._recordings, self._scoring, here, local_engine("cpu"), shard_size=4
        )
        self._expected = content(here)
        with Nodes() as self._nodes, Cluster.connect(self._nodes.address) as self._cluster:
            yield

    def trial(self, number: int, random: random.Random) -> Outcome:
        out, moment = self._folder / f"there-{number}", random.uniform(0, _LATEST)
        listener = Listener()
        self._cluster._reporter = listener
        timer: list[threading.Timer] = []
        killed: list[int] = []

        def engine(scoring: Any, shards: Any, progress: Any) -> Iterator[Any]:
            for result in ray_engine(self._cluster)(scoring, shards, progress):
                if not timer:
                    timer.append(threading.Timer(moment, self._kill_worker, (killed,)))
                    timer[0].start()
                yield result

        summary = score_archive(self._recordings, self._scoring, out, engine, shard_size=4)
        for one in timer:
            one.cancel()
            one.join()
        outcome = Outcome(struck=bool(killed), checked=len(self._expected))
        outcome.expect(summary == self._summary, f"{summary}, not {self._summary}")
        found = content(out)
        outcome.lost += [name for name in self._expected if name not in found]
        outcome.doubled += [name for name in found if name not in self._expected]
        outcome.expect(found == self._expected, "other scores than on this computer")
        shutil.rmtree(out)
        return outcome

    def _kill_worker(self, killed: list[int]) -> None:
        for process, line in self._nodes.head.processes().items():
            if "ray::_perform" in line:
                kill(process)
                killed.append(process)
                return
