"""Which systems there are: ours without importing them, those of other packages by entry point."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import ssdpt
from ssdpt import Detector
from ssdpt.config import registry
from ssdpt.config.registry import SystemEntry, system_entries, system_problems
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError, SsdptWarning
from ssdpt.systems import system_class, system_names
from ssdpt.systems.texture import TextureConfig

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_detector"
OURS = {
    *("multiview", "texture", "ssdpt", "ssdpt-noaux", "ssdpt-ensemble"),
    *("ae", "mnv2", "mnv2-lof", "wavenet-ensemble", "gmm"),
}


@pytest.fixture
def installed(monkeypatch):
    """Pretends that packages with these entry points are installed."""

    def install(**points: str) -> None:
        ours = [metadata.EntryPoint(name, value, registry.GROUP) for name, value in points.items()]

        def entry_points(**wanted):
            return ours if wanted == {"group": registry.GROUP} else others(**wanted)

        monkeypatch.setattr(metadata, "entry_points", entry_points)
        registry.forget_systems()

    others = metadata.entry_points
    monkeypatch.syspath_prepend(EXAMPLE)
    yield install
    monkeypatch.undo()
    registry.forget_systems()


def test_our_own_systems_are_all_there():
    assert set(system_names()) >= OURS
    assert system_problems() == {}
    for name, entry in system_entries().items():
        assert entry.name == name == system_class(name).name
        assert entry.settings


@pytest.mark.parametrize(
    ("ability", "systems"),
    [
        ("explains", OURS - {"wavenet-ensemble"}),
        ("adapts", {"multiview", "texture"}),
        ("exports", {"ssdpt", "ssdpt-noaux", "ae", "mnv2", "gmm", "multiview", "texture"}),
        ("has_network", OURS - {"gmm", "texture"}),
        ("uses_shared_reference", {"multiview", "texture"}),
        ("trains_networks", {"multiview"}),
        ("has_held_out_scores", {"multiview", "texture"}),
        ("requires_torch", OURS - {"texture"}),
        ("averages_segments", {"ssdpt", "ssdpt-noaux"}),
        ("needs", OURS - {"ae", "gmm", "texture", "multiview"}),
        ("fallback", OURS - {"ae", "gmm", "texture", "multiview"}),
    ],
)
def test_what_our_own_systems_can_do(ability, systems):
    assert {name for name in OURS if getattr(system_class(name), ability)} == systems


def test_other_systems_are_named_in_a_refusal():
    gmm, wavenet = (object.__new__(system_class(name)) for name in ("gmm", "wavenet-ensemble"))
    with pytest.raises(SsdptError, match=r"gmm cannot take up .*; multiview and texture can"):
        gmm.add_normals([], "00", "source")
    with pytest.raises(SsdptError, match="cannot be exported; ae, gmm, mnv2, multiview, ssdpt, "):
        wavenet.graph()


def test_settings_are_read_without_heavy_libraries():
    code = (
        "import sys, json\n"
        "from ssdpt.config.tree import load_config\n"
        "load_config('paper', {'system': 'multiview', 'texture.neighbours': 4})\n"
        "heavy = {'torch', 'scipy', 'sklearn'}\n"
        "print(json.dumps(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_settings_pass_to_other_processes():
    config = load_config("tiny", {"system": "texture", "texture.neighbours": 4})
    again = pickle.loads(pickle.dumps(config))
    assert again == config
    assert again.part(TextureConfig).neighbours == 4


def test_a_system_of_another_package_is_fitted_saved_and_scores(installed, fan, tmp_path):
    installed(loudness="ssdpt_loudness:SYSTEM")
    assert set(system_names()) >= OURS | {"loudness"}
    config = load_config("tiny", {"system": "loudness", "loudness.frames": 8})
    detector = Detector.fit(fan, config=config)
    clip = sorted((fan / "source_test").glob("*.wav"))[0]
    score = detector.score(clip)
    assert score.timeline.duration == pytest.approx(8 * detector.frame_seconds)
    detector.save(tmp_path / "model")
    assert Detector.load(tmp_path / "model").score(clip).value == score.value
    frames = detector.frames(clip)
    assert detector.anomaly_map(clip).shape == frames.shape
    blocks = [frames[:5], frames[5:90], frames[90:]]
    system = detector.system
    assert system.score(blocks, "00").value == system.score([frames], "00").value
    assert len(system.score([frames[:3]], "00").timeline.value) == 1

    installed()  # the package is gone again
    with pytest.raises(SsdptError, match="'loudness' is not valid; choose"):
        Detector.load(tmp_path / "model")


def test_a_model_of_ours_is_read_where_a_package_of_others_is_gone(installed, fan, tmp_path):
    installed(loudness="ssdpt_loudness:SYSTEM")
    Detector.fit(fan, config=load_config("tiny", {"system": "gmm"})).save(tmp_path / "model")
    installed()
    assert Detector.load(tmp_path / "model").system_name == "gmm"


def test_wrong_settings_of_a_system_of_another_package_are_named(installed):
    installed(loudness="ssdpt_loudness:SYSTEM")
    with pytest.raises(SsdptError, match=r"no setting 'loudness.frame'; did you mean 'loudness.fr"):
        load_config("tiny", {"loudness.frame": 8})
    with pytest.raises(SsdptError, match=r"setting loudness.frames: must be at least 1"):
        load_config("tiny", {"loudness.frames": 0})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("loudness", "ssdpt_absent:SYSTEM", "No module named 'ssdpt_absent'"),
        ("loudness", "ssdpt_loudness:Absent", "no attribute 'Absent'"),
        ("loudness", "ssdpt_loudness:Loudness", "which is no SystemEntry"),
        ("quietness", "ssdpt_loudness:SYSTEM", "it calls itself 'loudness'"),
        ("texture", "ssdpt.systems.texture:SYSTEMS", "which is no SystemEntry"),
    ],
)
def test_a_system_that_cannot_be_used_is_named_and_leaves_the_others(
    installed, name, value, reason
):
    installed(**{name: value})
    with pytest.warns(SsdptWarning, match=f"system {name} cannot be used: .*{reason}"):
        names = set(system_names())
    assert names >= OURS
    assert name in OURS or name not in names
    assert reason in system_problems()[name]
    assert load_config("tiny", {"system": "gmm"}).system == "gmm"
    if name not in OURS:
        with pytest.raises(SsdptError, match=f"system {name} cannot be used"):
            load_config("tiny", {"system": name})


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (SystemEntry("gmm", "ssdpt_loudness:Loudness"), "has this name already"),
        (
            SystemEntry(
                "other",
                "ssdpt_loudness:Loudness",
                (type("Taken", (TextureConfig,), {"key": "texture"}),),
            ),
            "called 'texture', a name that is taken",
        ),
        (
            SystemEntry(
                "other",
                "ssdpt_loudness:Loudness",
                (type("Taken", (TextureConfig,), {"key": "audio"}),),
            ),
            "called 'audio', a name that is taken",
        ),
    ],
)
def test_a_name_that_is_taken_stays_with_its_owner(installed, monkeypatch, entry, reason):
    import ssdpt_loudness

    monkeypatch.setattr(ssdpt_loudness, "SYSTEM", entry)
    installed(**{entry.name: "ssdpt_loudness:SYSTEM"})
    with pytest.warns(SsdptWarning, match=reason):
        names = set(system_names())
    assert names >= OURS
    assert "other" not in names
    assert system_class("gmm").__module__ == "ssdpt.systems.gmm.system"


def test_a_class_that_cannot_be_loaded_is_named(installed, monkeypatch):
    import ssdpt_loudness

    monkeypatch.setattr(ssdpt_loudness, "SYSTEM", SystemEntry("loudness", "ssdpt_absent:Loudness"))
    installed(loudness="ssdpt_loudness:SYSTEM")
    with pytest.raises(SsdptError, match="system loudness cannot be loaded: No module named"):
        system_class("loudness")


def test_nothing_outside_systems_knows_a_system_by_name():
    """What a system can do is decided by its class, not by its name."""
    literal = re.compile(r"\bsystem(?:_name)?\s*(?:==|!=|\bin\b|\bnot in\b)\s*[\"'(\[{]")
    source = Path(ssdpt.__file__).parent
    offenders = [
        f"{path.relative_to(source)}: {line.strip()}"
        for path in sorted(source.rglob("*.py"))
        if path.relative_to(source).parts[0] != "systems"
        for line in path.read_text("utf-8").splitlines()
        if literal.search(line)
    ]
    assert offenders == []


@pytest.mark.full
def test_the_example_package_is_installed_and_used(fan, tmp_path):
    """As in docs/how-to/own-detector.md: pip install, fit, score."""
    source, place = tmp_path / "own_detector", tmp_path / "site"
    shutil.copytree(EXAMPLE, source)  # a build leaves files in it
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--no-index", "--target", str(place), str(source)),
        ],
        check=True,
        capture_output=True,
    )
    paths = os.pathsep.join([str(place), str(Path(ssdpt.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": paths}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", "from ssdpt.cli import main; main()", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode in {0, 1}, done.stderr
        return done.stdout

    assert "loudness" in [row["name"] for row in json.loads(run("systems", "--json"))]
    model, clip = tmp_path / "model", sorted((fan / "source_test").glob("*.wav"))[0]
    run("fit", str(fan), "--preset", "tiny", "--system", "loudness", "--out", str(model))
    score = json.loads(run("score", str(model), str(clip), "--format", "jsonl"))
    assert set(score["parts"]) == {"loudness"}
