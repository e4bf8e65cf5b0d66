"""`ssdpt export`: the export is verified, and written completely or not at all."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import ssdpt
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import Fleet, export_fleet
from ssdpt.runtime import export as export_module
from ssdpt.runtime.export import ExportSettings
from ssdpt.runtime.manifest import Manifest
from ssdpt.runtime.sounds import synthesise
from ssdpt.runtime.verify import BOUND, _rounded_up
from ssdpt.types import Recording

ROOT = Path(__file__).parents[2]


def manifest_of(folder):
    return Manifest.model_validate_json((folder / "manifest.json").read_text("utf-8"))


def tampered(monkeypatch, factor):
    """Export graphs whose weights are off by `factor`."""
    honest = export_module.onnx_model

    def dishonest(system, arithmetic):
        model, graph = honest(system, arithmetic)
        for tensor in model.graph.initializer:
            if tensor.name == "system.means":
                values = numpy_helper.to_array(tensor) * factor
                tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        return model, graph

    monkeypatch.setattr(export_module, "onnx_model", dishonest)


def test_the_manifest_says_how_it_was_verified(exports):
    for name, folder in exports.items():
        manifest = manifest_of(folder)
        checked = manifest.verification
        assert checked.clips == 20
        assert checked.bound == BOUND == 1e-4
        assert checked.largest_relative < 1e-5
        assert checked.of_samples is not None
        assert 0 < checked.of_samples < 1e-5
        assert checked.decisions_differ == 0
        assert manifest.system == name
        assert manifest.loss is None


def test_the_graph_is_one_file_that_names_nobody(exports):
    for folder in exports.values():
        content = (folder / "model.onnx").read_bytes()
        assert str(ROOT).encode() not in content
        assert b".py" not in content
        model = onnx.load_from_string(content)
        assert [item.name for item in model.graph.input] == ["samples"]
        assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param
        assert {item.version for item in model.opset_import if not item.domain} == {18}
        onnx.checker.check_model(model)


def test_a_graph_that_scores_otherwise_is_refused(cli, models, tmp_path, monkeypatch):
    tampered(monkeypatch, 1.01)
    answer = cli("export", models["gmm"], "--out", tmp_path / "out", "--quiet")
    assert answer.code == 2
    assert "the exported graph is not the same model" in answer.error
    assert "nothing was written" in answer.error
    assert list(tmp_path.iterdir()) == []


def test_a_difference_within_the_bound_is_written(cli, models, tmp_path, monkeypatch):
    tampered(monkeypatch, 1 + 1e-9)
    assert cli("export", models["gmm"], "--out", tmp_path / "out", "--quiet").code == 0


def test_another_decision_is_refused_however_small_the_difference(models, tmp_path, monkeypatch):
    fleet = Fleet.load(models["gmm"], device="cpu")
    honest = export_module.ExportedDetector.score

    def flipped(self, path, **options):
        from dataclasses import replace

        return replace(honest(self, path, **options), level="alert")

    monkeypatch.setattr(export_module.ExportedDetector, "score", flipped)
    with pytest.raises(SsdptError, match="says alert where torch says"):
        export_fleet(fleet, tmp_path / "out", lambda _: ExportSettings())
    assert list(tmp_path.iterdir()) == []


def test_clips_of_ones_own_are_compared(cli, models, fan, tmp_path):
    clips = fan / "source_test"
    answer = cli("export", models["gmm"], "--out", tmp_path / "out", "--clips", clips, "--quiet")
    assert answer.code == 0
    assert manifest_of(tmp_path / "out").verification.source == "6 given, 0 synthesised"
    assert "6 given, 0 synthesised" in answer.out
    other = tmp_path / "other.csv"
    other.write_text(f"path,machine\n{next(clips.glob('*.wav'))},pump\n", "utf-8")
    # One model only: it judges clips of whatever name; synthesised ones make up the number.
    answer = cli("export", models["gmm"], "--out", tmp_path / "out", "--clips", other, "--quiet")
    assert "1 given, 5 synthesised" in answer.out


def test_smaller_variants_need_consent_and_say_what_they_cost(cli, models, fan, tmp_path):
    arguments = (
        "export",
        models["ssdpt"],
        "--out",
        tmp_path / "out",
        "--precision",
        "int8",
        "--quiet",
    )
    answer = cli(*arguments, "--data", fan)
    assert answer.code == 2
    assert "pass --allow-loss to accept this" in answer.error
    assert not (tmp_path / "out").exists()
    answer = cli(*arguments, "--data", fan, "--allow-loss")
    assert answer.code == 0, answer.err
    manifest = manifest_of(tmp_path / "out")
    checked, loss = manifest.verification, manifest.loss
    assert BOUND < checked.largest_relative <= checked.bound < 1
    assert loss.clips == "given"
    assert loss.normal_clips > 1 < loss.faulty_clips
    assert loss.auc == pytest.approx(loss.auc_torch, abs=0.1)
    assert f"AUC {loss.auc:.4f} against {loss.auc_torch:.4f}" in answer.out
    assert f"|Δscore| / max(1, |score|) ≤ {checked.bound:.2g}" in answer.out
    clip = next((fan / "source_test").glob("*.wav"))
    ours, theirs = (ssdpt.load(str(f)).score(clip) for f in (models["ssdpt"], tmp_path / "out"))
    assert theirs.value != ours.value
    assert theirs.value == pytest.approx(ours.value, rel=10 * checked.bound, abs=0.1)


def test_float16_halves_the_weights_and_nothing_else(models, exports, tmp_path):
    settings = ExportSettings(precision="float16", allow_loss=True)
    export_fleet(Fleet.load(models["ae"], device="cpu"), tmp_path / "out", lambda _: settings)
    manifest = manifest_of(tmp_path / "out")
    assert manifest.loss.clips == "synthesised"
    assert manifest.loss.normal_clips == manifest.loss.faulty_clips == 6
    model = onnx.load(tmp_path / "out" / "model.onnx")
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    assert kinds["system.network.layers.0.weight.half"] == onnx.TensorProto.FLOAT16
    assert kinds["front_end.filters"] == onnx.TensorProto.DOUBLE
    sizes = [(folder / "model.onnx").stat().st_size for folder in (tmp_path / "out", exports["ae"])]
    assert sizes[0] < sizes[1]


def test_recordings_of_another_kind_are_no_comparison(cli, fleet_folder, models, fan, tmp_path):
    arguments = ("--out", tmp_path / "out", "--quiet")
    error = cli("export", fleet_folder, "--clips", fan, *arguments).error
    assert "no recordings of machine valve to compare on" in error
    error = cli(
        "export", models["ae"], "--data", fan / "train", "--precision", "int8", *arguments
    ).error
    assert "no labelled test recordings of machine fan to compare on" in error


def test_a_gaussian_has_no_smaller_variant(cli, models, tmp_path):
    answer = cli("export", models["gmm"], "--out", tmp_path / "o", "--precision", "float16", "-q")
    assert "system gmm has no network" in answer.error


def test_the_loss_needs_both_labels(models, fan, tmp_path):
    normal = tuple(
        Recording(path, "fan", "00", label="normal") for path in fan.rglob("*normal*.wav")
    )
    settings = ExportSettings(precision="int8", allow_loss=True, labelled=normal[:3])
    with pytest.raises(SsdptError, match="needs normal and faulty clips"):
        export_fleet(Fleet.load(models["ae"], device="cpu"), tmp_path / "out", lambda _: settings)
    assert list(tmp_path.iterdir()) == []


def test_several_machines_are_exported_together_or_not_at_all(
    cli, fleet_folder, simulated, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    assert cli("export", fleet_folder, "--out", out, "--quiet").code == 0
    assert json.loads((out / "index.json").read_text("utf-8"))["machines"]
    fleet = Fleet.load(out)
    assert fleet.machines == Fleet.load(fleet_folder).machines
    for machine in fleet:
        clip = next((simulated / machine / "source_test").glob("*.wav"))
        answer = cli("score", out, clip, "--format", "jsonl")
        assert json.loads(answer.out)["machine"] == machine
    # The second machine fails: the first is not written either.
    calls = []

    def fails_later(detector, *rest, **options):
        calls.append(detector.machine)
        if len(calls) > 1:
            raise SsdptError("no")
        return honest(detector, *rest, **options)

    honest = export_module.export_model
    monkeypatch.setattr(export_module, "export_model", fails_later)
    with pytest.raises(SsdptError, match="no"):
        export_fleet(
            Fleet.load(fleet_folder, device="cpu"), tmp_path / "second", lambda _: ExportSettings()
        )
    assert len(calls) == 2
    assert not (tmp_path / "second").exists()


def test_what_cannot_be_exported(cli, exports, models, tmp_path):
    out = tmp_path / "out"
    error = cli("export", exports["gmm"], "--out", out).error
    assert "is exported already; give the model it was made from" in error
    assert "no such model" in cli("export", tmp_path / "absent", "--out", out).error
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("x")
    error = cli("export", models["gmm"], "--out", tmp_path / "full").error
    assert "holds other files (thesis.tex)" in error
    own = Path(shutil.copytree(models["gmm"], tmp_path / "model"))
    assert "holds other files" in cli("export", own, "--out", own).error
    assert (own / "config.json").is_file()


def test_an_export_is_written_over(cli, models, tmp_path):
    for _ in range(2):
        assert cli("export", models["gmm"], "--out", tmp_path / "out", "--quiet").code == 0


@pytest.mark.parametrize("name", ["onnx", "onnxscript", "openvino"])
def test_what_is_not_installed_is_named(cli, models, tmp_path, monkeypatch, name):
    for module in [m for m in sys.modules if m.startswith("ssdpt.runtime")]:
        monkeypatch.delitem(sys.modules, module)
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    arguments = (
        "export",
        models["gmm"],
        "--out",
        tmp_path / "out",
        "--format",
        "openvino",
        "--quiet",
    )
    extra = "openvino" if name == "openvino" else "onnx"
    answer = cli(*arguments)
    assert answer.code == 2
    assert f"pip install 'ssdpt[{extra}]'" in answer.error
    assert not (tmp_path / "out").exists()


def test_openvino_scores_the_same(cli, models, fan, tmp_path):
    out = tmp_path / "out"
    answer = cli("export", models["ssdpt"], "--out", out, "--format", "openvino", "--quiet")
    assert answer.code == 0, answer.err
    assert manifest_of(out).verification.largest_relative < BOUND
    for clip in sorted((fan / "source_test").glob("*.wav"))[::3]:
        ours, theirs = (ssdpt.load(str(folder)).score(clip) for folder in (models["ssdpt"], out))
        assert theirs.value == pytest.approx(ours.value, rel=1e-4, abs=1e-4)
        assert theirs.level == ours.level
    exported = Fleet.load(out)
    clips = [Recording(clip, "fan", "00")] * 20  # on several threads at a time
    alone = exported["fan"].score(clip, section="00").value
    assert {score.value for _, score in exported.score_all(clips)} == {alone}
    graph = (out / "model.xml").read_text("utf-8")
    (out / "model.xml").write_text(graph[: len(graph) // 2], "utf-8")
    assert "model.xml: damaged" in cli("score", out, clip).error


@pytest.mark.full
@pytest.mark.parametrize("name", ["ssdpt", "ae", "gmm"])
@pytest.mark.parametrize("runtime", ["onnx", "openvino"])
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_every_combination(models, tmp_path, name, runtime, precision):
    settings = ExportSettings(runtime=runtime, precision=precision, allow_loss=True)
    fleet = Fleet.load(models[name], device="cpu")
    if name == "gmm" and precision != "float32":
        with pytest.raises(SsdptError, match="gmm has no network"):
            export_fleet(fleet, tmp_path / "out", lambda _: settings)
        return
    export_fleet(fleet, tmp_path / "out", lambda _: settings)
    checked = manifest_of(tmp_path / "out").verification
    assert checked.largest_relative <= (BOUND if precision == "float32" else 0.2)
    assert checked.decisions_differ == 0 or precision != "float32"


def test_synthesised_clips_sound_like_the_machine(detectors):
    detector = detectors["gmm"]
    spectra = detector.stored.description["mean_spectra"]
    assert set(spectra) == set(detector.sections)
    made = synthesise(detector.config, spectra, (*detector.sections, ""), [4.0] * 8)
    assert [item.label for item in made] == ["normal", "anomaly"] * 8
    for item in made[::2]:
        mean_frame = detector.frames(item).mean(0)
        expected = spectra.get(item.section, np.mean(list(spectra.values()), axis=0))
        # Within the mean of the logarithm of noise (−2.5 dB) and the level's own spread.
        assert np.abs(mean_frame - expected).mean() < 6
    flat = synthesise(detector.config, {}, detector.sections, [0.05])
    assert len(flat) == 2


def test_a_bound_is_never_rounded_down():
    for value in (0.0, 1e-7, 0.00123, 0.0999, 1.0, 37.2):
        assert value <= _rounded_up(value) <= value * 1.1
