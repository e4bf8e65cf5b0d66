"""Cells on a real Ray cluster of two nodes: each runs exactly once, even after kills."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from nodes import Listener, kill
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.cells import Cell, CellStore
from ssdpt.experiments.paper.data import read_data
from ssdpt.experiments.paper.engine import Engine, run_cells
from waiting import wait_until

pytestmark = pytest.mark.full


class Counted(CellStore):
    """Counts how often each cell is written."""

    def __init__(self, folder):
        super().__init__(folder)
        self.saved = []

    def save(self, cell, scores):
        self.saved.append(cell.key)
        super().save(cell, scores)


@pytest.fixture(scope="module")
def data(simulated):
    return read_data([simulated], ["fan"])


@pytest.fixture(scope="module")
def cells(data):
    """Some cells that take a moment, and one that fails."""
    configs = [load_config("tiny", {"system": "ae", "seed": seed}) for seed in range(8)]
    cells = [Cell(config, ("fan",), data.fingerprint(["fan"])) for config in configs]
    return [*cells, replace(cells[0], machines=("pump",))]


def test_a_killed_worker_and_a_killed_node_lose_no_cell(nodes, data, cells, tmp_path):
    local = CellStore(tmp_path / "local")
    run_cells(cells[:-1], data, local, Engine())
    store, listener = Counted(tmp_path / "ray"), Listener()
    second = nodes.add()
    engine = Engine("ray", nodes.address)
    failures: dict[str, str] = {}
    run = threading.Thread(
        target=lambda: failures.update(run_cells(cells, data, store, engine, listener))
    )
    run.start()
    wait_until(lambda: len(store.saved) >= 1, "the first cell is stored", timeout=120)
    for process, command in nodes.head.processes().items():
        if "ray::_perform" in command:
            kill(process)
    wait_until(lambda: len(store.saved) >= 3, "three cells are stored", timeout=120)
    second.kill()
    run.join(timeout=120)
    assert not run.is_alive()
    assert sorted(store.saved) == sorted(cell.key for cell in cells[:-1])
    assert list(failures) == ["ae, pump, seed 0"]
    assert any("runs again" in message for message in listener.warned)
    for cell in cells[:-1]:
        there, here = store.load(cell), local.load(cell)
        np.testing.assert_allclose(there.value, here.value, rtol=1e-5)
        np.testing.assert_allclose(there.epochs, here.epochs, rtol=1e-5)
        assert len(there.log.splitlines()) == 2


def test_no_cluster_at_the_address(data, cells, tmp_path):
    with pytest.raises(SsdptError, match="no Ray cluster can be joined there"):
        run_cells(cells, data, CellStore(tmp_path), Engine("ray", "127.0.0.1:9"))
