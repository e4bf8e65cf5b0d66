"""ssdpt ablate: variants share networks and vectors, score as fitted models do, and resume."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation import ablation
from ssdpt.experiments.ablation.ablation import Ablation, AblationRequest
from ssdpt.experiments.ablation.networks import ears_key, some_of, trained_as
from ssdpt.experiments.ablation.variants import FULL
from ssdpt.fleet.fleet import fit_fleet
from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks

TINY = {
    "features.n_mels": 32,
    "multiview.network.blocks": 1,
    "multiview.network.frames": 16,
    "multiview.network.feed_forward": 8,
    "multiview.network.training.epochs": 1,
    "multiview.network.training.hop": 64,
    "multiview.network.hop": 64,
}
TEXTURE = {"features.n_mels": 32, "system": "texture"}
# Some of them: what takes time are the intervals of every row.
WITHOUT_NETWORKS = ("no-density", "gaussian")
WITH_NETWORKS = ("without-steady", "networks-alone", "one-network", "reconstruction")


def request(plant, out, overrides, **more):
    return AblationRequest((plant,), out, device="cpu", overrides=overrides, **more)


def whole_texture(plant, out):
    return request(plant, out, TEXTURE, seeds=2, variants=WITHOUT_NETWORKS)


def scores(run, variant, seed=0):
    return {
        (machine, clip.name): float(value)
        for machine in run.data.machines
        for found in [run._scores(variant, machine, seed)]
        for clip, value in zip(found.clips, found.value, strict=True)
    }


def scores_of_fleet(plant, config, out):
    dataset = read_layout(plant)
    fleet = fit_fleet(dataset, config, out)
    test = [item for item in dataset.recordings if item.split == "test"]
    return {(item.machine, item.path.name): score.value for item, score in fleet.score_all(test)}


@pytest.fixture(scope="module")
def texture(plant, tmp_path_factory):
    """A finished run without networks."""
    run = Ablation(whole_texture(plant, tmp_path_factory.mktemp("texture")))
    return run, run.run()


@pytest.fixture(scope="module")
def networks(fan, tmp_path_factory):
    """A finished run with tiny networks, and how many times some were trained."""
    trained = []
    real = EmbeddingNetworks.train.__func__
    with pytest.MonkeyPatch.context() as patch:

        def train(cls, machines, config, context):
            trained.append(config)
            return real(cls, machines, config, context)

        patch.setattr(EmbeddingNetworks, "train", classmethod(train))
        out = tmp_path_factory.mktemp("networks")
        run = Ablation(request(fan, out, TINY, seeds=1, variants=WITH_NETWORKS))
        return run, run.run(), trained


def test_the_full_recipe_scores_as_fitted_models_do(texture, plant, tmp_path):
    run, _ = texture
    fitted = scores_of_fleet(plant, load_config("best", TEXTURE), tmp_path / "models")
    found = scores(run, FULL)
    assert found.keys() == fitted.keys()
    np.testing.assert_allclose(list(found.values()), [fitted[key] for key in found], rtol=1e-5)


def test_every_variant_is_a_row(texture):
    run, table = texture
    assert not (run.request.out / "ears").exists()
    text = (run.request.out / "ablation.md").read_text("utf-8")
    assert text == table.markdown()
    assert "| variant | fan | valve | mean official | difference |" in text
    with (run.request.out / "ablation.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["variant"] for row in rows] == list(run.variants)
    assert rows[0]["difference"] == ""
    full = [float(rows[0][f"{machine} official_2022"]) for machine in ("fan", "valve")]
    assert float(rows[0]["mean official"]) == pytest.approx(np.mean(full), abs=1e-4)
    for row in rows[1:]:
        ahead = float(row["mean official"]) - float(rows[0]["mean official"])
        assert float(row["difference"]) == pytest.approx(ahead, abs=2e-4)
        assert float(row["low"]) <= float(row["difference"]) <= float(row["high"])
    tree = json.loads((run.request.out / "ablation.json").read_text("utf-8"))
    assert [entry["name"] for entry in tree["variants"]] == list(run.variants)
    assert tree["seeds"] == [0, 1]


def test_what_is_finished_is_not_scored_again(texture, plant, tmp_path, monkeypatch):
    run, table = texture
    out = shutil.copytree(run.request.out, tmp_path / "out")
    scored = []

    def counted(heard, background, config):
        scored.append(config)
        return real(heard, background, config)

    real = ablation.scores_of
    monkeypatch.setattr(ablation, "scores_of", counted)
    again = Ablation(whole_texture(plant, out))
    shutil.rmtree(again.store.place(again._cell("no-density", "", 0)))
    assert again.run().as_json() == table.as_json()
    assert [config.texture.density for config in scored] == [False]


def test_an_interrupted_run_keeps_what_is_finished(plant, tmp_path, monkeypatch):
    real = ablation.scores_of

    def stop(heard, background, config):
        if not config.texture.density:
            raise KeyboardInterrupt
        return real(heard, background, config)

    monkeypatch.setattr(ablation, "scores_of", stop)
    wanted = request(plant, tmp_path, TEXTURE, seeds=1, variants=("no-density",))
    with pytest.raises(KeyboardInterrupt):
        Ablation(wanted).run()
    assert len(list((tmp_path / "cells").iterdir())) == 1
    assert not (tmp_path / "ablation.md").exists()


def test_networks_are_trained_once_for_all_variants_that_share_them(networks):
    run, _, trained = networks
    assert [config.multiview.network.alpha for config in trained] == [0.0, 1.0]
    kept = list((run.request.out / "ears").iterdir())
    assert {path.suffix for path in kept} == {".safetensors"}
    assert len(kept) == len(trained)


def test_the_full_recipe_with_networks_scores_as_fitted_models_do(networks, fan, tmp_path):
    run, *_ = networks
    fitted = scores_of_fleet(
        fan, load_config("best", {**TINY, "device": "cpu"}), tmp_path / "models"
    )
    found = scores(run, FULL)
    np.testing.assert_allclose(
        list(found.values()), [fitted[key] for key in found], rtol=1e-3, atol=1e-3
    )


def test_variants_hear_with_fewer_networks(networks):
    run, *_ = networks
    config = run.configs[FULL]
    key = ears_key(config, run.training)
    ears = run.ears.get(config, key, list, run.reporter)
    assert [one.name for one in some_of(ears, run.configs["one-network"].multiview).networks] == [
        "steady-1",
        "moving-1",
    ]
    assert {
        one.input for one in some_of(ears, run.configs["without-steady"].multiview).networks
    } == {"moving"}
    for name in ("one-network", "without-steady", "networks-alone"):
        assert ears_key(trained_as(run.configs[name], run.recipe), run.training) == key
        assert scores(run, name) != scores(run, FULL)


def test_networks_from_elsewhere_are_taken(networks, fan, tmp_path, monkeypatch):
    run, *_ = networks
    shutil.copytree(run.request.out / "ears", tmp_path / "ears")
    monkeypatch.setattr(EmbeddingNetworks, "train", None)
    again = Ablation(request(fan, tmp_path, TINY, seeds=1, variants=("without-steady",)))
    again.run()
    for name in (FULL, "without-steady"):
        assert scores(again, name) == pytest.approx(scores(run, name), rel=1e-5)


def test_damaged_networks_are_refused(networks, fan, tmp_path):
    run, *_ = networks
    for path in (run.request.out / "ears").iterdir():
        (tmp_path / "ears").mkdir(exist_ok=True)
        (tmp_path / "ears" / path.name).write_bytes(path.read_bytes()[:1000])
    with pytest.raises(SsdptError, match="damaged, or not the networks of these settings"):
        Ablation(request(fan, tmp_path, TINY, seeds=1, variants=("no-density",))).run()


def test_it_prints_the_table(cli, plant, tmp_path):
    answer = cli(
        *("ablate", "--data", plant, "--out", tmp_path, "--seeds", 1, "--device", "cpu"),
        *("--set", "system=texture", "--set", "features.n_mels=32"),
        *("--variant", "no-density", "--quiet"),
    )
    assert answer.code == 0, answer.err
    assert answer.out.rstrip("\n") == (tmp_path / "ablation.md").read_text("utf-8").rstrip("\n")
    assert "| distances not divided by density |" in answer.out


def test_the_command_refuses_in_a_sentence(cli, plant, tmp_path):
    words = ["ablate", "--data", plant, "--out", tmp_path]
    assert cli(*words, "--variant", "x").error.startswith("no variant is called 'x'; there are")
    answer = cli(*words, "--set", "system=gmm")
    assert answer.error.startswith("system gmm has none of these ingredients")


def test_one_machine_id_has_no_networks(plant, tmp_path):
    only = tmp_path / "data" / "fan"
    for path in (plant / "fan").rglob("section_00*.wav"):
        place = only / path.parent.name / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(path)
    run = Ablation(request(tmp_path / "data", tmp_path / "out", TINY, seeds=1))
    assert run.recipe.system == "texture"
    assert any("networks have nothing to tell apart" in note for note in run.notes)
    assert "one-network" not in run.variants


def test_a_recipe_without_any_view_is_refused(fan, tmp_path):
    nothing = {**TEXTURE, "texture.views": []}
    with pytest.raises(SsdptError, match="no view is left"):
        Ablation(request(fan, tmp_path, nothing, seeds=1)).run()
    with pytest.raises(SsdptError, match="no view is left"):
        fit_fleet(read_layout(fan), load_config("best", nothing), tmp_path / "model")
