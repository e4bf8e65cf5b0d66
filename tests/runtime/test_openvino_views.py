"""Systems that score whole clips, in OpenVINO: exported, verified, and scored with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import ssdpt
from sounds import RATE, hum
from ssdpt import Clip
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import Fleet, export_fleet
from ssdpt.runtime import export as export_module
from ssdpt.runtime.export import ExportSettings
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.runtime.manifest import read_manifest
from ssdpt.runtime.verify import BOUND

OPENVINO = ExportSettings(runtime="openvino")

# Loads a model, and drops it in another thread as a service does that reloads its models.
DROPPED_ELSEWHERE = """
import gc, os, signal, sys, threading
import ssdpt

signal.signal(signal.SIGUSR1, lambda number, _: print("handled", number == signal.SIGUSR1))
models = [ssdpt.load(sys.argv[1])]
thread = threading.Thread(target=lambda: (models.clear(), gc.collect()))
thread.start()
thread.join()
os.kill(os.getpid(), signal.SIGUSR1)
"""

systems = pytest.mark.parametrize("name", ["texture", "multiview"])


@pytest.fixture(scope="module")
def openvino_exports(models, traced_once, tmp_path_factory):
    """Folders by system; what `export` itself refuses is not there."""
    root = tmp_path_factory.mktemp("openvino")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export_module, "CLIPS", 6)
        for name in ("texture", "multiview"):
            fleet = Fleet.load(models[name], device="cpu")
            export_fleet(fleet, root / name, lambda _: OPENVINO)
    return root


@systems
def test_it_is_verified_before_it_is_written(openvino_exports, name):
    manifest = read_manifest(openvino_exports / name)
    checked = manifest.verification
    assert (manifest.system, manifest.runtime) == (name, "openvino")
    assert checked.clips == 6
    assert 0 < checked.largest_relative <= checked.bound == BOUND
    assert checked.decisions_differ == 0
    # The graph of samples rounds levels that it has computed in float32.
    assert checked.samples_clips
    assert checked.of_samples is not None
    assert 0 < checked.of_samples <= checked.samples_bound == 5e-3


def test_a_model_that_is_dropped_in_another_thread_leaves_signals_alone(openvino_exports):
    """The next signal ended the process: SIGTERM of a service, or the end of any child."""
    command = [sys.executable, "-c", DROPPED_ELSEWHERE, str(openvino_exports / "texture")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "handled True\n"), done.stderr


def test_one_place_makes_a_core():
    files = Path(ssdpt.__file__).parent.rglob("*.py")
    assert [path.name for path in files if "openvino.Core()" in path.read_text("utf-8")] == [
        "openvino_core.py"
    ]


@systems
def test_it_scores_recordings_as_the_model_does(openvino_exports, models, fan, name):
    ours = ssdpt.load(str(models[name]), device="cpu")
    theirs = ssdpt.load(str(openvino_exports / name))
    assert isinstance(theirs, ExportedDetector)
    clips = [*sorted((fan / "source_test").glob("*.wav"))[::3]]
    assert len({ours.score(clip).value for clip in clips}) == len(clips) > 2
    for clip in clips:
        one, other = ours.score(clip), theirs.score(clip)
        assert other.value == pytest.approx(one.value, rel=BOUND, abs=BOUND)
        assert (other.level, other.section) == (one.level, one.section)
        assert other.parts == pytest.approx(dict(one.parts), rel=1e-3, abs=1e-3)
        np.testing.assert_allclose(other.timeline.value, one.timeline.value, rtol=1e-3, atol=1e-3)


@systems
def test_its_graph_of_samples_gives_the_score_in_one_run(openvino_exports, fan, name):
    exported = ssdpt.load(str(openvino_exports / name))
    clip = next((fan / "source_test").glob("section_00*.wav"))
    outputs = exported.outputs(clip)
    number = exported.sections.index("00")
    expected = exported.score(clip, section="00").value
    assert outputs["clip"][number] == pytest.approx(expected, rel=5e-3, abs=5e-3)
    assert outputs["score"][:, number].mean() == pytest.approx(outputs["clip"][number], rel=1e-4)


@systems
def test_a_graph_of_another_model_is_refused(models, tmp_path, monkeypatch, name):
    honest = export_module.onnx_model

    def dishonest(system, arithmetic):
        model, graph = honest(system, arithmetic)
        for tensor in model.graph.initializer:
            if tensor.name.endswith(".matrix"):
                values = numpy_helper.to_array(tensor) * 1.5
                tensor.CopyFrom(numpy_helper.from_array(values.astype(values.dtype), tensor.name))
        onnx.checker.check_model(model)
        return model, graph

    monkeypatch.setattr(export_module, "onnx_model", dishonest)
    fleet = Fleet.load(models[name], device="cpu")
    with pytest.raises(SsdptError, match=r"the exported graph (is not the same model|says)"):
        export_fleet(fleet, tmp_path / "out", lambda _: OPENVINO)
    assert list(tmp_path.iterdir()) == []


@systems
def test_a_clip_of_a_moment_scores_alike(openvino_exports, models, name):
    ours = ssdpt.load(str(models[name]), device="cpu")
    theirs = ssdpt.load(str(openvino_exports / name))
    clip = Clip(hum(0.05, seed=5), RATE, section="00")
    assert theirs.score(clip).value == pytest.approx(ours.score(clip).value, rel=BOUND, abs=BOUND)
