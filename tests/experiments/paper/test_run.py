"""Running cells: exactly once, resumed after an interruption, failures reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssdpt.common.progress import Reporter
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.cells import Cell, CellStore
from ssdpt.experiments.paper.data import read_data
from ssdpt.experiments.paper.engine import Engine, run_cells
from ssdpt.experiments.paper.plan import make_plan
from ssdpt.experiments.paper.run import run_cell


@pytest.fixture(scope="module")
def data(simulated):
    return read_data([simulated], ["fan"])


@pytest.fixture(scope="module")
def make(data):
    def cell(system, **changes):
        named = {name.replace("__", "."): value for name, value in changes.items()}
        config = load_config("tiny", {"system": system, **named})
        return Cell(config, ("fan",), data.fingerprint(["fan"]))

    return cell


def test_a_network_is_scored_after_every_epoch(data, make, tmp_path):
    scores = run_cell(make("ssdpt"), data, tmp_path)
    assert scores.epochs.shape == (2, len(data.by_machine["fan"].test))
    assert scores.normal_epochs.shape == (2, 24)
    np.testing.assert_array_equal(scores.epochs[-1], scores.value)
    assert not np.array_equal(scores.epochs[0], scores.value)
    assert len(scores.log.splitlines()) == 2
    assert [clip.name for clip in scores.clips] == [
        item.path.name for item in data.by_machine["fan"].test
    ]
    beta = load_config("tiny").ssdpt.beta
    np.testing.assert_allclose(
        scores.value, scores.parts["identity"] + beta * scores.parts["reconstruction"], rtol=1e-5
    )
    assert scores.facts["parameters"] > 0


def test_fewer_epochs_are_scored_on_demand_and_the_last_always(data, make, tmp_path):
    cell = make("ssdpt")
    every, last = (
        run_cell(replace(cell, scored_epochs=most), data, tmp_path / f"{most}") for most in (30, 1)
    )
    assert (every.epoch_numbers, last.epoch_numbers) == ((1, 2), (2,))
    np.testing.assert_array_equal(last.value, every.value)
    assert replace(cell, scored_epochs=1).key != cell.key


def test_scoring_every_epoch_does_not_change_the_training(data, make, tmp_path):
    from ssdpt.systems import system_class
    from ssdpt.systems.base import FitContext

    cell = make("ssdpt", ssdpt__training__averaging=0.9)
    watched = run_cell(cell, data, tmp_path / "a")
    kind = system_class("ssdpt")
    front_end = kind.front_end_of(cell.config)
    train = data.training_clips(("fan",), cell.config, front_end)
    test = data.test_clips(("fan",), cell.config, front_end)
    alone = kind.fit(train, cell.config, FitContext(tmp_path / "b", "x"))
    values = [alone.score([frames], item.section).value for item, frames in test.clips()]
    np.testing.assert_allclose(watched.value, values, rtol=1e-5, atol=1e-6)


def test_a_system_without_epochs(data, make, tmp_path):
    scores = run_cell(make("gmm"), data, tmp_path)
    assert scores.epochs.shape == (0, len(scores.clips))
    assert scores.log == ""
    assert np.isfinite(scores.value).all()


def test_labels_are_never_read(data, make, tmp_path):
    """With all labels swapped, the scores are the same."""
    other = {"normal": "anomaly", "anomaly": "normal"}
    fan = data.by_machine["fan"]
    swapped = replace(
        data,
        by_machine={
            "fan": replace(fan, test=tuple(replace(t, label=other[t.label]) for t in fan.test))
        },
    )
    for system in ("gmm", "ae"):
        before = run_cell(make(system), data, tmp_path / system / "a")
        after = run_cell(make(system), swapped, tmp_path / system / "b")
        np.testing.assert_array_equal(before.value, after.value)
        np.testing.assert_array_equal(before.epochs, after.epochs)


def test_one_section_has_nothing_to_classify(data, make, tmp_path):
    fan = data.by_machine["fan"]
    one = replace(fan, train=tuple(item for item in fan.train if item.section == "00"))
    with pytest.raises(
        SsdptError, match="ssdpt, fan, seed 0 cannot be trained: classification needs at least two"
    ):
        run_cell(make("ssdpt"), replace(data, by_machine={"fan": one}), tmp_path)


def test_a_finished_cell_is_never_run_again(data, make, tmp_path):
    store = CellStore(tmp_path)
    cells = [make("gmm"), make("ae"), make("gmm")]
    assert run_cells(cells, data, store, Engine()) == {}
    ran = []
    assert run_cells(cells, data, store, Engine(), work=lambda *a: ran.append(a)) == {}
    assert ran == []
    assert not list(tmp_path.glob(".*"))


def test_a_failing_cell_is_reported_and_the_others_continue(data, make, tmp_path):
    def run(cell, *rest):
        if cell.config.system == "ae":
            raise ZeroDivisionError("by zero\nin line 7")
        return run_cell(cell, *rest)

    class Recorder(Reporter):
        def __init__(self):
            self.warnings = []

        def warn(self, message):
            self.warnings.append(message)

    recorder = Recorder()
    store = CellStore(tmp_path)
    failures = run_cells([make("ae"), make("gmm")], data, store, Engine(), recorder, run)
    reason = "an unexpected error, ZeroDivisionError: by zero"
    assert failures == {"ae, fan, seed 0": reason}
    assert recorder.warnings == [f"ae, fan, seed 0 failed, the others continue: {reason}"]
    assert store.load(make("gmm")) is not None
    assert store.load(make("ae")) is None
    assert run_cells([make("ae")], data, store, Engine()) == {}
    assert store.load(make("ae")) is not None


def test_an_interrupted_cell_is_resumed(data, make, tmp_path, monkeypatch):
    """After an interruption in the first epoch, the second run makes only the second epoch."""
    cell = make("ae", ae__training__checkpoint_seconds=1e-6)
    whole = run_cell(cell, data, tmp_path / "whole")

    from ssdpt.systems.parts import network

    real = network.NetworkSystem.settle

    def stop(self, clips):
        if list((tmp_path / "w").glob("epoch-0001.npy")):
            raise KeyboardInterrupt
        real(self, clips)

    monkeypatch.setattr(network.NetworkSystem, "settle", stop)
    with pytest.raises(KeyboardInterrupt):
        run_cell(cell, data, tmp_path / "w")
    monkeypatch.setattr(network.NetworkSystem, "settle", real)
    first = (tmp_path / "w" / "epoch-0001.npy").stat().st_mtime_ns
    again = run_cell(cell, data, tmp_path / "w")
    assert (tmp_path / "w" / "epoch-0001.npy").stat().st_mtime_ns == first
    np.testing.assert_array_equal(again.epochs, whole.epochs)
    np.testing.assert_array_equal(again.value, whole.value)


def test_the_plan_counts_cells_without_running_them(data, make, tmp_path):
    store = CellStore(tmp_path)
    run_cells([make("gmm")], data, store, Engine())
    cells = [
        make("gmm"),
        make("gmm", seed=1),
        make("ssdpt"),
        make("ssdpt", ssdpt__mask__kind="none"),
    ]
    plan = make_plan(cells, data, store, "cpu")
    rows = {row.system: (row.cells, row.finished) for row in plan.rows}
    assert rows == {"gmm": (2, 1), "ssdpt": (2, 0)}
    assert plan.seconds > 0
    assert plan.cache > 0
    assert plan.summary().startswith("3 cells to run on cpu: about ")
    assert [entry.name for entry in tmp_path.iterdir()] == [make("gmm").key]


def test_a_plan_without_unfinished_cells(data, make, tmp_path):
    store = CellStore(tmp_path)
    run_cells([make("gmm")], data, store, Engine())
    plan = make_plan([make("gmm")], data, store, "cpu")
    assert plan.seconds == 0
    assert plan.table()[0]["time"] == "–"
