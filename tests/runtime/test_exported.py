"""An exported model scores like the model it was made from, without torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

import ssdpt
from sounds import hum, write_clip
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import Fleet
from ssdpt.runtime import exported as exported_module
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.runtime.manifest import MANIFEST

EXAMPLE = Path(__file__).parents[2] / "examples" / "score_onnx.py"
systems = pytest.mark.parametrize("name", ["ssdpt", "ae", "gmm", "texture", "multiview"])
of_segments = pytest.mark.parametrize("name", ["ssdpt", "ae", "gmm"])
of_whole_clips = pytest.mark.parametrize("name", ["texture", "multiview"])


@pytest.fixture(scope="module")
def clips(tmp_path_factory, fan):
    """Clips of every kind that matters, by name."""
    folder = tmp_path_factory.mktemp("clips")
    minute = hum(60, seed=3)
    nearly_silent = np.zeros(32_000, np.float32)
    nearly_silent[12_345] = 1e-4
    return {
        "normal": sorted((fan / "source_test").glob("*normal*.wav"))[0],
        "faulty": sorted((fan / "source_test").glob("*anomaly*.wav"))[0],
        "short": write_clip(folder / "short.wav", hum(0.1)),
        "sample": write_clip(folder / "sample.wav", np.array([0.1, 0.2], np.float32)),
        "stereo": write_clip(
            folder / "stereo.wav", np.stack([hum(3, rate=44100), hum(3, 1, 44100)], 1), 44100
        ),
        "minute": write_clip(folder / "minute.wav", minute),
        "nearly silent": write_clip(folder / "silent.wav", nearly_silent),
    }


@pytest.fixture
def export(exports, tmp_path):
    """An exported model of one's own."""
    return Path(shutil.copytree(exports["gmm"], tmp_path / "export"))


def change(folder, **entries):
    """Change entries of the manifest; a value of None takes one out."""
    path = folder / MANIFEST
    tree = json.loads(path.read_text("utf-8")) | entries
    path.write_text(json.dumps({name: value for name, value in tree.items() if value is not None}))


def same(theirs, ours):
    assert theirs.value == pytest.approx(ours.value, rel=1e-4, abs=1e-4)
    assert theirs.level == ours.level
    assert theirs.threshold == ours.threshold
    assert theirs.p_value == pytest.approx(ours.p_value, rel=1e-2)
    assert theirs.notes == ours.notes
    assert (theirs.machine, theirs.section) == (ours.machine, ours.section)
    assert theirs.parts == pytest.approx(dict(ours.parts), rel=1e-4, abs=1e-4)
    np.testing.assert_array_equal(theirs.timeline.start, ours.timeline.start)
    assert theirs.timeline.duration == ours.timeline.duration
    np.testing.assert_allclose(theirs.timeline.value, ours.timeline.value, rtol=1e-4, atol=1e-4)


@systems
def test_it_scores_as_torch_does(detectors, exports, clips, name):
    exported = ssdpt.load(str(exports[name]))
    for kind, path in clips.items():
        for section in (None, "01", "77") if kind == "normal" else ("02",):
            same(
                exported.score(path, section=section), detectors[name].score(path, section=section)
            )


@of_segments
def test_cutting_a_recording_into_pieces_changes_nothing(exports, clips, name):
    exported = ExportedDetector.load(exports[name])
    whole = exported.outputs(clips["minute"])
    small = exported.manifest.segment.model_copy(update={"at_once": 3})
    exported.manifest = exported.manifest.model_copy(update={"segment": small})
    score = exported.score(clips["minute"], section="01")
    np.testing.assert_allclose(
        score.timeline.value, whole["score"][:, 1], rtol=1e-5, atol=1e-5, strict=True
    )
    assert score.value == pytest.approx(whole["clip"][1], rel=1e-5, abs=1e-5)


@of_whole_clips
def test_one_run_of_the_graph_is_one_clip(detectors, exports, clips, name):
    exported = ExportedDetector.load(exports[name])
    for clip in ("normal", "short", "sample"):
        whole, score = (
            exported.outputs(clips[clip]),
            detectors[name].score(clips[clip], section="01"),
        )
        assert whole["clip"][1] == pytest.approx(score.value, rel=1e-5, abs=1e-5)
        for part, values in score.timeline.parts.items():
            np.testing.assert_allclose(whole[part][:, 1], values, rtol=1e-4, atol=1e-4)
    with pytest.raises(SsdptError, match=r"60 s are too long for one run .* use score\(\)"):
        exported.outputs(clips["minute"])


def test_a_silent_or_damaged_clip_is_refused_as_ever(exports, tmp_path):
    exported = ExportedDetector.load(exports["gmm"])
    silent = write_clip(tmp_path / "silent.wav", np.zeros(16000, np.float32))
    with pytest.raises(SsdptError, match="silent"):
        exported.score(silent)
    other = write_clip(tmp_path / "other.wav", hum(1, rate=8000), 8000)
    with pytest.raises(SsdptError, match="leave out --strict"):
        exported.score(other, strict=True)


def test_scoring_an_export_imports_no_torch_and_no_scipy(exports, clips):
    code = """
import sys
for name in ("torch", "scipy", "sklearn", "matplotlib", "onnx", "onnxscript"):
    sys.modules[name] = None
from ssdpt.cli import main
main()
"""
    for name in ("ssdpt", "gmm", "texture", "multiview"):
        arguments = ("score", exports[name], clips["normal"], "--format", "jsonl")
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
        )
        assert done.returncode in {0, 1}, done.stderr
        value = json.loads(done.stdout)["value"]
        assert value == ssdpt.load(str(exports[name])).score(clips["normal"]).value


