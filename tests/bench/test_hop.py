"""The trade-off curve of the hop: its rule, its keys, and the command."""

from __future__ import annotations

import json

import pytest

from sounds import write_folder
from ssdpt.bench.hop import TOLERANCE, bench_hop, largest_hop
from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError

QUICK = {"ssdpt.training.epochs": 1, "ssdpt.training.hop": 64, "ssdpt.frames": 8}


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ({1: 0.9}, 1),
        ({1: 0.9, 2: 0.9, 4: 0.899, 8: 0.896, 16: 0.89}, 8),
        ({1: 0.9, 2: 0.88, 4: 0.9, 8: 0.9}, 1),  # never beyond a hop that is worse
        ({8: 0.85, 1: 0.9, 4: 0.9, 2: 0.897}, 4),  # in any order
        ({1: 0.9, 2: 0.95, 4: 0.9}, 4),  # better is no reason to stop
        ({1: 0.9, 2: 0.95, 4: 0.894}, 2),  # hop 1 is the reference, not the best
    ],
)
def test_the_rule(curve, expected):
    assert largest_hop(curve) == expected


def test_the_tolerance_is_the_documented_one():
    assert TOLERANCE == 0.005
    assert largest_hop({1: 0.9, 2: 0.8}, tolerance=0.2) == 2


@pytest.fixture(scope="module")
def measured(simulated):
    return bench_hop(load_config("tiny", QUICK), simulated, ["fan"], SILENT)


def test_the_curve(measured):
    assert measured["machines"] == ["fan"]
    assert measured["clips"] == 24
    assert list(measured["hops"]) == ["1", "2", "4", "8"]
    for point in measured["hops"].values():
        assert set(point) == {"h_auc", "h_pauc", "lost", "lost_low", "lost_high", "seconds"}
        assert 0 <= point["h_auc"] <= 1
        assert point["lost_low"] <= point["lost"] <= point["lost_high"]
        assert point["lost"] == pytest.approx(measured["hops"]["1"]["h_auc"] - point["h_auc"])
        assert point["seconds"] > 0
    assert measured["hops"]["1"]["lost"] == 0
    curve = {int(hop): point["h_auc"] for hop, point in measured["hops"].items()}
    assert measured["auto"] == largest_hop(curve)


def test_it_agrees_with_an_evaluation(simulated, measured, tmp_path):
    """The same h-AUC as `ssdpt evaluate --hop` prints for the same model."""
    from ssdpt import Fleet
    from ssdpt.data.layouts import read_layout
    from ssdpt.evaluation.evaluate import evaluate
    from ssdpt.fleet.fleet import fit_fleet, only_machines

    dataset = only_machines(read_layout(simulated), ["fan"])
    fit_fleet(dataset, load_config("tiny", QUICK), tmp_path / "model")
    fleet = Fleet.load(tmp_path / "model", hop=2)
    means = evaluate(fleet, dataset, tmp_path / "out", examples=0).results.means
    assert means.h_auc is not None
    assert means.h_pauc is not None
    point = measured["hops"]["2"]
    assert (means.h_auc.value, means.h_pauc.value) == pytest.approx(
        (point["h_auc"], point["h_pauc"])
    )


def test_the_command_prints_the_curve(cli, measured, monkeypatch):
    calls = []

    def bench(config, data, machines, reporter):
        calls.append((config.preset, config.ssdpt.blocks, data, machines))
        return measured

    monkeypatch.setattr("ssdpt.bench.hop.bench_hop", bench)
    answer = cli("bench", "hop", "--preset", "tiny", "--set", "ssdpt.blocks=2")
    heading, *rows, conclusion = answer.out.splitlines()
    assert heading.split()[:3] == ["hop", "h-AUC", "h-pAUC"]
    assert [row.split()[0] for row in rows] == ["1", "2", "4", "8"]
    assert conclusion == f"hop {measured['auto']} is the largest that loses at most 0.005"
    printed = cli("bench", "hop", "--machine", "fan", "--json").out
    assert json.loads(printed) == measured
    assert calls == [("tiny", 2, None, []), ("fast", 1, None, ["fan"])]


def test_a_system_without_a_hop_is_rejected_at_once(tmp_path):
    with pytest.raises(SsdptError, match="has no hop to choose"):
        bench_hop(load_config("tiny", {"system": "ae"}), tmp_path / "missing", [], SILENT)


def test_clips_without_faults_are_an_error(tmp_path):
    folder = write_folder(tmp_path / "pump")
    with pytest.raises(SsdptError, match="needs normal and faulty clips"):
        bench_hop(load_config("tiny", QUICK), folder, [], SILENT)
