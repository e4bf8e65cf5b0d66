"""ssdpt bench quality: figures of fitted models, resumed, on one page beside published ones."""

from __future__ import annotations

import csv
import json
import re
import shutil

import pytest

from ssdpt.bench.quality import fitted_cell
from ssdpt.bench.quality.quality import QualityBench, QualityRequest
from ssdpt.bench.quality.systems import compared_systems
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.evaluation.clips import score_clips
from ssdpt.evaluation.tables import result_tables
from ssdpt.experiments.ablation.looks import LookLog
from ssdpt.fleet.fleet import fit_fleet
from ssdpt.systems.parts import shared_reference

TINY = {"features.n_mels": 32}


@pytest.fixture(scope="module")
def dcase(simulated, tmp_path_factory):
    """Two sets with one section each, in a folder named as DCASE 2022 is."""
    root = tmp_path_factory.mktemp("data") / "dcase2022"
    for path in simulated.rglob("section_00*.wav"):
        link = root / path.relative_to(simulated)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    return root


def request(data, out, **chosen):
    chosen = {"systems": ("texture", "gmm"), "overrides": TINY, "device": "cpu", **chosen}
    seeds = chosen.pop("seeds", 1)
    return QualityRequest((data,), out, tuple(compared_systems(**chosen)), seeds=seeds)


@pytest.fixture(scope="module")
def finished(dcase, tmp_path_factory):
    """A finished run in both modes; few clips are enough to learn from other machines."""
    out = tmp_path_factory.mktemp("quality")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_reference, "_FEWEST_CLIPS", 1)
        bench = QualityBench(request(dcase, out, fitted=("together", "alone")))
        yield bench, bench.run()


def test_scores_are_those_of_fitted_models(finished, dcase, tmp_path):
    _, results = finished
    for row in results.rows:
        paths = [dcase] if row.system.fitted == "together" else [dcase / "fan", dcase / "valve"]
        for path in paths:
            dataset = read_layout(path)
            fleet = fit_fleet(dataset, row.system.config, tmp_path / row.system.key / path.name)
            test = [item for item in dataset.recordings if item.split == "test"]
            scored, _ = score_clips(fleet, test)
            expected = result_tables((clip.row for clip in scored), resamples=2)
            for machine in expected.machines:
                official = row.sets[machine.machine].official.value
                assert official == pytest.approx(machine.means.official_2022.value, abs=1e-6)


def test_only_systems_that_learn_from_each_other_have_two_rows(finished):
    _, results = finished
    names = [(row.system.name, row.system.fitted) for row in results.rows]
    assert names == [("texture", "together"), ("texture", "alone"), ("gmm", "alone")]


def test_means_times_and_sizes(finished):
    _, results = finished
    for row in results.rows:
        values = [result.official.value for result in row.sets.values()]
        assert row.official.value == pytest.approx(sum(values) / len(values))
        assert row.official.low <= row.official.value <= row.official.high
        assert row.fit_seconds > 0
        assert all(result.score_seconds > 0 for result in row.sets.values())
        assert all(result.model_bytes > 1000 for result in row.sets.values())
    together, alone, _ = results.rows
    assert together.fit_seconds == together.sets["fan"].fit_seconds
    assert alone.fit_seconds == pytest.approx(
        sum(result.fit_seconds for result in alone.sets.values())
    )


def test_the_page_stands_alone_and_shows_published_figures_of_the_set(finished):
    bench, results = finished
    out = bench.request.out
    page = (out / "quality.html").read_text("utf-8")
    assert not re.search(r'(?:src|href)="(?!#|quality\.)', page)
    assert "fan beside published figures of fan, DCASE 2022" in page
    assert "DCASE 2022</caption>" in page
    assert "all training clips, about 1,000 per section" in page
    text = (out / "quality.md").read_text("utf-8")
    assert "| AEGAN-AD | published | 0.658 |" in text
    assert "| gmm | alone |" in text
    training = results.facts[0]
    assert (training.machine, training.year, training.sections) == ("fan", 2022, ("00",))
    assert training.measured_on in text


