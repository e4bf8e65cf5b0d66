"""What preset best adds to the contract: other machines, shared networks, what ships."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from ssdpt import Detector
from ssdpt.cli import app
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout, read_layouts
from ssdpt.errors import SsdptError
from ssdpt.features.views import UNTRAINED
from ssdpt.fleet.fleet import Fleet, add_to_fleet, fit_fleet
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.training.log import LOG_FILE

TINY = {"system": "multiview", "device": "cpu"}


@pytest.fixture(scope="module")
def together(simulated, tmp_path_factory):
    """fan and valve with shared networks."""
    out = tmp_path_factory.mktemp("together") / "models"
    fit_fleet(read_layout(simulated), load_config("tiny", TINY), out)
    return out


def one_section(folder, place, section="00"):
    """The recordings of one machine ID, copied."""
    shutil.copytree(folder, place, ignore=_others_of(section))
    return place


def _others_of(section):
    def left_out(_, names):
        return [
            name
            for name in names
            if name.endswith(".wav") and not name.startswith(f"section_{section}")
        ]

    return left_out


def test_machines_fitted_together_share_their_networks(together):
    fleet = Fleet.load(together, device="cpu")
    first, second = (detector.system.shared_reference.networks for detector in fleet.values())
    assert [one.name for one in first.networks] == ["steady-1", "moving-1"]
    for name, value in first.arrays().items():
        np.testing.assert_array_equal(value, second.arrays()[name])
    log = [json.loads(line) for line in (together / "fan" / LOG_FILE).read_text().splitlines()]
    assert [line["network"] for line in log] == ["steady-1"] * 2 + ["moving-1"] * 2  # epochs


def test_a_machine_added_later_uses_the_same_networks(together, simulated, tmp_path):
    model = tmp_path / "models"
    shutil.copytree(together, model)
    before = (model / "fan" / "model.safetensors").read_bytes()
    new = one_section(simulated / "fan", tmp_path / "blower")
    add_to_fleet(read_layout(new), model, {})
    fleet = Fleet.load(model, device="cpu")
    assert set(fleet) == {"fan", "valve", "blower"}
    assert (model / "fan" / "model.safetensors").read_bytes() == before
    ours, theirs = fleet["blower"].system.shared_reference, fleet["fan"].system.shared_reference
    for name, value in theirs.networks.arrays().items():
        np.testing.assert_array_equal(value, ours.networks.arrays()[name])
    with pytest.raises(SsdptError, match="blower is in it already"):
        add_to_fleet(read_layout(new), model, {})


def test_nothing_is_added_to_one_machine_or_to_another_system(models, fan):
    with pytest.raises(SsdptError, match="preset best or system texture only"):
        add_to_fleet(read_layout(fan), models["gmm"], {})
    with pytest.raises(SsdptError, match="holds the model of one machine"):
        add_to_fleet(read_layout(fan), models["texture"], {})


def test_one_machine_alone_is_judged_by_hand_made_views_and_says_so(simulated, tmp_path):
    alone = one_section(simulated / "fan", tmp_path / "fan")
    detector = Detector.fit(alone, config=load_config("tiny", TINY))
    assert set(detector.system.section_models["00"].views) == set(UNTRAINED)
    fleet = fit_fleet(read_layout(alone), load_config("tiny", TINY), tmp_path / "model")
    assert any("views without networks" in note for note in fleet["fan"].stored.notes)


def test_a_background_adds_networks_and_its_copies_are_left_out(simulated, tmp_path):
    alone = one_section(simulated / "fan", tmp_path / "fan")
    hall = one_section(simulated / "valve", tmp_path / "hall")
    copied = sorted((alone / "train").glob("*.wav"))[0]
    shutil.copy(copied, hall / "train" / "section_00_source_train_normal_9999_copy.wav")
    result = CliRunner().invoke(
        app,
        [
            *("fit", str(alone), "--preset", "tiny", "--system", "multiview"),
            *("--background", str(hall), "--out", str(tmp_path / "model")),
        ],
    )
    assert result.exit_code == 0, result.output
    assert "nearly the machine's own: section_00_source_train_normal_9999_copy.wav" in " ".join(
        result.output.split()
    )
    views = Detector.load(tmp_path / "model", device="cpu").system.section_models["00"].views
    assert {"steady-1", "moving-1"} < set(views)


def test_views_count_alike_and_the_rhythm_half_as_much(together):
    system = Fleet.load(together, device="cpu")["fan"].system
    for model in system.section_models.values():
        weights = {name: view.weight for name, view in model.views.items()}
        assert sum(weights.values()) == pytest.approx(1)
        assert weights["spectrum"] == weights["envelope"] == pytest.approx(2 * weights["rhythm"])


def test_what_ships_is_of_the_default_front_end_and_whole():
    config = load_config("best")
    shipped = SharedReference.shipped(config, frozen=True)
    assert set(shipped.spread) == {*UNTRAINED, "steady-1", "moving-1"}
    assert shipped.networks is not None
    mels = np.random.default_rng(0).normal(-30, 10, (100, 128)).astype(np.float32)
    assert all(np.isfinite(value).all() for value in shipped.networks.embed(mels).values())
    for spread in shipped.spread.values():
        np.testing.assert_allclose(spread, spread.T, rtol=1e-2, atol=1e-4)
        assert np.linalg.eigvalsh(spread.astype(np.float64))[-1] > 0
    assert SharedReference.shipped(load_config("tiny")).spread == {}


def test_frozen_networks_judge_one_machine_in_seconds(simulated, tmp_path):
    alone = one_section(simulated / "fan", tmp_path / "fan")
    result = CliRunner().invoke(
        app,
        [
            *("fit", str(alone), "--preset", "best", "--frozen", "--device", "cpu"),
            *("--out", str(tmp_path / "model")),
        ],
    )
    assert result.exit_code == 0, result.output
    views = Detector.load(tmp_path / "model", device="cpu").system.section_models["00"].views
    assert set(views) == {*UNTRAINED, "steady-1", "moving-1"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--system", "gmm", "--background", "DATA"], "does not use background recordings"),
        (["--frozen", "--system", "texture"], "use it with preset best"),
        (["--exclude-domain", "both"], "not a domain"),
    ],
)
def test_options_that_do_not_go_together_are_refused(fan, tmp_path, options, reason):
    given = [str(fan) if option == "DATA" else option for option in options]
    result = CliRunner().invoke(
        app, ["fit", str(fan), "--preset", "tiny", "--out", str(tmp_path / "m"), *given]
    )
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())
    assert not (tmp_path / "m").exists()


def test_two_paths_with_one_machine_are_refused(fan, simulated):
    with pytest.raises(SsdptError, match="machine fan is both in"):
        read_layouts([fan, simulated])


def test_recordings_of_hours_are_judged_clip_by_clip(detectors, fan):
    system = detectors["texture"].system
    path = sorted((fan / "train").glob("*.wav"))[0]
    frames = detectors["texture"].frames(path)
    score = system.score([frames] * 5, "00")
    assert len(score.timeline.value) == 50  # a value for every second
    assert score.timeline.duration == pytest.approx(1.0, abs=0.05)
    assert score.value == pytest.approx(float(np.mean(score.timeline.value)), rel=1e-5)


def test_hand_made_views_judge_without_torch_or_scikit_learn(models, fan):
    """What the base install brings is enough to score with a model of system texture."""
    code = (
        "import sys\n"
        "for name in ('torch', 'sklearn', 'scipy', 'matplotlib'):\n"
        "    sys.modules[name] = None\n"
        "from ssdpt.cli import main\n"
        "main()\n"
    )
    clip = sorted((fan / "source_test").glob("*.wav"))[0]
    command = [sys.executable, "-c", code, "score", str(models["texture"]), str(clip)]
    process = subprocess.run([*command, "--format", "jsonl"], capture_output=True, text=True)
    assert process.returncode in {0, 1}, process.stderr
    expected = Detector.load(models["texture"]).score(clip).value
    assert json.loads(process.stdout)["value"] == pytest.approx(expected, rel=1e-6)