def test_thresholds_move_and_stay(cli, models, export, clips):
    for folder in (models["gmm"], export):
        assert ssdpt.load(str(folder)).false_alarm_rate == 0.1
    assert cli("threshold", export, "--false-alarm-rate", 0.3, "--quiet").code == 0
    moved = ssdpt.load(str(export))
    assert moved.false_alarm_rate == 0.3
    reference = ssdpt.load(str(models["gmm"]))
    reference.calibrate(0.3)
    same(moved.score(clips["faulty"]), reference.score(clips["faulty"]))
    assert "false-alarm rate of\n0.3" in (export / "README.md").read_text("utf-8")


def test_info_tells_what_it_is(cli, export):
    output = cli("info", export).out
    assert "Exported by ssdpt" in output
    assert "largest |Δscore|" in output
    (facts,) = json.loads(cli("info", export, "--json").out)
    assert facts["machine"] == "fan"
    assert facts["export"]["verification"]["clips"] == 20
    assert facts["recordings"] > 0


def test_it_can_be_evaluated_and_compared(cli, models, exports, fan, tmp_path):
    answer = cli("evaluate", exports["gmm"], fan, "--out", tmp_path / "e", "--quiet")
    assert answer.code == 0, answer.err
    metrics = json.loads((tmp_path / "e" / "metrics.json").read_text("utf-8"))
    cli("evaluate", models["gmm"], fan, "--out", tmp_path / "m", "--quiet")
    expected = json.loads((tmp_path / "m" / "metrics.json").read_text("utf-8"))
    assert metrics["machines"] == expected["machines"]


def test_the_example_scores_a_wav(exports, clips, cli):
    for name in ("ssdpt", "gmm", "multiview"):
        for kind in ("normal", "faulty"):
            for section in ("01", "77"):
                arguments = (EXAMPLE, exports[name], clips[kind], section)
                done = subprocess.run(
                    [sys.executable, *map(str, arguments)],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                score, threshold, verdict = done.stdout.split()
                answer = cli(
                    "score", exports[name], clips[kind], "--section", section, "--format", "jsonl"
                )
                expected = json.loads(answer.out)
                assert float(score) == pytest.approx(expected["value"], abs=1e-5, rel=1e-5)
                assert float(threshold) == pytest.approx(expected["threshold"], abs=1e-5)
                assert (verdict == "normal") == (expected["level"] == "normal")
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 40


def refused(folder):
    with pytest.raises(SsdptError) as caught:
        Fleet.load(folder)
    return str(caught.value)


def test_a_newer_format_is_refused(export):
    change(export, format=99, ssdpt_version="9.9")
    assert "made by ssdpt 9.9, which is newer than this one" in refused(export)


def test_a_foreign_manifest_is_refused(export):
    change(export, format=None)
    assert "not written by ssdpt" in refused(export)
    (export / MANIFEST).write_text("[]", "utf-8")
    assert "damaged" in refused(export)


@pytest.mark.parametrize("entry", ["sections", "features", "segment", "parts", "digests"])
def test_a_damaged_manifest_names_the_entry(export, entry):
    change(export, **{entry: None})
    assert f"damaged: '{entry}' is missing or of the wrong kind" in refused(export)


@pytest.mark.parametrize("name", ["model.onnx", "references.safetensors", "data.json"])
def test_missing_and_damaged_files_are_named(export, name):
    content = (export / name).read_bytes()
    (export / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert f"{export / name}: damaged" in refused(export)
    (export / name).unlink()
    assert f"{export / name}: this file of the model is missing" in refused(export)
    digests = json.loads((export / MANIFEST).read_text("utf-8"))["digests"]
    change(export, digests={other: value for other, value in digests.items() if other != name})
    assert "damaged" in refused(export) if name != "data.json" else "missing" in refused(export)


def test_a_missing_calibration_is_named(export):
    (export / "calibration.json").unlink()
    assert "calibration.json: this file of the model is missing" in refused(export)


def rewrite(folder, edit):
    """Change the graph and its digest: what a faulty tool, not a faulty disk, would leave."""
    import onnx

    from ssdpt.common.files import digest

    model = onnx.load(folder / "model.onnx")
    edit(model)
    onnx.save(model, folder / "model.onnx")
    digests = json.loads((folder / MANIFEST).read_text("utf-8"))["digests"]
    change(folder, digests=digests | {"model.onnx": digest(folder / "model.onnx")})


def test_an_operator_set_the_runtime_lacks_is_named(export):
    def newer(model):
        model.opset_import[0].version = 999

    rewrite(export, newer)
    change(export, opset=999)
    message = refused(export)
    assert (
        "cannot load this graph (operator set 999): upgrade it, or export the model again"
        in message
    )
    assert "\n" not in message


def test_a_graph_without_the_outputs_is_refused(export):
    def nameless(model):
        del model.graph.output[1]

    rewrite(export, nameless)
    assert "the graph has no output score" in refused(export)


def test_foreign_references_are_refused(export, monkeypatch):
    monkeypatch.setattr(exported_module, "load_file", lambda path: {})
    assert "references.safetensors: damaged" in refused(export)


def test_a_runtime_that_is_not_installed_is_named(cli, export, clips, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "pip install 'ssdpt[edge]'" in cli("score", export, clips["normal"]).error


def test_embeddings_come_out(exports, clips):
    exported = ExportedDetector.load(exports["ssdpt"])
    outputs = exported.outputs(clips["normal"])
    assert outputs["embedding"].shape == (len(outputs["score"]), 32)
    assert outputs["frames"].shape[1] == 32
    frames = soundfile.info(clips["normal"]).frames
    assert len(outputs["frames"]) == 1 + frames // 512