def test_the_files_hold_every_number(finished):
    bench, results = finished
    with (bench.request.out / "quality.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 6
    first, result = lines[0], results.rows[0].sets["fan"]
    assert float(first["official_2022"]) == pytest.approx(result.official.value, abs=1e-4)
    assert float(first["domain_gap"]) == pytest.approx(
        float(first["auc_source"]) - float(first["auc_target"]), abs=1e-3
    )
    tree = json.loads((bench.request.out / "quality.json").read_text("utf-8"))
    assert [entry["fitted"] for entry in tree["systems"]] == ["together", "alone", "alone"]
    assert tree["published"]
    looks = LookLog(bench.request.out / "looks.jsonl").read()
    assert [look.variant for look in looks] == ["texture", "texture", "gmm"]
    assert looks[0].figures == {
        name: result.official.value for name, result in results.rows[0].sets.items()
    }


def test_finished_cells_are_not_fitted_again(finished, dcase, tmp_path, monkeypatch):
    bench, results = finished
    out = shutil.copytree(bench.request.out, tmp_path / "out")
    monkeypatch.setattr(fitted_cell, "fit_fleet", None)
    again = QualityBench(request(dcase, out, fitted=("together", "alone"))).run()
    assert [row.official for row in again.rows] == [row.official for row in results.rows]
    assert len(LookLog(out / "looks.jsonl").read()) == 3


def test_an_interrupted_run_is_continued(dcase, tmp_path, monkeypatch):
    fitted = []
    real = fit_fleet

    def stop(dataset, config, *arguments, **options):
        if len(fitted) == 1:
            fitted.append("stopped")
            raise KeyboardInterrupt
        fitted.append(dataset.machines)
        return real(dataset, config, *arguments, **options)

    monkeypatch.setattr(fitted_cell, "fit_fleet", stop)
    wanted = request(dcase, tmp_path, systems=("gmm",))
    with pytest.raises(KeyboardInterrupt):
        QualityBench(wanted).run()
    assert not (tmp_path / "quality.html").exists()
    results = QualityBench(wanted).run()
    assert fitted == [("fan",), "stopped", ("valve",)]
    assert set(results.rows[0].sets) == {"fan", "valve"}


def test_a_system_that_fails_is_named_and_the_others_go_on(dcase, tmp_path, monkeypatch):
    real = fit_fleet

    def fit(dataset, config, *arguments, **options):
        if dataset.machines == ("valve",):
            raise SsdptError("it is broken")
        return real(dataset, config, *arguments, **options)

    monkeypatch.setattr(fitted_cell, "fit_fleet", fit)
    results = QualityBench(request(dcase, tmp_path, systems=("gmm",))).run()
    (row,) = results.rows
    assert set(row.sets) == {"fan"}
    assert row.official is None
    assert results.best is None
    assert any("it is broken" in note for note in results.notes)
    assert "| gmm | alone | " in (tmp_path / "quality.md").read_text("utf-8")


def test_a_system_that_cannot_learn_from_a_set_is_replaced_and_named(dcase, tmp_path):
    """Of one machine ID nothing can be classified: `ssdpt fit` uses another system."""
    results = QualityBench(request(dcase, tmp_path, systems=(), presets=("tiny",))).run()
    (row,) = results.rows
    assert row.system.label == "tiny (ssdpt)"
    assert row.sets["fan"].system != "ssdpt"
    assert any(note.startswith("tiny (ssdpt): cannot learn from fan") for note in results.notes)
    marked = f"| tiny (ssdpt) | alone | {row.sets['fan'].official.value:.3f}* ("
    assert marked in (tmp_path / "quality.md").read_text("utf-8")


def test_several_seeds_are_averaged(dcase, tmp_path):
    bench = QualityBench(request(dcase, tmp_path, systems=("gmm",), seeds=2))
    (row,) = bench.run().rows
    assert row.spread.seeds == 2
    assert len(list((tmp_path / "cells").iterdir())) == 4
    assert f"± {row.spread.deviation:.3f}" in (tmp_path / "quality.md").read_text("utf-8")


def test_the_command(cli, dcase, tmp_path):
    answer = cli(
        *("bench", "quality", dcase / "fan", "--out", tmp_path, "--device", "cpu", "--quiet"),
        *("--candidate", "one: system=gmm, gmm.components=1", "--set", "features.n_mels=32"),
    )
    assert answer.code == 0, answer.err
    assert "one (gmm)" in answer.out
    assert "Official 2022 score by set" in answer.out
    assert (tmp_path / "quality.html").is_file()
    look = LookLog(tmp_path / "looks.jsonl").read()[0]
    assert look.settings == {
        "preset": "best",
        "system": "gmm",
        "gmm.components": 1,
        "features.n_mels": 32,
    }


def test_systems_are_chosen_by_preset_name_and_settings():
    rows = compared_systems(
        presets=("fast",), systems=("ae",), candidates=("small: preset=fast, system=ae",)
    )
    assert [(row.label, row.config.system) for row in rows] == [
        ("fast (ssdpt)", "ssdpt"),
        ("ae", "ae"),
        ("small (ae)", "ae"),
    ]
    assert rows[1].config.ae.training.epochs != rows[2].config.ae.training.epochs
    default = compared_systems()
    assert [row.label for row in default] == ["texture", "gaussian (gmm)"]
    with pytest.raises(SsdptError, match="two of the systems are called ae"):
        compared_systems(systems=("ae", "ae"))
    with pytest.raises(SsdptError, match="is not of the form"):
        compared_systems(candidates=("ae",))
