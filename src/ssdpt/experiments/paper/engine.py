"""Where cells run: on this machine, or on a Ray cluster. Each comes out exactly once."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import torch

from ssdpt.common.progress import SILENT, Relay, Reporter
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.cells import Cell, CellScores, CellStore
from ssdpt.experiments.paper.data import PaperData
from ssdpt.experiments.paper.run import run_cell

EngineName = Literal["local", "ray"]


@dataclass(frozen=True, slots=True)
class Engine:
    """Which engine, and how much of it a cell may take."""

    name: EngineName = "local"
    address: str = "auto"  # of the Ray cluster
    gpus: float = 0.0  # of one GPU, for a cell on the cluster
    jobs: int | None = None  # cells at once on this machine


def run_cells(
    cells: Sequence[Cell],
    data: PaperData,
    store: CellStore,
    engine: Engine,
    reporter: Reporter = SILENT,
) -> dict[str, str]:
    """Run every cell that the store does not hold yet; those that failed, by name, and why.

    A cell is written to the store as soon as it is done, so that an interrupted run goes on where
    it was. A failing one is told and the rest go on.
    """
    distinct: dict[str, Cell] = {}
    for cell in cells:
        distinct.setdefault(cell.key, cell)
    waiting = [cell for cell in distinct.values() if store.load(cell) is None]
    done = len(distinct) - len(waiting)
    failures: dict[str, str] = {}
    with reporter.task("cells", total=len(waiting) + done) as task:
        task.advance(done, "found finished" if done else "")
        run = _on_cluster if engine.name == "ray" else _here
        for cell, found in run(waiting, data, store, engine, reporter):
            if isinstance(found, SsdptError):
                failures[cell.name] = str(found)
                reporter.warn(f"{cell.name} failed, the rest go on: {found}")
            else:
                store.save(cell, found)
            task.advance(note=cell.name)
    return failures


Outcome = tuple[Cell, CellScores | SsdptError]


def _here(
    cells: Sequence[Cell], data: PaperData, store: CellStore, engine: Engine, reporter: Reporter
) -> Iterator[Outcome]:
    """Cell by cell on a CPU, whose cores one takes all; several at a time on a GPU."""
    from ssdpt.training.together import as_they_finish, at_once

    def work(cell: Cell, listener: Reporter) -> CellScores | SsdptError:
        place = store.folder / f".{cell.key}.work"
        found = _attempt(partial(run_cell, cell, data, place, _Inner(listener)))
        shutil.rmtree(place, ignore_errors=True)
        return found

    jobs = engine.jobs or at_once(cells[0].config.device if cells else "cpu")
    for index, found in as_they_finish(work, cells, jobs, reporter):
        yield cells[index], found


def _on_cluster(
    cells: Sequence[Cell], data: PaperData, store: CellStore, engine: Engine, reporter: Reporter
) -> Iterator[Outcome]:
    from ssdpt.common.cluster import Cluster, device_of_task

    sent = []
    for cell in cells:
        device = device_of_task(cell.config.device, engine.gpus)
        sent.append(replace(cell, config=cell.config.model_copy(update={"device": device})))
    with Cluster.connect(engine.address, reporter) as cluster:
        for index, found in cluster.run(partial(_remote, data), sent, gpus=engine.gpus):
            yield cells[index], found


def _remote(data: PaperData, cell: Cell) -> CellScores:
    """On a node of the cluster: checkpoints stay there, the scores travel back."""
    for path in data.paths(cell.machines):
        # Left out as unreadable it would make a cell of other clips than its name says.
        if not path.exists():
            raise SsdptError(
                f"{path}: no such file on {socket.gethostname()}; put it on storage that every "
                "node of the cluster sees under this path"
            )
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as work:
        return run_cell(cell, data, Path(work))


def _attempt(run: Callable[[], CellScores]) -> CellScores | SsdptError:
    try:
        return run()
    except SsdptError as error:
        return error
    except torch.AcceleratorError as error:
        raise SsdptError(
            f"the GPU has stopped working ({_first_line(error)}); run the same command again: "
            "finished cells are kept"
        ) from error
    except Exception as error:  # whatever a network or a library may raise is this cell's alone
        return SsdptError(f"an unforeseen error, {type(error).__name__}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:300]


class _Inner(Relay):
    """Of hundreds of cells only the progress is shown; remarks are for those who ask."""

    def say(self, message: str) -> None:
        self.listener.detail(message)
