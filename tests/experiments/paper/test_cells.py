"""Cells: keyed by their inputs, and stored atomically."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.config.tree import load_config
from ssdpt.experiments.paper.cells import Cell, CellClip, CellScores, CellStore


def cell(changes=None, machines=("fan",), fingerprint="f"):
    return Cell(load_config("tiny", changes), machines, fingerprint)


@pytest.fixture
def scores():
    clips = tuple(CellClip(f"{n}.wav", "fan", "00", "source", "normal") for n in range(3))
    return CellScores(
        clips=clips,
        value=np.array([1, 2, 3], np.float32),
        parts={"identity": np.array([4, 5, 6], np.float32)},
        epochs=np.arange(6, dtype=np.float32).reshape(2, 3),
        epoch_numbers=(1, 4),
        normals=clips[:1],
        normal_value=np.array([7], np.float32),
        normal_epochs=np.array([[9], [10]], np.float32),
        seconds=1.5,
        facts={"parameters": 12},
        log='{"epoch": 1}\n',
    )


def test_the_key_changes_with_what_changes_the_scores():
    keys = {
        cell().key,
        cell({"seed": 1}).key,
        cell({"ssdpt.mask.kind": "none"}).key,
        cell({"system": "ae"}).key,
        cell({"features.f_min": 20}).key,
        cell(machines=("valve",)).key,
        cell(machines=("fan", "valve")).key,
        cell(fingerprint="g").key,
    }
    assert len(keys) == 8


@pytest.mark.parametrize(
    "changes",
    [
        {"device": "cpu"},
        {"ae.hidden": 4},
        {"decision.folds": 7},
        {"wavenet.hop": 17},
        {"ssdpt.training.checkpoint_seconds": 5},
    ],
)
def test_the_key_ignores_everything_else(changes):
    assert cell(changes).key == cell().key


def test_another_version_changes_the_key(monkeypatch):
    before = cell().key
    monkeypatch.setattr("ssdpt.experiments.paper.cells.__version__", "99.0")
    assert cell().key != before


def test_a_stored_cell_is_loaded_unchanged(tmp_path, scores):
    store = CellStore(tmp_path)
    assert store.load(cell()) is None
    store.save(cell(), scores)
    loaded = store.load(cell())
    assert loaded.clips == scores.clips
    assert loaded.normals == scores.normals
    assert loaded.epoch_numbers == (1, 4)
    assert (loaded.seconds, loaded.facts, loaded.log) == (1.5, {"parameters": 12}, scores.log)
    for name in ("value", "epochs", "normal_value", "normal_epochs"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(scores, name))
    np.testing.assert_array_equal(loaded.parts["identity"], scores.parts["identity"])
    assert store.load(cell({"seed": 1})) is None


@pytest.mark.parametrize("file", ["cell.json", "scores.safetensors"])
@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"x")])
def test_a_damaged_cell_counts_as_missing(tmp_path, scores, file, harm):
    store = CellStore(tmp_path)
    store.save(cell(), scores)
    harm(store.folder_of(cell()) / file)
    assert store.load(cell()) is None
    store.save(cell(), scores)
    assert store.load(cell()) is not None
