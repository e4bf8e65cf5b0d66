"""Runs cells on this machine or on a Ray cluster, each exactly once."""

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

Work = Callable[[Cell, PaperData, Path, Reporter], CellScores]
"""Fits and scores a cell; the folder is for its checkpoints, and need not exist."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Which engine, and the resources per cell."""

    name: EngineName = "local"
    address: str = "auto"  # of the Ray cluster
    gpus: float = 0.0  # share of a GPU per cell on the cluster
    jobs: int | None = None  # cells in parallel on this machine


def run_cells(
    cells: Sequence[Cell],
    data: PaperData,
    store: CellStore,
    engine: Engine,
    reporter: Reporter = SILENT,
    work: Work = run_cell,
) -> dict[str, str]:
    """Run every cell that is not in the store; return the failed ones by name, with the reason.

    A cell is stored as soon as it is done, so that an interrupted run can be resumed. A failing
    cell is reported and the others still run.
    """
    distinct: dict[str, Cell] = {}
    for cell in cells:
        distinct.setdefault(cell.key, cell)
    waiting = [cell for cell in distinct.values() if store.load(cell) is None]
    done = len(distinct) - len(waiting)
    failures: dict[str, str] = {}
    with reporter.task("cells", total=len(waiting) + done) as task:
        task.advance(done, "already finished" if done else "")
        run = _on_cluster if engine.name == "ray" else _here
        for cell, outcome in run(waiting, data, store, engine, reporter, work):
            if isinstance(outcome, SsdptError):
                failures[cell.name] = str(outcome)
                reporter.warn(f"{cell.name} failed, the others continue: {outcome}")
            else:
                store.save(cell, outcome)
            task.advance(note=cell.name)
    return failures


Outcome = tuple[Cell, CellScores | SsdptError]


def _here(
    cells: Sequence[Cell],
    data: PaperData,
    store: CellStore,
    engine: Engine,
    reporter: Reporter,
    work: Work,
) -> Iterator[Outcome]:
    """One cell at a time on a CPU, since it uses all cores; several in parallel on a GPU."""
    from ssdpt.training.parallel import parallel_jobs, run_as_completed

    def attempt(cell: Cell, cell_reporter: Reporter) -> CellScores | SsdptError:
        folder = store.folder / f".{cell.key}.work"
        outcome = _attempt(partial(work, cell, data, folder, _CellReporter(cell_reporter)))
        shutil.rmtree(folder, ignore_errors=True)
        return outcome

    jobs = engine.jobs or parallel_jobs(cells[0].config.device if cells else "cpu")
    for index, outcome in run_as_completed(attempt, cells, jobs, reporter):
        yield cells[index], outcome


def _on_cluster(
    cells: Sequence[Cell],
    data: PaperData,
    store: CellStore,
    engine: Engine,
    reporter: Reporter,
    work: Work,
) -> Iterator[Outcome]:
    from ssdpt.common.cluster import Cluster, device_of_task

    sent = []
    for cell in cells:
        device = device_of_task(cell.config.device, engine.gpus)
        sent.append(replace(cell, config=cell.config.model_copy(update={"device": device})))
    with Cluster.connect(engine.address, reporter) as cluster:
        for index, outcome in cluster.run(partial(_remote, data, work), sent, gpus=engine.gpus):
            yield cells[index], outcome


def _remote(data: PaperData, work: Work, cell: Cell) -> CellScores:
    """Run a cell on a node of the cluster: checkpoints stay there, the scores are returned."""
    for path in data.paths(cell.machines):
        # Skipping it as unreadable would give a cell with other clips than its key says.
        if not path.exists():
            raise SsdptError(
                f"{path}: no such file on {socket.gethostname()}; put it on storage that all "
                "nodes of the cluster share under this path"
            )
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        return work(cell, data, Path(folder) / "cell", SILENT)


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
    except Exception as error:  # any error of a network or library fails only this cell
        return SsdptError(f"an unexpected error, {type(error).__name__}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:300]


class _CellReporter(Relay):
    """Shows the progress of cells; their messages are only shown with --verbose."""

    def say(self, message: str) -> None:
        self.reporter.detail(message)
