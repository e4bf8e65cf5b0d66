"""ssdpt ablate: variants share networks and vectors, score as fitted models do, and resume."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation import ablation
from ssdpt.experiments.ablation.ablation import Ablation, AblationRequest
from ssdpt.experiments.ablation.looks import LookLog
from ssdpt.experiments.ablation.networks import networks_key, select_networks, training_config
from ssdpt.experiments.ablation.variants import FULL, parse_candidate
from ssdpt.fleet.fleet import fit_fleet
from ssdpt.systems.parts import shared_reference
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
# Only some variants: the intervals of every row take time.
WITHOUT_NETWORKS = ("no-density", "gaussian")
WITH_NETWORKS = ("without-steady", "networks-alone", "one-network", "reconstruction")


def request(simulated, out, overrides, **more):
    return AblationRequest((simulated,), out, device="cpu", overrides=overrides, **more)


def whole_texture(simulated, out):
    return request(simulated, out, TEXTURE, seeds=2, variants=WITHOUT_NETWORKS)


def scores(run, variant, seed=0):
    return {
        (machine, clip.name): float(value)
        for machine in run.data.machines
        for machine_scores in [run._scores(variant, machine, seed)]
        for clip, value in zip(machine_scores.clips, machine_scores.value, strict=True)
    }


def scores_of_fleet(simulated, config, out):
    dataset = read_layout(simulated)
    fleet = fit_fleet(dataset, config, out)
    test = [item for item in dataset.recordings if item.split == "test"]
    return {(item.machine, item.path.name): score.value for item, score in fleet.score_all(test)}


@pytest.fixture(scope="module")
def texture(simulated, tmp_path_factory):
    """A finished run without networks."""
    run = Ablation(whole_texture(simulated, tmp_path_factory.mktemp("texture")))
    return run, run.run()


@pytest.fixture(scope="module")
def networks(fan, tmp_path_factory):
    """A finished run with tiny networks, and the settings of every training."""
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


def test_the_full_recipe_scores_as_fitted_models_do(texture, simulated, tmp_path):
    run, _ = texture
    fitted = scores_of_fleet(simulated, load_config("best", TEXTURE), tmp_path / "models")
    ablated = scores(run, FULL)
    assert ablated.keys() == fitted.keys()
    np.testing.assert_allclose(list(ablated.values()), [fitted[key] for key in ablated], rtol=1e-5)


def test_each_set_alone_scores_as_a_model_of_its_own(simulated, tmp_path, monkeypatch):
    # Few clips are enough here, so that machines learn their spread from each other.
    monkeypatch.setattr(shared_reference, "_FEWEST_CLIPS", 1)
    wanted = request(simulated, tmp_path / "out", TEXTURE, seeds=1, variants=(FULL,), alone=True)
    alone, together = Ablation(wanted), Ablation(replace(wanted, alone=False))
    alone.run()
    together.run()
    fitted = {}
    for machine in ("fan", "valve"):
        config = load_config("best", TEXTURE)
        fitted |= scores_of_fleet(simulated / machine, config, tmp_path / machine)
    own, shared = scores(alone, FULL), scores(together, FULL)
    np.testing.assert_allclose(list(own.values()), [fitted[key] for key in own], rtol=1e-5)
    assert not np.allclose(list(own.values()), [shared[key] for key in own], rtol=1e-3)
    files = {path.name for path in (tmp_path / "out").glob("ablation*.md")}
    assert files == {"ablation.md", "ablation-alone.md"}


def test_two_sets_of_one_type_are_left_out_together(simulated, tmp_path):
    other = tmp_path / "year2"
    for path in (simulated / "fan").rglob("section_0[01]*.wav"):
        link = other / path.relative_to(simulated)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    wanted = AblationRequest(
        (simulated, other / "fan"),
        tmp_path / "out",
        seeds=1,
        variants=("no-density",),
        device="cpu",
        overrides=TEXTURE,
    )
    table = Ablation(wanted).run()
    first = f"{simulated.name}/fan"
    assert set(table.results.machines) == {first, "year2/fan", "valve"}
    assert [choice.sets for choice in table.choice.choices] == [
        tuple(sorted([first, "year2/fan"])),
        ("valve",),
    ]
    text = (tmp_path / "out" / "ablation.md").read_text("utf-8")
    assert "| set | chosen on the other types | mean there |" in text
    tree = json.loads((tmp_path / "out" / "ablation.json").read_text("utf-8"))
    chosen = tree["chosen"]["without"]["types"]["valve"]
    assert chosen["sets"] == {"valve": table.figures[chosen["variant"]]["valve"]}


def test_every_variant_is_logged_once(texture, simulated, tmp_path):
    run, table = texture
    log = LookLog(run.request.out / "looks.jsonl")
    looks = {look.variant: look for look in log.read()}
    assert list(looks) == list(run.variants)
    assert looks["no-density"].figures == table.figures["no-density"]
    assert looks["no-density"].settings == {**TEXTURE, "texture.density": False}
    out = shutil.copytree(run.request.out, tmp_path / "out")
    wanted = request(simulated, out, TEXTURE, seeds=2, variants=("no-density",))
    Ablation(replace(wanted, candidates=(parse_candidate("near: texture.neighbours=2"),))).run()
    again = LookLog(out / "looks.jsonl").read()
    assert [look.variant for look in again] == [*run.variants, "near"]
    assert "4 looks." in (out / "looks.md").read_text("utf-8")


def test_a_variant_that_fails_on_one_set_does_not_stop_the_others(simulated, tmp_path):
    """Alone, the machine with one ID has no networks: nothing is left of `networks-alone`."""
    data = tmp_path / "data"
    for path in simulated.rglob("section_0[01]*.wav"):
        if "valve" not in path.parts or "section_00" in path.name:
            link = data / path.relative_to(simulated)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    wanted = request(
        data, tmp_path / "out", TINY, seeds=1, variants=("networks-alone",), alone=True
    )
    run = Ablation(wanted)
    assert any(note.startswith("no networks for valve") for note in run.notes)
    table = run.run()
    assert set(table.figures["networks-alone"]) == {"fan"}
    assert set(table.figures[FULL]) == {"fan", "valve"}
    assert any("no view is left" in note for note in table.notes)
    assert table.choice is None  # only the full recipe has a score on every set


def test_candidates_with_another_front_end_have_their_own_views(simulated, tmp_path):
    candidate = parse_candidate("coarse: features.n_mels=24")
    run = Ablation(
        request(simulated, tmp_path, TEXTURE, seeds=1, variants=(FULL,), candidates=(candidate,))
    )
    run.run()
    config = load_config("best", {**TEXTURE, "features.n_mels": 24})
    fitted = scores_of_fleet(simulated, config, tmp_path / "models")
    coarse = scores(run, "coarse")
    np.testing.assert_allclose(list(coarse.values()), [fitted[key] for key in coarse], rtol=1e-5)


def test_every_variant_is_a_row(texture):
    run, table = texture
    assert not (run.request.out / "networks").exists()
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


def test_finished_cells_are_not_scored_again(texture, simulated, tmp_path, monkeypatch):
    run, table = texture
    out = shutil.copytree(run.request.out, tmp_path / "out")
    scored = []

    def counted(views, reference, config):
        scored.append(config)
        return real(views, reference, config)

    real = ablation.score_test_clips
    monkeypatch.setattr(ablation, "score_test_clips", counted)
    again = Ablation(whole_texture(simulated, out))
    shutil.rmtree(again.store.folder_of(again._cell("no-density", "", 0)))
    assert again.run().as_json() == table.as_json()
    assert [config.texture.density for config in scored] == [False]


def test_an_interrupted_run_keeps_what_is_finished(simulated, tmp_path, monkeypatch):
    real = ablation.score_test_clips

    def stop(views, reference, config):
        if not config.texture.density:
            raise KeyboardInterrupt
        return real(views, reference, config)

    monkeypatch.setattr(ablation, "score_test_clips", stop)
    wanted = request(simulated, tmp_path, TEXTURE, seeds=1, variants=("no-density",))
    with pytest.raises(KeyboardInterrupt):
        Ablation(wanted).run()
    assert len(list((tmp_path / "cells").iterdir())) == 1
    assert not (tmp_path / "ablation.md").exists()


def test_networks_are_trained_once_for_all_variants_that_share_them(networks):
    run, _, trained = networks
    assert [config.multiview.network.alpha for config in trained] == [0.0, 1.0]
    kept = list((run.request.out / "networks").iterdir())
    assert {path.suffix for path in kept} == {".safetensors"}
    assert len(kept) == len(trained)


def test_the_full_recipe_with_networks_scores_as_fitted_models_do(networks, fan, tmp_path):
    run, *_ = networks
    fitted = scores_of_fleet(
        fan, load_config("best", {**TINY, "device": "cpu"}), tmp_path / "models"
    )
    ablated = scores(run, FULL)
    np.testing.assert_allclose(
        list(ablated.values()), [fitted[key] for key in ablated], rtol=1e-3, atol=1e-3
    )


def test_variants_use_some_of_the_networks(networks):
    run, *_ = networks
    config = run.configs[FULL]
    key = networks_key(config, run.training(run.data.machines))
    networks_of_run = run.networks.get(config, key, list, run.reporter)
    one, moving = (
        select_networks(networks_of_run, run.configs[name].multiview).networks
        for name in ("one-network", "without-steady")
    )
    assert [network.name for network in one] == ["steady-1", "moving-1"]
    assert {network.input for network in moving} == {"moving"}
    for name in ("one-network", "without-steady", "networks-alone"):
        trained = training_config(run.configs[name], run.recipe)
        assert networks_key(trained, run.training(run.data.machines)) == key
        assert scores(run, name) != scores(run, FULL)


def test_copied_networks_are_used(networks, fan, tmp_path, monkeypatch):
    run, *_ = networks
    shutil.copytree(run.request.out / "networks", tmp_path / "networks")
    monkeypatch.setattr(EmbeddingNetworks, "train", None)
    again = Ablation(request(fan, tmp_path, TINY, seeds=1, variants=("without-steady",)))
    again.run()
    for name in (FULL, "without-steady"):
        assert scores(again, name) == pytest.approx(scores(run, name), rel=1e-5)


def test_damaged_networks_are_rejected(networks, fan, tmp_path):
    run, *_ = networks
    for path in (run.request.out / "networks").iterdir():
        (tmp_path / "networks").mkdir(exist_ok=True)
        (tmp_path / "networks" / path.name).write_bytes(path.read_bytes()[:1000])
    with pytest.raises(SsdptError, match="damaged, or not the networks of these settings"):
        Ablation(request(fan, tmp_path, TINY, seeds=1, variants=("no-density",))).run()


def test_the_command_prints_the_table(cli, simulated, tmp_path):
    answer = cli(
        *("ablate", "--data", simulated, "--out", tmp_path, "--seeds", 1, "--device", "cpu"),
        *("--set", "system=texture", "--set", "features.n_mels=32"),
        *("--variant", "no-density", "--quiet"),
    )
    assert answer.code == 0, answer.err
    assert answer.out.rstrip("\n") == (tmp_path / "ablation.md").read_text("utf-8").rstrip("\n")
    assert "| distances not divided by density |" in answer.out


def test_the_command_takes_candidates_and_one_log(cli, simulated, tmp_path):
    answer = cli(
        *("ablate", "--data", simulated, "--out", tmp_path / "out", "--seeds", 1),
        *("--set", "system=texture", "--set", "features.n_mels=32", "--device", "cpu"),
        *("--variant", "full", "--alone", "--looks", tmp_path / "all.jsonl", "--quiet"),
        *("--candidate", "two: complexity=-2, texture.views=[spectrum, envelope]"),
    )
    assert answer.code == 0, answer.err
    assert "| two (texture.views=['spectrum', 'envelope']) |" in answer.out
    assert "each set fitted alone" in answer.out
    assert {look.fitted for look in LookLog(tmp_path / "all.jsonl").read()} == {"alone"}
    assert not (tmp_path / "out" / "looks.jsonl").exists()


def test_invalid_requests_are_one_line_errors(cli, simulated, tmp_path):
    arguments = ["ablate", "--data", simulated, "--out", tmp_path]
    assert cli(*arguments, "--variant", "x").error.startswith("no variant is called 'x'; there are")
    answer = cli(*arguments, "--set", "system=gmm")
    assert answer.error.startswith("system gmm has none of these components")
    answer = cli(*arguments, "--candidate", "nothing")
    assert answer.error.startswith("'nothing' is not of the form")


def test_one_machine_id_has_no_networks(simulated, tmp_path):
    only = tmp_path / "data" / "fan"
    for path in (simulated / "fan").rglob("section_00*.wav"):
        link = only / path.parent.name / path.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    run = Ablation(request(tmp_path / "data", tmp_path / "out", TINY, seeds=1))
    assert run.recipe.system == "texture"
    assert any("so no networks are used" in note for note in run.notes)
    assert "one-network" not in run.variants


def test_a_recipe_without_any_view_is_rejected(fan, tmp_path):
    nothing = {**TEXTURE, "texture.views": []}
    with pytest.raises(SsdptError, match="no view is left"):
        Ablation(request(fan, tmp_path, nothing, seeds=1)).run()
    with pytest.raises(SsdptError, match="no view is left"):
        fit_fleet(read_layout(fan), load_config("best", nothing), tmp_path / "model")
