"""What experiments of one's own use: embeddings, own losses, fleets in memory, submissions."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import ssdpt
from ssdpt import Detector, Fleet, load_config, read_layout, register_system, write_submission
from ssdpt.config import registry
from ssdpt.errors import SsdptError
from ssdpt.systems import system_class, system_names
from ssdpt.systems.ssdpt.objective import SsdptObjective
from ssdpt.systems.ssdpt.system import Ssdpt

GOLDEN = Path(__file__).parent / "golden" / "formats" / "5"


@pytest.fixture(scope="module")
def fan_model(fan):
    return Detector.fit(fan, config=load_config("tiny", {"system": "gmm"}))


@pytest.fixture
def forget():
    """Systems that a test registers are gone after it."""
    from ssdpt import systems

    yield
    for name in systems._registered:
        registry._registered.pop(name, None)
    systems._registered.clear()
    registry.forget_systems()


def test_every_public_name_has_a_docstring():
    for name in ssdpt.__all__:
        assert getattr(ssdpt, name).__doc__ or name == "__version__"


def test_embeddings_are_what_clips_are_compared_by(fan):
    detector = Detector.load(GOLDEN / "texture")
    clip = next((fan / "source_test").glob("*normal*"))
    embeddings = detector.embeddings(clip, section=detector.sections[0])
    model = detector.system.section_models[detector.sections[0]]
    assert list(embeddings) == list(model.views)
    for name, rows in embeddings.items():
        view = model.views[name]
        assert rows.dtype == np.float32
        assert rows.shape[1] == len(view.matrix)
        assert len(rows) == (1 if view.averaged or name == "rhythm" else 10)
        # The part of the score is made of nothing else.
        value = view.bank.z_scores([rows.astype(np.float64)])[0]
        score = detector.score(clip, section=detector.sections[0])
        assert value == pytest.approx(score.parts[name], rel=1e-3, abs=1e-3)


def test_a_system_without_embeddings_says_which_have_them(fan, fan_model):
    with pytest.raises(SsdptError, match=r"gmm does not compare clips by embeddings; .*texture"):
        fan_model.embeddings(next((fan / "source_test").glob("*.wav")))


class Sharp(SsdptObjective):
    """Cross-entropy of the mixed class, squared: hard segments count more."""

    def classification_loss(self, logits, labels, share, partner):
        return super().classification_loss(logits, labels, share, partner).square()


def test_an_own_loss_is_what_the_network_is_trained_with(fan, forget):
    @register_system
    class SharpSsdpt(Ssdpt):
        name = "sharp"
        origin = "a test"
        objective = Sharp

    assert "sharp" in system_names()
    assert system_class("sharp") is SharpSsdpt
    config = load_config("tiny", {"ssdpt.training.epochs": 1})
    plain = Detector.fit(fan, config=config)
    other = Detector.fit(fan, config=load_config("tiny", {**_epochs(1), "system": "sharp"}))
    assert other.system_name == "sharp"
    weights = [next(iter(it.system.network.state_dict().values())) for it in (plain, other)]
    assert not torch.equal(*weights)


def _epochs(count):
    return {"ssdpt.training.epochs": count}


def test_a_changed_cell_replaces_its_system_and_ours_stay(forget):
    def define():
        class Own(Ssdpt):
            name = "own"

        return register_system(Own)

    define()
    second = define()
    assert system_class("own") is second
    registry.forget_systems()
    assert system_class("own") is second
    with pytest.raises(SsdptError, match="another system has this name already"):
        register_system(type("Taken", (Ssdpt,), {"name": "ssdpt"}))
    assert system_class("ssdpt") is Ssdpt


def test_the_fast_kernels_are_not_used_for_a_loss_they_do_not_know(fan, monkeypatch):
    from ssdpt.systems.ssdpt import objective

    monkeypatch.setattr(objective, "can_fuse", lambda network, device: True)
    made = [object.__new__(kind) for kind in (SsdptObjective, Sharp)]
    for item in made:
        item.device = torch.device("cuda")
        item.settings = load_config("tiny").ssdpt
        item.network = None
    assert [item._can_fuse() for item in made] == [True, False]


def test_a_fleet_of_detectors_in_memory(fan_model):
    fleet = Fleet.of(fan_model)
    assert fleet.machines == ("fan",)
    with pytest.raises(SsdptError, match="one detector for each machine; given were fan, fan"):
        Fleet.of(fan_model, fan_model)


@pytest.mark.parametrize("layout", ["dcase2021", "dcase2022"])
def test_a_submission_has_every_test_clip_once(fan, fan_model, tmp_path, layout):
    dataset = read_layout(fan)
    hidden = [replace(item, label="") for item in dataset.recordings]  # as in the challenge
    dataset = replace(dataset, recordings=tuple(hidden), layout=layout)
    paths = write_submission(Fleet.of(fan_model), dataset, tmp_path)
    domains = ("source_test", "target_test") if layout == "dcase2021" else ("test",)
    names = {
        f"{kind}_fan_section_{section}_{domain}.csv"
        for kind in ("anomaly_score", "decision_result")
        for section in ("00", "01", "02")
        for domain in domains
    }
    assert {path.name for path in paths} == names == {path.name for path in tmp_path.iterdir()}
    scores, decisions = {}, {}
    for path in paths:
        kind = scores if path.name.startswith("anomaly") else decisions
        rows = list(csv.reader(path.read_text("utf-8").splitlines()))
        assert not set(kind) & {name for name, _ in rows}
        kind.update(rows)
    tests = [item for item in hidden if item.split == "test"]
    assert set(scores) == set(decisions) == {item.path.name for item in tests}
    for recording in tests[:3]:
        score = fan_model.score(recording)
        assert float(scores[recording.path.name]) == score.value
        assert decisions[recording.path.name] == str(int(score.is_anomalous))


def test_a_submission_without_a_clip_is_refused(fan, fan_model, tmp_path):
    dataset = read_layout(fan)
    training = tuple(item for item in dataset.recordings if item.split == "train")
    with pytest.raises(SsdptError, match="there are no test clips in it"):
        write_submission(Fleet.of(fan_model), replace(dataset, recordings=training), tmp_path)
    gone = replace(
        next(i for i in dataset.recordings if i.split == "test"), path=tmp_path / "x.wav"
    )
    with pytest.raises(SsdptError, match=r"x\.wav"):
        write_submission(Fleet.of(fan_model), replace(dataset, recordings=(gone,)), tmp_path)


def test_results_show_themselves_in_a_notebook(fan, fan_model, tmp_path):
    dataset = read_layout(fan)
    fleet = Fleet.of(fan_model)
    evaluation = ssdpt.evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert evaluation.headline.split(".")[0] in evaluation._repr_html_()
    assert "<th" in evaluation._repr_html_()
    comparison = ssdpt.compare(fleet, fleet, dataset, names=("one", "two"), resamples=50)
    assert "No clear difference" in comparison._repr_html_()
    assert "AUC one" in comparison._repr_html_()
